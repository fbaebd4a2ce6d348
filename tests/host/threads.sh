#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does a recording say which thread ran? tests/guest/threads.c has four threads, each of which
# calls a function of its own from one that all call, and goes from CPU to CPU. It is recorded in a guest
# with a stock kernel, or in a full Debian, and judged here by what auxtrace script shows. So is code that
# programs make while they run (tests/guest/jit.c), and that the kernel patches; functions that do not return to their
# callers (tests/guest/unwind.c); processes that have ended before the recorder reads them (tests/guest/brief.c); and BPF
# programs that come and go (tests/guest/bpf.c).
#   threads.sh [--work DIR] [SERIES | --distro SUITE]
set -euo pipefail

me='threads'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "distro work" "$@"
set -- "${operands[@]}"
system "${distro-}" "$@"
work_directory
mapfile -t files < <(guest_script threads.sh)
"$top/scripts/vm" "${system[@]}" --smp 2 --mem 2G --timeout 600 --work "$work/vm" --out "$work/out" "${files[@]}" \
	--file "$build/tests-guest/threads" --file "$build/tests-guest/jit" --file "$build/tests-guest/unwind" \
	--file "$build/tests-guest/brief" --file "$build/tests-guest/bpf" --file "$(command -v setpriv):/bin/full-setpriv" -- "$shell" /bin/threads.sh

symfs=$work/vm/initramfs.root
if [ -n "${distro-}" ]; then
	symfs=$(debian_files "$work")
fi

# decode RECORDING: what script shows of it goes to $work/calls
decode()
{
	"$build/tools/auxtrace" script "$work/out/$1" --symfs "$symfs" > "$work/calls" 2> "$work/summary" ||
		{ cat "$work/summary"; return 1; }
}

# own_lines RECORDING: of each call of a function of one thread: that thread, the name and the
# number of the thread that the line has, and its indentation; to $work/own
own_lines()
{
	decode "$1" || return
	awk '/ u +only_/ {
		match($0, /only_[a-z]+/)
		print substr($0, RSTART + 5, RLENGTH - 5), $3, $4, index($0, "only_") - index($0, " u ")
	}' "$work/calls" > "$work/own"
}

# ids_known RECORDING: the calls of each thread have the thread ID that the thread itself has printed, also that of the
# function which all of them call
ids_known()
{
	own_lines "$1" || return
	awk '
		FNR == NR { id[$1] = $2; next }
		!/ u +(only_[a-z]+|shared) / { next }
		{ split($4, of, "/"); tid = of[2]; calls++ }
		/ u +shared / { in_shared[tid]++; next }
		{
			match($0, /only_[a-z]+/)
			name = substr($0, RSTART + 5, RLENGTH - 5)
			if (id[name] != tid || in_shared[tid]-- != 1) { print "wrong thread:", $0; bad = 1 }
		}
		END { print calls, "calls"; exit bad || calls != 160 }' "$work/out/$1.tids" "$work/calls"
}

# threads_known NUMBER RECORDING: so many calls, each by its thread
threads_known()
{
	own_lines "$2" || return
	awk -v number="$1" '
		$1 != $2 || $3 !~ /^[0-9]+\/[0-9]+$/ { print "wrong thread:", $0; bad = 1 }
		END { print NR, "calls"; exit bad || NR != number }' "$work/own"
}

# threads_not_wrong RECORDING: the same, but there are any number, and of one in eight the thread may be unknown
threads_not_wrong()
{
	own_lines "$1" || return
	awk '
		$2 == "-" && $3 == "-" { unknown++; next }
		$1 != $2 || $3 !~ /^[0-9]+\/[0-9]+$/ { print "wrong thread:", $0; bad = 1 }
		END { print NR, "calls,", unknown + 0, "by unknown threads"; exit bad || !NR || unknown > NR / 8 }' \
		"$work/own"
}

# same_depth RECORDING: those of a process in $work/own are at the same depth. Where threads were
# that ran before the recording is not known
same_depth()
{
	awk '
		FNR == NR { before[$1]; next }
		{ split($3, id, "/") }
		!(id[2] in before) { depth[id[1] ": " $4]++; process[id[1]] }
		END {
			for (d in depth) { depths++; print "process and indentation " d ", calls: " depth[d] }
			for (p in process) processes++
			exit !depths || depths != processes
		}' "$work/out/$1/threads" "$work/own"
}

# one_function_a_thread LEAST RECORDING: no thread calls the function of another one; of so many calls the
# thread is known
one_function_a_thread()
{
	own_lines "$2" || return
	awk -v least="$1" '
		$3 == "-" { unknown++; next }
		{ known++ }
		!($3 in own) { own[$3] = $1 }
		own[$3] != $1 { print "thread", $3, "called the functions of", own[$3], "and", $1; bad = 1 }
		END { print known + 0, "known,", unknown + 0, "unknown"; exit bad || !NR || known < least }' "$work/own"
}

# undone RECORDING: code was patched meanwhile, and is now as it was
undone()
{
	test ! -s "$work/out/$1/kcore.changes"
}

# made RECORDING FUNCTION...: each of these, which were made at run time, is called 10 times
made()
{
	local function calls

	decode "$1" || return
	for function in "${@:2}"; do
		calls=$(grep -c " u  *$function (\[jit\])" "$work/calls")
		echo "$function: $calls calls"
		[ "$calls" -eq 10 ] || return
	done
}

# unwound RECORDING: each call of tests/guest/unwind.c's mark_*, which has one instruction, is where the source has it. What is
# outside of that program's own functions is of no matter: the begin of a thread may be of an unknown one.
unwound()
{
	"$build/tools/auxtrace" export --format folded --weight instructions -o - --symfs "$symfs" "$work/out/$1" 2> "$work/summary" |
		awk '
			/;mark_[a-z]+ [0-9]+$/ {
				count = $NF
				sub(/ [0-9]+$/, "")
				calls[match($0, /;(main|outer_clean);/) ? substr($0, RSTART + 1) : $0] += count
			}
			END { for (stack in calls) print stack, calls[stack] }' | sort > "$work/stacks"
	sort <<-'END' | diff - "$work/stacks"
		main;each_round;faults;mark_fault 5
		main;each_round;faults;touch;handle;mark_handler 5
		main;each_round;jumps;mark_jump 5
		main;each_round;mark_round 5
		main;each_round;signals;syscall;handle;mark_handler 5
		main;each_round;signals;mark_signal 5
		main;mark_exec 1
		outer_clean;clean;mark_clean 5
		outer_clean;inner_clean;clean;mark_clean 5
	END
}

# brief_code RECORDING: all code of tests/guest/brief.c's processes is there
brief_code()
{
	decode "$1" || return
	grep 'decode errors: 0; .* skipped: 0$' "$work/summary" || { cat "$work/summary"; return 1; }
	[ "$(grep -c ' u .* before_exec ' "$work/calls") $(grep -c ' u .* came_and_went ' "$work/calls")" = '30 30' ]
}

# brief_known RECORDING: and each process calls both functions once
brief_known()
{
	brief_code "$1" || return
	awk '
		FNR == NR { lived[$1]; processes++; next }
		match($0, / u +(before_exec|came_and_went) /) {
			split($4, of, "/")
			calls[$0 ~ /before_exec/, of[1]]++
		}
		END {
			for (pid in lived)
				if (calls[1, pid] != 1 || calls[0, pid] != 1) {
					print pid, "calls:", calls[1, pid] + 0, calls[0, pid] + 0
					bad = 1
				}
			print processes, "processes"
			exit bad || processes != 30
		}' "$work/out/$1.pids" "$work/calls"
}

# none_was_read RECORDING: the recorder does not know their page tables
none_was_read()
{
	local pid

	while read -r pid; do
		! grep '^cr3_mask' "$work/out/$1/task.$pid" "$work/out/$1/task.$pid.1" || return
	done < "$work/out/$1.pids"
}

# followed_by HOW RECORDING: it says how the command was followed
followed_by()
{
	grep -x "command $1" "$work/out/$2/followed"
}

# lost_map: that the code of a perf map is lost is said at the end, and to whoever decodes the recording
lost_map()
{
	local said='1 processes that name code by a perf map ended before it could be read'

	grep -x 'perf_maps_lost 1' "$work/out/lost-map/followed" && grep "$said" "$work/out/lost-map.said" || return
	# Where the code is missing is an error.
	decode lost-map
	grep "$said" "$work/summary"
}

# programs NUMBER RECORDING: each of tests/guest/bpf.c's programs, of which none was there at the end, has run so often
programs()
{
	local name calls

	decode "$2" || return
	grep 'decode errors: 0; .* skipped: 0$' "$work/summary" || { cat "$work/summary"; return 1; }
	for name in first second; do
		! grep "bpf_prog_[0-9a-f]*_$name" "$work/out/$2/kallsyms" || return
		calls=$(grep -c " k  *bpf_prog_[0-9a-f]*_$name\$" "$work/calls")
		echo "$name: $calls calls"
		[ "$calls" -eq "$1" ] || return
	done
}

shows()
{
	grep -Eq "$1" "$work/calls"
}

side_bytes()
{
	cat "$work/out/$1"/cpu*.side | wc -c
}

verdict "each call has its thread, on whatever CPU" threads_known 80 command
verdict "its number is the one that the thread knows of itself" ids_known command
verdict "and its depth" same_depth command
verdict "also without the kernel" threads_known 80 user
verdict "with its number" ids_known user
verdict "and its depth" same_depth user
verdict "also for a user who is not root" ids_known own
verdict "without switches in the data ring, perf's are used" threads_known 80 perf
verdict "for numbers, too" ids_known perf
verdict "which are in the side files: $(side_bytes perf) bytes, else $(side_bytes command)" \
	test "$(side_bytes perf)" -gt $((2 * $(side_bytes command)))
verdict "only their owner can read them" test "$(stat -c %a "$work/out/perf/cpu0.side")" = 600
verdict "of two processes at once, too" threads_not_wrong all
verdict "both have been traced" test "$(cut -d ' ' -f 3 "$work/own" | cut -d / -f 1 | sort -u | wc -l)" = 2
verdict "and the depths of the one that began meanwhile" same_depth all
verdict "the idle threads have their name" shows ' swapper +0 +([<>]?[0-9.]+[mun]?s)? +k '
verdict "so do threads of the kernel" shows ' (ksoftirqd|rcu_|kworker|migration)[^ ]* +[0-9]+ +([<>]?[0-9.]+[mun]?s)? +k '
verdict "in a flight recorder's newest data no thread is wrong" threads_not_wrong flight
verdict "nor in a snapshot" threads_not_wrong flight/snapshot.0001
verdict "code that the kernel patched meanwhile is decoded as it was" threads_known 16 patched
verdict "also if it is at the end as it was at the begin" undone patched
verdict "code that a program made is decoded by its dump" made dump made_first made_second made_third
verdict "also without the kernel" made user-dump made_first made_second made_third
verdict "or by its map of names" made map made_second made_third
verdict "whose process is followed where perf reports" made followed-map made_second made_third
verdict "and the command is not" followed_by perf followed-map
verdict "a map that nobody could follow is told" lost_map
verdict "longjmp, signals, cleaning up and exec leave each call where it is" unwound unwound
verdict "also without the kernel" unwound user-unwound
verdict "processes that have ended before they could be read are known" brief_known brief
verdict "also without the kernel" brief_known user-brief
verdict "of branches, their code is" brief_code branches-brief
verdict "none of them could be read" none_was_read brief
verdict "those on a CPU that had been offline are known, too" brief_known returned
verdict "none of these could be read" none_was_read returned
verdict "that the CPU came is in the recording" grep -x 'cpus_came 1' "$work/out/returned/followed"
verdict "processes that have ended are all known without ptrace, which they can use themselves" brief_known traced
verdict "the recording says so" followed_by perf traced
verdict "with ptrace they are known as well" brief_known stopped
verdict "which it says, too" followed_by ptrace stopped
verdict "BPF programs that came and went are decoded as they were" programs 20 bpf
verdict "also of branches" programs 5 branches-bpf
verdict "of branches, no thread is wrong" one_function_a_thread 1 branches
verdict "nor without the kernel, where one whose window has several is unknown" one_function_a_thread 0 user-branches
verdict "and one that runs alone is known" one_function_a_thread 20 user-branches-alone
verdicts_end
