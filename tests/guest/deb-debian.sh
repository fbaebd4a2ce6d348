#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs as root in a minimal Debian with the packages in /root/auxtrace/build/deb, a mirror of what they
# depend on in /srv/mirror, and the README's lines in /root/readme-install and /root/readme-lines
# (tests/host/deb-debian.sh).
# It runs twice: it reboots the machine, and payload-init.sh starts it again.
# check calls the functions; single quotes are for other shells.
# shellcheck disable=SC2016,SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh
# shellcheck source=tests/guest/lib/purged.sh
. /bin/purged.sh
# shellcheck source=tests/guest/lib/use-mirror.sh
. /bin/use-mirror.sh

state=/var/lib/auxtrace/test
control=/run/auxtrace/test/control
service=auxtrace-recorder@test
mkdir -p /out
cd /out || exit 1

not()
{
	! "$@"
}

# within SECONDS COMMAND...: succeeds by then
within()
{
	until=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.3
	done
}

answers()
{
	python3 /bin/ask.py "$control" "$@"
}

# The directory of the start that goes on
run()
{
	find "$state" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1
}

snapshots()
{
	find "$(run)" -maxdepth 2 -path '*/snapshot.*/meta' | sort
}

more_snapshots_than()
{
	[ "$(snapshots | wc -l)" -gt "$1" ]
}

# newer_than SNAPSHOT: there is one with a higher number.
newer_than()
{
	[ "$(snapshots | tail -n 1)" != "$1" ]
}

# bytes DIRECTORY: with the kernel's code, which its snapshots share
bytes()
{
	du -s --block-size=1 "$1" | cut -f 1
}

# What freezes: a system call that nothing else in the system makes. There is no such area to swap to.
event()
{
	swapoff /dev/null 2> /dev/null
	true
}

# snapshot: by a freeze. The trigger holds off for a second after each.
snapshot()
{
	last=$(snapshots | tail -n 1)
	sleep 1.2
	event
	within 120 newer_than "$last" || { echo "no snapshot after $last"; return 1; }
}

# keeps_its_bound BYTES: of this start's recording, by snapshots of which two are known to fit
keeps_its_bound()
{
	for _ in 1 2 3 4 5 6 7 8; do
		snapshot || return
	done
	# It answers when it has written the last one.
	within 60 answers ping || return
	snapshots
	echo "$(bytes "$(run)") bytes, expected at most $1"
	[ "$(bytes "$(run)")" -le "$1" ] && not test -e "$(run)/snapshot.0001" && [ -n "$(snapshots)" ]
}

# user COMMAND...: as a user in the group auxtrace
user()
{
	runuser -u somebody -- "$@"
}

ends_with()
{
	want=$1
	shift
	"$@"
	[ $? -eq "$want" ]
}

finish()
{
	[ "$failed" -eq 0 ] && [ "$(cat /root/failed-before)" = 0 ]
	exit
}

after_reboot()
{
	check "after the reboot the system runs, without a service that failed" \
		test "$(systemctl is-system-running --wait)" = running
	check "the recorder was started with it" systemctl is-active "$service"
	check "it has loaded the module" grep -q '^auxtrace ' /proc/modules
	check "its control socket answers" within 60 answers ping
	check "its drop-in is there" test -e "/etc/systemd/system/$service.service.d/override.conf"
	check "it has a directory of its own, beside those of before" test "$(find "$state" -mindepth 1 -maxdepth 1 | wc -l)" -ge 2
	# Of the boot nothing is left in the areas then: services that end take the code of their BPF programs with them.
	for cpu in 0 1; do
		taskset -c "$cpu" find /usr -xdev -ls > /dev/null
	done
	last=$(snapshots | tail -n 1)
	event
	check "a freeze makes a snapshot" within 120 newer_than "$last"
	check "it decodes" decodes "$(dirname "$(snapshots | tail -n 1)")"

	# While the recorder runs
	check_purge
	check "the recorder was stopped" not systemctl --quiet is-active "$service"
	check "its drop-in is gone" test ! -e "/etc/systemd/system/$service.service.d"
	check "so is its directory in /run" test ! -e /run/auxtrace
	check "systemd has no unit of it left" test -z "$(systemctl list-units --all --plain --no-legend 'auxtrace*')"
	check_unload
	check "the system has no service that failed" test "$(systemctl is-system-running)" = running
	finish
}

[ ! -e /root/failed-before ] || after_reboot

# ---- installation -------------------------------------------------------------

check "the system is up, without a service that failed" test "$(systemctl is-system-running --wait)" = running
check "page tables are isolated" grep -qx 'Mitigation: PTI' /sys/devices/system/cpu/vulnerabilities/meltdown
check "nothing of auxtrace is here" test -z "$(ours)"
check "nor what DKMS builds with, nor Python" test -z "$(command -v gcc make dkms python3)"
use_mirror
check "the kernel's headers are installed" apt-get install -y "linux-headers-$(uname -r)" socat
sed 's/^/    README: /' /root/readme-install
check "the README's lines install the packages" \
	sh -c 'cd /root/auxtrace && yes | sh -e /root/readme-install'
version=$(dpkg-query -W -f '${Version}' auxtrace-dkms)
check "DKMS has built the module for the running kernel" says "auxtrace/$version, $(uname -r | sed 's/[.+]/\\&/g'), x86_64: installed" dkms status

# ---- the README's first page ----------------------------------------------------

# Each as a person types it, in a directory of its own. An answer is more than the command's own words.
mkdir -p /root/page
typed=0
while IFS= read -r line; do
	# `last` ends as its command does.
	status=0
	[ "${line%SEGV*}" = "$line" ] || status=139
	check "typed: $line" ends_with "$status" sh -c 'cd /root/page && exec bash -c "$1" < /dev/null' sh "$line"
	typed=$((typed + 1))
	cp /tmp/out "/out/typed.$typed"
done < /root/readme-lines
check "all of these were typed" test "$typed" -eq 9
# One in 500 kernels is where it was linked to. Without KASLR the first module is at the start of their area, with it never.
randomized()
{
	grep -w _text /proc/kallsyms
	grep auxtrace /proc/modules
	! grep -qw 'ffffffff81000000 . _text' /proc/kallsyms || ! grep -q 0xffffffffc0000000 /proc/modules
}
check "the kernel's addresses are random" randomized
check "record has made a recording that decodes" decodes /root/page/r
check "script's lines have durations of calls" grep -qE '[0-9.]+[mun]?s +[uk] +[a-z_]' /out/typed.5
check "last shows what was called before the signal" grep -qE ' [uk] +[a-z_]*kill' /out/typed.7
check "around shows how the file was removed" grep -q 'unlinkat' /out/typed.9
check "and it is gone" test ! -e /root/page/old
rm -r /root/page
udevadm settle
check "udev gives the device to the group" test "$(stat -c '%U %G %a' /dev/auxtrace)" = "root auxtrace 660"
check "by a rule that comes with the module" says '^auxtrace-dkms:' dpkg -S rules.d/60-auxtrace.rules

# ---- the command --------------------------------------------------------------

check "info finds nothing missing" auxtrace info
cp /tmp/out info
check "a program is recorded" auxtrace record -o r -- ls /
check "all of its trace" adds_up r
check "it decodes" decodes r
check "with functions of a library" has ' u .*\(libc.so.6\)'
check "report says where the time went" says ' self .* function' auxtrace report --limit 0 r
check "in the kernel's functions, too" grep -qE 'entry_SYSCALL_64|do_syscall_64' /tmp/said

# ---- a user in the group --------------------------------------------------------

useradd -m somebody
check "a user becomes a member" usermod -a -G auxtrace somebody
useradd -m nobody-else
cd /home/somebody || exit 1
check "who is not in the group cannot open the device" says 'no permission to open /dev/auxtrace' \
	runuser -u nobody-else -- auxtrace info
check "who is in it may, and hears what else is needed" says '/sys/module/auxtrace/parameters/unprivileged' user auxtrace info
check "until then nothing is recorded" not user auxtrace record -o u -- true
rm -rf u
echo 'options auxtrace unprivileged=4' > /etc/modprobe.d/local.conf
modprobe -r auxtrace
check "the administrator allows it" modprobe auxtrace
udevadm settle
check "then a user records own code" user auxtrace record -o u -- ls /
check "it decodes" decodes u
check "without an address of the kernel" has_not 'ffff[0-9a-f]{12}'
check "but not root's process" not user auxtrace record -o root -p 1 --duration 0.1
cd /out || exit 1

# ---- at boot --------------------------------------------------------------------

loads()
{
	modprobe -r auxtrace && cp /usr/share/doc/auxtrace/examples/modules-load.conf /etc/modules-load.d/auxtrace.conf &&
		/lib/systemd/systemd-modules-load && grep '^auxtrace ' /proc/modules
}
check "the example for /etc/modules-load.d loads the module" loads
rm /etc/modules-load.d/auxtrace.conf

# ---- the service ----------------------------------------------------------------

limited()
{
	systemctl show -p MemoryMax -p TasksMax -p OOMPolicy "$service" | sort > /tmp/limits
	cat /tmp/limits
	grep -qx 'OOMPolicy=stop' /tmp/limits && grep -qx 'TasksMax=1024' /tmp/limits && grep -qxE 'MemoryMax=[0-9]+' /tmp/limits
}

cat > /etc/auxtrace/test.conf <<C
OPTIONS=--size 1M --on kprobe:__x64_sys_swapoff=freeze,hold-off=1s
DISK=2G
C
check "the service starts" systemctl start "$service"
check "systemd limits what it takes" limited
check "its control socket answers" within 60 answers ping
check "as the manual page says, too" sh -c "echo ping | socat -t 60 - UNIX-CONNECT:$control | grep -qx ack"
check "there is no snapshot yet" not more_snapshots_than 0
event
check "a freeze makes a snapshot" within 120 more_snapshots_than 0
first=$(dirname "$(snapshots | head -n 1)")
check "perf reported processes, threads and code to it" test -s "$first/cpu0.side" -a -s "$first/cpu1.side"
check "it decodes" decodes "$first"
grep -q 'decode errors: 0' /tmp/summary || cp -r "$first" "/out/${first##*/}.errors"
check "with the system call that froze it" has ' k +__x64_sys_swapoff'
check "the journal says where it is" says "$first" journalctl --no-pager -u "$service"
check "and which event it was" grep 'frozen by trigger 1, kprobe:__x64_sys_swapoff=freeze' /tmp/said
check "its recordings are root's alone" test "$(stat -c '%U %a' "$state")" = "root 700"
check "so is its directory in /run" test "$(stat -c '%U %a' "${control%/*}")" = "root 700"
check "and the control socket in it" test "$(stat -c '%U %a' "$control")" = "root 600"
one=$(bytes "$(run)")
check "so does a second freeze" snapshot
within 60 answers ping > /dev/null
two=$(bytes "$(run)")
last=$(run)
check "it is stopped" systemctl stop "$service"
check "with success" test "$(systemctl show -p Result --value "$service")" = success
check "its recording is complete" test -s "$last/meta"
check "and decodes" decodes "$last"
check "the socket is gone" test ! -e "$control"

# An upgrade while the service runs, from a version with another unit.
upgrade()
{
	echo '# an earlier version' >> /lib/systemd/system/auxtrace-recorder@.service
	systemctl daemon-reload
	systemctl start "$service" && apt-get install -y --reinstall /root/auxtrace/build/deb/*/auxtrace_*.deb
}
check "the package is installed again while it runs" upgrade
check "it runs on" systemctl is-active "$service"
check "systemd has read the new unit" test "$(systemctl show -p NeedDaemonReload --value "$service")" = no
systemctl stop "$service"
# Half of DISK is for one start: room for three snapshots or so.
sed -i "s/^DISK=.*/DISK=$((2 * (two + (two - one))))/" /etc/auxtrace/test.conf
# With the drop-in of auxtrace-recorder(8), LIMITS. systemctl edit asks for a terminal, which script(1) is, and for an editor,
# which gets the file's name last.
drop_in=/etc/systemd/system/$service.service.d/override.conf
printf '%s\n' '#!/bin/sh' 'for file; do :; done' 'printf "[Service]\nMemoryMax=50%%\n" > "$file"' > /root/editor
chmod 755 /root/editor
edit()
{
	SYSTEMD_EDITOR=/root/editor script -qec "systemctl edit $service" /dev/null < /dev/null &&
		says "$drop_in" systemctl show -p DropInPaths --value "$service" && grep -qx 'MemoryMax=50%' "$drop_in"
}
check "a drop-in changes its limits" edit
check "it is enabled" systemctl enable --now "$service"
check "and answers" within 60 answers ping
check "what a start's snapshots take is bounded" keeps_its_bound $((two + (two - one)))
sed 's/^/    | /' /tmp/out

echo "$failed" > /root/failed-before
echo "    the machine reboots"
sync
systemctl reboot
# systemd ends this script.
sleep 600
echo "FAILED: the reboot did not come"
exit 1
