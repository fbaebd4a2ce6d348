#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Recordings that are controlled from outside, in a guest with a stock kernel:
# tests/guest/recorder.sh.
#   recorder.sh [SERIES [OPTION of scripts/vm]...]
set -euo pipefail

me=recorder
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kernel=${1:-6.1}
[ $# -eq 0 ] || shift
packages python3
vm_prepare "$kernel"
mapfile -t files < <(guest_script recorder.sh)

# Debian's Python, and the modules of its library that the two programs import.
python=$(readlink -f /usr/bin/python3)
files+=(--file "$python:/bin/python3")
imports=$(sed -n '/^import /p' "$top/examples/control.py" "$top/tests/guest/ask.py")
while read -r file; do
	files+=(--file "$file:$file")
done < <("$python" -ISc "$imports
print(*{m.__file__ for m in sys.modules.values() if hasattr(m, '__file__')}, sep='\n')")

exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --timeout 1000 --disk 256M --stock-module ext4 "$@" \
	--file "$top/examples/control.py" --file "$top/tests/guest/ask.py" "${files[@]}" -- recorder.sh
