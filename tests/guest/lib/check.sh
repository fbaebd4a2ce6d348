# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the guest scripts that check the auxtrace command share; to be sourced by busybox's
# shell. $failed is the exit status of such a script.
# shellcheck disable=SC2034,SC3045

failed=0

# Trace is a multiple of so many bytes.
granule=1

# check TEXT COMMAND...: prints TEXT, and whether COMMAND succeeded.
check()
{
	text=$1
	shift
	if "$@" > /tmp/out 2>&1; then
		echo "ok: $text"
	else
		echo "FAILED: $text"
		sed 's/^/  | /' /tmp/out | tail -n 60
		failed=1
	fi
}

# says PATTERN COMMAND...: its output, which is left in /tmp/said, matches.
says()
{
	pattern=$1
	shift
	"$@" > /tmp/said 2>&1
	cat /tmp/said
	grep -qE "$pattern" /tmp/said
}

# decodes ARGUMENT...: auxtrace script finds no error; its output is left in /tmp/script.
decodes()
{
	auxtrace script "$@" > /tmp/script 2> /tmp/summary
	result=$?
	cat /tmp/summary
	grep -q 'decode errors: 0' /tmp/summary && [ "$result" -eq 0 ]
}

# has, has_not PATTERN: in that output.
has()
{
	# The first is enough: the emulator is long at a pattern for each line of a trace.
	grep -E -m 1 "$1" /tmp/script
}

has_not()
{
	! grep -E "$1" /tmp/script
}

# windows NUMBER: so many are in that output.
windows()
{
	n=$(grep -c '^ *[0-9]* window' /tmp/script)
	echo "$n windows, expected $1"
	[ "$n" -eq "$1" ]
}

# links_work README: those to docs/ lead to files beside it
links_work()
{
	links=$(grep -o '](docs/[^)#]*' "$1" | sed 's/^](//' | sort -u)
	echo "$links"
	[ "$(echo "$links" | wc -l)" -ge 5 ] || return 1
	for link in $links; do
		[ -f "$(dirname "$1")/$link" ] || { echo "there is no $link"; return 1; }
	done
}

record()
{
	auxtrace record -o "$@"
}

# refused PATTERN OPTION...: record refuses the options with a message that matches.
refused()
{
	pattern=$1
	shift
	record refused "$@" -- true > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	[ "$got" -ne 0 ] && grep -qE "$pattern" /tmp/said
}

# account RECORDING WORD: the sum of a value over the CPUs' lines in meta.
account()
{
	sed -n "s/^cpu .*\b$2 \([0-9]*\).*/\1/p" "$1/meta" | { n=0; while read -r v; do n=$((n + v)); done; echo "$n"; }
}

adds_up()
{
	produced=$(account "$1" produced) read=$(account "$1" read) over=$(account "$1" overwritten)
	echo "produced $produced, read $read, overwritten $over, gaps $(account "$1" gaps)"
	[ "$produced" -gt 0 ] && [ "$produced" -eq $((read + over)) ] && [ $((produced % granule)) -eq 0 ]
}

# trigger RECORDING hits|acted|... ID: a count of a trigger's line in meta.
trigger()
{
	sed -n "s/^trigger $3 .*\b$2 \([0-9]*\).*/\1/p" "$1/meta"
}

# acted RECORDING ID NUMBER
acted()
{
	n=$(trigger "$1" acted "$2")
	echo "trigger $2 of $1 acted $n times, expected $3"
	[ "$n" -eq "$3" ]
}

# ask COMMAND: sends it through the FIFO at descriptor 3, prints the answer from descriptor 4.
ask()
{
	echo "$1" >&3
	while read -r -t 300 answer <&4; do
		echo "$answer"
		case $answer in ack | error:*) return ;; esac
	done
	echo "no answer to $1"
	return 1
}

# Holds the hardware until let_go. The recorder answers ping from its START on. Polling
# auxtrace info instead would claim the hardware for a moment, and could make START fail.
hold()
{
	mkfifo ctl ack
	exec 3<> ctl 4<> ack
	record held --control fifo:ctl,ack --duration 600 --overwrite -m 64K > /dev/null 2>&1 &
	holder=$!
	ask ping > /dev/null
}

let_go()
{
	ask stop > /dev/null
	wait "$holder"
	exec 3>&- 4>&-
}

# A command for a flight recorder that newuname freezes, with --ptrace: then it stops at its
# forks, so after a snapshot's meta exists the command only goes on once the recorder has
# resumed.
# shellcheck disable=SC2016 # the command's shell expands n
freezing='for n in 1 2; do
	uname -r
	until [ -e /out/flight/snapshot.000$n/meta ]; do sleep 0.01; done
	sleep 1
done
uname -r'

# record_uname RECORD RECORDING: the kernel's flow of uname's system call. An interrupt may
# come at any time: the first of up to four recordings without one is kept.
record_uname()
{
	for try in 1 2 3 4; do
		rm -rf "$2"
		"$1" "$2" -k -C 0 --start-paused --on 'syscall:newuname:enter=resume,pid=command' \
			--on 'syscall:newuname:exit=pause,pid=command' -- uname -r || return 1
		auxtrace script "$2" 2> /dev/null | grep -q '<interrupt>' || return 0
		echo "recording $try has an interrupt"
	done
}

# The example of the patch series that added aux-action to perf, as the recording "seed".
seed_example()
{
	check "kernel flow of one system call" record_uname record seed
	cp /tmp/out /tmp/seed
	check "uname itself was not disturbed" grep -q "^$(uname -r)$" /tmp/seed
	calls=$(trigger seed hits 1)
	check "uname asked the kernel at least once" test "${calls:-0}" -ge 1
	check "each entry resumed" acted seed 1 "$calls"
	check "each exit paused" acted seed 2 "$calls"
	check "script decodes it" decodes seed
	check "a window for each call" windows "$calls"
	check "each from the entry's trigger to the exit's" windows \
		"$(grep -c 'window.*<trigger 1, syscall:newuname:enter=.* to trigger 2, syscall:newuname:exit=.*whole>' /tmp/script)"
	check "the system call's function is there" has 'k +(__do_sys|__se_sys|__x64_sys)_newuname'
	check "and no user code" has_not '^ *[0-9]+ +[0-9.-]+ u '
	check "and no other system call" test -z \
		"$(grep -oE '__(x64|se|do)_sys_[a-z0-9_]+' /tmp/script | grep -v '_newuname$')"
	check "and no interrupt" has_not '<interrupt>'
	check "and no switch to another task" has_not '__schedule|schedule$'
}
