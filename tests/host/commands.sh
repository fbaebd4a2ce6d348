#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command lines of README, docs/ and the man pages, typed in a guest as they stand there: tests/commands.py takes them
# from the documents, tests/guest/commands.sh types them.
#   commands.sh [--work DIR] [--only TEXT] [SERIES | systemd]
# --only: those of documents whose name has that text
# systemd: the lines that need it, in a full Debian
set -euo pipefail

me='commands'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
only=''
options "work only" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
work_directory
if [ "${operands[0]-}" = systemd ]; then
	packages python3 socat
	system 12
	make -s --no-print-directory -C "$top/system" install DESTDIR="$work/system" PREFIX=/usr >&2
	arguments=(systemd)
	machine=(--smp 2 --mem 2G --timeout 1800 --file "$work/system/usr:/usr" --file "$(command -v socat)")
else
	packages coreutils cpuid jq make python3
	system "" "${operands[@]}"
	perf=$("$top/tests/oracle/perf" "${series%%-*}")
	arguments=()
	# CPU 3 is the last that a line names.
	machine=(--smp 4 --icount 4 --mem 3G --timeout 3600 --stock-module ext4
		--file "$build/tests-guest/prog:/usr/bin/prog" --file "$perf:/perf")
	for program in cpuid jq make rm; do
		machine+=(--file "$(command -v "$program"):/bin/$program")
	done
fi
"$top/tests/commands.py" "${arguments[0]:-typed}" | grep -e "^[^:]*${only}[^:]*:" > "$work/lines"
mapfile -t files < <(guest_script commands.sh)
"$top/scripts/vm" "${system[@]}" "${machine[@]}" --work "$work/vm" --out "$work/out" "${files[@]}" \
	--file "$work/lines:/root/lines" -- "$shell" /bin/commands.sh "${arguments[@]}"
