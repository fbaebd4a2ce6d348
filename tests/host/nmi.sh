#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What may run in an NMI is closed to kprobes and ftrace, in the module as built for each
# kernel: nmi-safe. Then nmi-safe must find what is taken away from copies of the module.
#   nmi.sh [SERIES]...
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$(dirname "$here")")
[ $# -gt 0 ] || set -- 6.1
"$top/scripts/need" python3 python3-pyelftools

for series in "$@"; do
	echo "$series:"
	"$here/nmi-safe" "$(dirname "$("$top/scripts/build-module" "$series")")"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# finds PATTERN FILE SED-SCRIPT: in a copy of the module whose FILE is changed.
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
		echo "FAILED: nmi-safe says something else of $3 in module/$2:"
		cat "$work/said"
		exit 1
	}
	echo "found: $(grep -m1 -E "$1" "$work/said")"
}

finds 'pt_stop\(\) is in a folder .* has no NOKPROBE_SYMBOL' \
	hw/pt.c '/NOKPROBE_SYMBOL(pt_stop);/d'
finds 'hw/pt.o: .* ftrace may trace it' Kbuild 's/\$(eval CFLAGS_REMOVE_/$(eval UNUSED_/'
finds 'device.o: auxt_device_exit\(\) is called by pt_stop\(\), and has no' hw/pt.c \
	's/^static u32 pt_stop(.*/void auxt_device_exit(void);\n&/; s/ch->off_tsc = rdtsc();/&\n\tauxt_device_exit();/'
