#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What becomes of the recorder service's recordings: which of earlier starts system/recorder removes, and
# how it calls auxtrace, for which a script stands here that prints its arguments; and what systemd-tmpfiles
# removes by system/auxtrace.tmpfiles.
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

# ---- system/auxtrace.tmpfiles -----------------------------------------------------

scripts/need faketime || { echo "recordings: cannot run: faketime is missing"; exit 77; }
command -v systemd-tmpfiles > /dev/null || scripts/need systemd-standalone-tmpfiles ||
	{ echo "recordings: cannot run: systemd-tmpfiles is missing"; exit 77; }

root=$work/root
all=$root/var/lib/auxtrace/test
mkdir -p "$root/etc"
echo 'root:x:0:0::/:/bin/sh' > "$root/etc/passwd"
echo 'root:x:0:' > "$root/etc/group"
for run in a b; do
	mkdir -p "$all/$run/snapshot.0001"
	touch "$all/$run/meta" "$all/$run/snapshot.0001/meta"
done

# clean DAYS: as the recorder of b runs, DAYS from now
clean()
{
	(
		exec 9< "$all/b"
		flock --shared 9
		NO_FAKE_STAT=1 faketime -f "+${1}d" systemd-tmpfiles --clean --root="$root" "$PWD/system/auxtrace.tmpfiles"
	)
	(cd "$all" && find . -type f | sort | tr '\n' ' ') > "$work/files"
}

# files WHAT NAME...
files()
{
	local what=$1
	shift
	if [ "$(cat "$work/files")" != "$* " ]; then
		echo "recordings: FAILED: $what: '$(cat "$work/files")' is left, not '$*'" >&2
		exit 1
	fi
	echo "ok: $what"
}

clean 29
files "what nobody has used for 29 days stays" ./a/meta ./a/snapshot.0001/meta ./b/meta ./b/snapshot.0001/meta
clean 31
files "after 31 days all goes but the running recorder's own files" ./b/meta
mv "$all"/? "$work/state/"
starts 100M
left "the directories go at the next start" b
