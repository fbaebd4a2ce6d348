#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the guest test programs and runs them in one boot of a stock kernel on the
# emulator, with the module loaded. The exit status is scripts/vm's.
set -euo pipefail

usage()
{
	cat >&2 <<-EOF
	usage: run.sh [--source pt|bts] [--kernel SERIES] [--module FILE] [--smp N]
	              [--limit SECONDS] [--append STRING] [--work DIR] [--mem SIZE]
	              [--disk SIZE] [--disk-file FILE] [--token HEX] [--stock-module NAME]
	              [--set NAME=VALUE] [--emulator-arg ARG]... [TEST...]
	  --source pt|bts  trace PMU that the tests use (default pt)
	  --kernel SERIES  as in scripts/vm (default 6.1)
	  --module FILE    auxtrace.ko for that kernel (default: built now)
	  --smp N          virtual CPUs (default 4)
	  --limit SECONDS  for the whole run (default 900)
	  --work DIR       keeps the VM's logs there
	  --set NAME=VALUE environment of the tests
	  --append STRING, --mem SIZE, --disk SIZE, --disk-file FILE, --token HEX,
	  --stock-module NAME, --emulator-arg ARG
	                   as in scripts/vm
	  --suspend        as in scripts/vm
	  TEST             as test_ioctl; default: all
	EOF
	exit 2
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$(dirname "$here")")
source=pt kernel=6.1 module='' smp=4 limit=900 append='' vm_options=() environment=()
while [ $# -gt 0 ]; do
	case $1 in
	--source) source=$2 ;;
	--kernel) kernel=$2 ;;
	--module) module=$2 ;;
	--smp) smp=$2 ;;
	--limit) limit=$2 ;;
	--work | --mem | --disk | --disk-file | --token | --stock-module | --emulator-arg) vm_options+=("$1" "$2") ;;
	--append) append=$2 ;;
	--set) environment+=("$2") ;;
	--suspend) vm_options+=("$1"); shift; continue ;;
	-*) usage ;;
	*) break ;;
	esac
	shift 2 || usage
done

# BTS needs larger areas for the same trace.
[ "$source" = pt ] || vm_options=(--mem 2G "${vm_options[@]}")
build=$top/build/tests-guest
make --no-print-directory -s -C "$top/tests/guest" OUT="$build" tests >&2
read -ra tests < <(make --no-print-directory -s -C "$top/tests/guest" SOURCE="$source" list)
[ $# -eq 0 ] || tests=("$@")
[ -n "$module" ] || module=$("$top/scripts/build-module" "$kernel")

files=(--file "$top/tests/guest/suite.sh")
for test in "${tests[@]}"; do
	files+=(--file "$build/$test")
done
# Debian's kernels zero every allocation. Without that, memory that the module forgets to
# initialize shows.
exec "$top/scripts/vm" --kernel "$kernel" --smp "$smp" --timeout "$limit" \
	--append "init_on_alloc=0 $append" --module "$module" "${files[@]}" "${vm_options[@]}" \
	-- env AUXTRACE_TEST_SOURCE="$source" "${environment[@]}" suite.sh "${tests[@]}"
