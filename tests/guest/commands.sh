#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: types the command lines of the documents, as tests/commands.py has taken them (/root/lines:
# FILE:LINE, a tab, the line). All lines of a document are typed in one shell and in a directory of its own, where what
# they name is prepared: the program prog, one named command, recordings. A line is to end with 0, but that of a program
# that crashes; and auxtrace is to say something.
#   commands.sh [systemd]    the lines for a full Debian
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

PATH=$PATH:/perf
tab=$(printf '\t')
mkdir -p /out /var/tmp/commands/prepared
cd /var/tmp/commands/prepared || exit 1

# within SECONDS COMMAND...: succeeds by then
within()
{
	tries=$(($1 * 3))
	shift
	until "$@"; do
		[ "$tries" -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.3
	done
}

# a_process: starts one that runs for some seconds, and prints its PID
a_process()
{
	prog > /dev/null 2>&1 &
	echo $!
}

# Who reads and writes the FIFOs of a recorder that runs in the foreground
controls()
{
	rm -f ctl ack
	mkfifo ctl ack
	(echo snapshot > ctl; read -r _ < ack; echo stop > ctl; read -r _ < ack) &
}

# Connections to a machine that is not there: their first segments are sent again, each after a second. It goes on as long
# as a recorder may need to begin.
retransmits()
{
	ip route add 192.0.2.0/24 dev lo
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo "try $try"
		nc -w 3 192.0.2.2 9
	done > /dev/null 2>&1 &
}

recorder_starts()
{
	systemctl start auxtrace-recorder@NAME
	within 60 test -S /run/auxtrace/NAME/control
}

# prepare LINE: what it needs, beside what is there always
prepare()
{
	case $1 in
	*fifo:ctl,ack*'&') ;;
	*fifo:ctl,ack*) controls ;;
	*'make clean'*)
		touch made
		printf 'clean:\n\trm made\n' > Makefile ;;
	*tcp_retransmit_skb*) retransmits ;;
	'systemctl enable'*) systemctl stop 'auxtrace-recorder@*' ;;
	journalctl* | *'| socat '*) recorder_starts ;;
	esac
}

# types LINE: in this shell, so that it finds what the lines before have left
types()
{
	# By SIGILL
	wanted=0
	case $1 in *' prog --crash') wanted=132 ;; esac
	prepare "$1"
	eval "$1" < /dev/null
	status=$?
	[ "$status" -eq "$wanted" ] || { echo "exit status $status, expected $wanted"; return 1; }
	case $1 in
	# jq selects what is missing here: nothing
	auxtrace*'&' | *'| jq '*) ;;
	auxtrace*) [ -s /tmp/out ] || { echo "it says nothing"; return 1; } ;;
	esac
}

# A line shows what CPU 0 ran.
recordings()
{
	auxtrace record -o ls.trace ls / &&
		auxtrace record --source bts -u -o ls.bts taskset 1 ls / &&
		auxtrace record --overwrite -m 64K -o slow.trace \
			--on 'latency:uprobe:/usr/bin/prog:serve..uretprobe:/usr/bin/prog:serve>20ms=freeze' prog
}

# That programs map the libraries where Debian has them, and the documents name them
usr_is_merged()
{
	mkdir -p /usr/lib
	mv /lib/x86_64-linux-gnu /usr/lib/
	ln -s /usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu
}

if [ "${1-}" = systemd ]; then
	check "the system is up" test "$(systemctl is-system-running --wait)" = running
	# The service loads the module by its name.
	mkdir -p "/lib/modules/$(uname -r)/updates" /etc/auxtrace
	cp /modules/auxtrace.ko "/lib/modules/$(uname -r)/updates/"
	depmod
	systemctl daemon-reload
	echo 'OPTIONS=--size 1M' > /etc/auxtrace/NAME.conf
else
	[ -L /lib/x86_64-linux-gnu ] || check "libraries are where Debian has them" usr_is_merged
	# By its path it is not busybox's own rm, which makes another system call than that of the examples.
	printf '#!/bin/sh\ntouch /tmp/file\n/bin/rm /tmp/file\necho done\n' > /bin/command
	chmod 755 /bin/command
	PATH=$PATH:/usr/bin
	check "recordings are made" recordings
fi

document='' typed=0
while IFS=$tab read -r where line <&9; do
	if [ "${where%:*}" != "$document" ]; then
		document=${where%:*}
		wait
		directory=/var/tmp/commands/$(echo "$document" | tr / _)
		cp -a /var/tmp/commands/prepared "$directory"
		cd "$directory" || exit 1
		ln -s /usr/bin/prog prog
	fi
	check "$where: $line" types "$line"
	typed=$((typed + 1))
	{ echo "# $line"; head -c 4000 /tmp/out; } > "/out/$(printf %03d "$typed")"
done 9< /root/lines
[ "${1-}" != systemd ] || systemctl stop 'auxtrace-recorder@*'
check "all of the $typed lines were typed" test "$typed" -eq "$(wc -l < /root/lines)"
exit "$failed"
