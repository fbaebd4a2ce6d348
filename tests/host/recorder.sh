#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Recordings that are driven from outside, in a guest with a stock kernel:
# recorder.sh of tests/guest.
#   recorder.sh [KERNEL [OPTION OF scripts/vm]...]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
kernel=${1:-6.1}
[ $# -eq 0 ] || shift
make -s -C "$top" all >&2
"$top/scripts/need" python3 >&2

# Debian's Python, and of its library what the two programs import.
python=$(readlink -f /usr/bin/python3)
files=(--file "$python:/bin/python3")
imports=$(sed -n '/^import /p' "$top/examples/control.py" "$top/tests/guest/ask.py")
while read -r file; do
	files+=(--file "$file:$file")
done < <("$python" -ISc "$imports
print(*{m.__file__ for m in sys.modules.values() if hasattr(m, '__file__')}, sep='\n')")

exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --timeout 1000 --disk 256M --stock-module ext4 "$@" \
	--module "$("$top/scripts/build-module" "$kernel")" --file "$top/build/tools/auxtrace" \
	--file "$top/examples/control.py" --file "$top/tests/guest/ask.py" "${files[@]}" \
	--file "$top/tests/guest/lib/check.sh" --file "$top/tests/guest/recorder.sh" -- recorder.sh
