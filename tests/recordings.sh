#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# system/recorder at a start of the recorder service: which recordings of earlier starts it removes, and
# how it calls auxtrace, for which a script stands here that prints its arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/state"
printf '#!/bin/sh\necho "$@"\n' > "$work/bin/auxtrace"
chmod +x "$work/bin/auxtrace"

# made NAME MIB: a recording of an earlier start
made()
{
	mkdir "$work/state/$1"
	[ "$2" = 0 ] || head -c "$2M" /dev/zero > "$work/state/$1/cpu0.aux"
}

# starts SIZE [OPTION...]: with DISK=SIZE
starts()
{
	local disk=$1
	shift
	STATE_DIRECTORY=$work/state RUNTIME_DIRECTORY=/run/x DISK=$disk PATH=$work/bin:$PATH \
		system/recorder "$@" > "$work/said" 2>&1
}

# left WHAT NAME...: these earlier recordings are left, and a new directory
left()
{
	local what=$1 is
	shift
	is=$(cd "$work/state" && echo ?)
	if [ "$is" != "$*" ] || [ "$(find "$work/state" -mindepth 1 -maxdepth 1 -name '20*' | wc -l)" != 1 ]; then
		echo "recordings: FAILED: $what: '$is' is left, not '$*'; said:" >&2
		cat "$work/said" >&2
		exit 1
	fi
	echo "ok: $what"
	rm -rf "$work"/state/*
}

made a 3; made b 0; made c 3; made d 3
starts 100M --size 4M --on x
grep -qx -- "record --snapshot --control /run/x/control --output $work/state/20[^ ]* --disk 52428800 --size 4M --on x" "$work/said"
left "recordings that fit stay, and what a start without success left goes" a c d

made a 3; made b 3; made c 3; made d 3
starts 14M
left "the oldest go until the rest fits in half of DISK" c d

made a 3; made b 5; made c 0
starts 6M
left "the newest stays, whatever it takes" b

made a 1
disk=$(du -sc --block-size=1 "$work"/state/*/ | tail -n 1 | cut -f 1)
made b 1
starts $((4 * disk))
left "recordings may take half of DISK to the byte" a b

starts 2X && { echo "recordings: FAILED: DISK=2X is taken" >&2; exit 1; }
grep -q 2X "$work/said"
echo "ok: a size that is none is refused"
