#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Recordings that are controlled from outside, in a guest with a stock kernel or in a full
# Debian: tests/guest/recorder.sh.
#   recorder.sh [SERIES [OPTION of scripts/vm]...]
#   recorder.sh --distro SUITE
set -euo pipefail

me=recorder
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "distro" "$@"
set -- "${operands[@]}"
system "${distro-}" "${@:1:1}"
[ $# -eq 0 ] || shift
packages python3
mapfile -t files < <(guest_script recorder.sh)

# Debian's Python, and the modules of its library that the two programs import.
if [ -z "${distro-}" ]; then
	python=$(readlink -f /usr/bin/python3)
	files+=(--file "$python:/bin/python3")
	imports=$(sed -n '/^import /p' "$top/examples/control.py" "$top/tests/guest/ask.py")
	while read -r file; do
		files+=(--file "$file:$file")
	done < <("$python" -ISc "$imports
print(*{m.__file__ for m in sys.modules.values() if hasattr(m, '__file__')}, sep='\n')")
fi

exec "$top/scripts/vm" "${system[@]}" --smp 2 --mem 2G --timeout 1000 --disk 256M --stock-module ext4 "$@" \
	--file "$top/examples/control.py" --file "$top/tests/guest/ask.py" \
	--file "$top/system/examples/example.conf" "${files[@]}" -- "$shell" /bin/recorder.sh
