# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the test scripts on the host share; to be sourced by bash with $me set to the name
# that the script gives itself in messages.
#
#   $top, $build              the repository, and where its programs are built
#   bad_usage                 prints the script's lines that begin as this one, and exits with 2
#   options "NAME..." ARGUMENT...
#                             sets $NAME (work: $keep) by each --NAME VALUE that comes before other
#                             arguments; these are $operands. Other options: bad_usage
#   skip WHY                  exit status 77: this machine cannot run the test
#   packages PACKAGE...       skips unless these Debian packages are, or can be, installed
#   work_directory            $work is $keep, or without that a new one that is removed at exit
#   vm_prepare SERIES         builds all; $module is the module for that kernel
#   debian SUITE              makes that Debian; $series and $tree are as scripts/distro prints them
#   system SUITE [SERIES]     vm_prepare for that Debian, or if SUITE is empty for that kernel (6.1);
#                             $system is scripts/vm's options for it, $shell what runs scripts there
#   debian_files WORK         prints a directory with the files of the Debian that scripts/vm has
#                             booted with --work WORK/vm
#   random_addresses RECORDING  its kernel, or at least the modules, were where KASLR put them
#   scope_judge RECORDING     sets $judge to flowcmp's and btscmp's options for that recording of a
#                             task's scope, by tests/guest/flow.c
#   scope_threads RECORDING CPU  with the kernel: prints what their option --threads reads
#   scope_code RECORDING      whatever its CR3, all user code in that recording is the members'
#   guest_script SCRIPT       prints scripts/vm's options that bring the module, the command and
#                             a script of tests/guest with what it sources, one a line
#   verdict TEXT COMMAND...   prints TEXT, and whether COMMAND succeeded
#   not COMMAND...            succeeds if COMMAND fails
#   part COMMAND...           a failure if COMMAND fails; not if its exit status is 77, for it
#                             cannot run here
#   verdicts_end              exit status 1 if a verdict was FAILED, or a part failed; 77 if there
#                             are parts, and none could run
# shellcheck disable=SC2034 # used by the scripts that source this

: "${me:?}"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$top/build
failures=0
parts=0 skipped_parts=0

bad_usage()
{
	sed -n 's/^#   //p' "$0" >&2
	exit 2
}

options()
{
	local known=" $1 " name

	shift
	while [[ ${1-} == -* ]]; do
		name=${1#--}
		[[ -n ${2-} && $known == *" $name "* ]] || bad_usage
		[ "$name" != work ] || name=keep
		printf -v "$name" %s "$2"
		shift 2
	done
	operands=("$@")
}

skip()
{
	echo "$me: cannot run: $*" >&2
	exit 77
}

packages()
{
	"$top/scripts/need" "$@" >&2 || skip "packages are missing"
}

work_directory()
{
	if [ -n "${keep-}" ]; then
		mkdir -p "$keep"
		work=$(cd "$keep" && pwd)
	else
		work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-$me.XXXXXX")
		trap 'rm -rf "$work"' EXIT
	fi
}

vm_prepare()
{
	make -s -C "$top" tests >&2
	module=$("$top/scripts/build-module" "$1")
}

debian()
{
	local parts

	[ "$(id -u)" -eq 0 ] || skip "only root can make a Debian root"
	parts=$("$top/scripts/distro" "$1")
	eval "$parts"
}

system()
{
	[ $# -le 2 ] || bad_usage
	if [ -n "$1" ]; then
		[ $# -eq 1 ] || bad_usage
		debian "$1"
		system=(--distro "$1")
		# Debian's sh has no read -t.
		shell="bash"
	else
		series=${2:-6.1}
		system=(--kernel "$series")
		shell="sh"
	fi
	vm_prepare "$series"
}

# Links: the tree is everybody's.
debian_files()
{
	rm -rf "$1/files"
	mkdir "$1/files"
	cp -as "${tree:?}/usr" "${tree:?}"/lib* "$1/files/"
	cp -asf "$1/vm/payload.root/." "$1/files/"
	echo "$1/files"
}

# One in 500 kernels is where it was linked to. Without KASLR the first module is at the start
# of their area, with it never.
random_addresses()
{
	grep -qE '^ffffffff[89a-f][0-9a-f]{7} . _stext$' "$1/kallsyms" && [ -s "$1/modules" ] || return 1
	! grep -q '^ffffffff81000000 . _stext$' "$1/kallsyms" || ! grep -q ' 0xffffffffc0000000' "$1/modules"
}

# kernel_range RECORDING FUNCTION: prints BEGIN-END; nothing if there is no such function.
kernel_range()
{
	sort "$1/kallsyms" | awk -v name="$2" '
		begin && $1 != begin && !end { end = $1; print begin "-" end }
		$3 == name { begin = $1 }'
}

# Where tests/guest/Makefile links scoped. No member runs the loops of idle CPUs and of the kernel's
# own threads; which of them are functions that were not inlined depends on the kernel.
scope_judge()
{
	local function range

	judge=(--members 10000000-20000000)
	if [ ! -s "$1/kallsyms" ]; then
		judge+=(--user-only)
		return
	fi
	judge+=(--switch "$(awk '$3 == "__switch_to_asm" { print $1 }' "$1/kallsyms")")
	for function in do_idle cpu_startup_entry worker_thread smpboot_thread_fn rcu_gp_kthread kthread; do
		range=$(kernel_range "$1" "$function")
		[ -z "$range" ] || judge+=(--others "$range")
	done
}

scope_threads()
{
	"$build/tools/auxtrace" dump --records --cpu "$2" "$1" |
		sed -n 's/^.*switch tid=[0-9]* to pid=[0-9]* tid=\([0-9]*\).*$/\1/p'
}

# The members' address spaces are many, and are gone at the end. The recording has the first one,
# before its process went on: it becomes that of every CR3, by comparing a bit that no CR3 has.
scope_code()
{
	sed -i -e 's/^cr3 .*/cr3 0/' -e 's/^cr3_mask .*/cr3_mask 0x8000000000000000/' "$1"/task.*
}

guest_script()
{
	printf '%s\n' --module "$module" --file "$build/tools/auxtrace" \
		--file "$top/tests/guest/lib/check.sh" --file "$top/tests/guest/$1"
}

verdict()
{
	local text=$1

	shift
	if "$@"; then
		echo "$me: ok: $text"
	else
		echo "$me: FAILED: $text"
		failures=$((failures + 1))
	fi
}

not()
{
	! "$@"
}

part()
{
	local status=0

	parts=$((parts + 1))
	"$@" || status=$?
	case $status in
	0) ;;
	77) skipped_parts=$((skipped_parts + 1)) ;;
	*) failures=$((failures + 1)) ;;
	esac
}

verdicts_end()
{
	[ "$failures" -eq 0 ] || exit 1
	[ "$parts" -eq 0 ] || [ "$skipped_parts" -lt "$parts" ] || exit 77
}
