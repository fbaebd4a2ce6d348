#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nmi-safe checks the module as built for each kernel: functions that may run in an NMI are
# closed to kprobes and ftrace, and MSRs are written by a WRMSR that serializes and is not traced.
# Then nmi-safe must find each defect in changed copies of the module.
#   nmi.sh [SERIES]...
set -euo pipefail

me=nmi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/host/lib.sh
. "$here/lib.sh"
[ $# -gt 0 ] || set -- 6.1
"$top/scripts/need" python3 python3-pyelftools

for series in "$@"; do
	echo "$series:"
	"$here/nmi-safe" "$(dirname "$("$top/scripts/build-module" "$series")")"
done

work_directory

# finds PATTERN FILE SED-SCRIPT: nmi-safe reports PATTERN for a module with a changed FILE.
finds()
{
	rm -rf "$work/module"
	cp -r "$top/module" "$work/module"
	sed -i "$3" "$work/module/$2"
	if cmp -s "$top/module/$2" "$work/module/$2"; then
		echo "FAILED: '$3' changes nothing in module/$2"
		exit 1
	fi
	ko=$("$top/scripts/build-module" --source "$work/module" 6.1)
	if "$here/nmi-safe" "$(dirname "$ko")" > "$work/said"; then
		echo "FAILED: nmi-safe misses it: $3 in module/$2"
		exit 1
	fi
	grep -qE "$1" "$work/said" || {
		echo "FAILED: nmi-safe reports something else for $3 in module/$2:"
		cat "$work/said"
		exit 1
	}
	echo "found: $(grep -m1 -E "$1" "$work/said")"
}

finds 'pt_stop\(\) is in a folder .* has no NOKPROBE_SYMBOL' \
	hw/pt.c '/NOKPROBE_SYMBOL(pt_stop);/d'
# shellcheck disable=SC2016 # of make
finds 'hw/pt.o: .* ftrace may trace it' Kbuild 's/\$(eval CFLAGS_REMOVE_/$(eval UNUSED_/'
finds 'device.o: auxt_device_exit\(\) is called by pt_stop\(\), and has no' hw/pt.c \
	's/^static u32 pt_stop(.*/void auxt_device_exit(void);\n&/; s/^\treturn pt_find(ch, 0);/\tauxt_device_exit();\n&/'
finds 'hw/pt.o: .text.* is a WRMSRNS' compat/compat.h 's/"1: wrmsr/"1: .byte 0x0f, 0x01, 0xc6/'
finds 'hw/pt.o refers to do_trace_write_msr' hw/msr.h 's/return auxt_wrmsr(msr, value) ?.*/return native_write_msr_safe(msr, value, value >> 32);/'
