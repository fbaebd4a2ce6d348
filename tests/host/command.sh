#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The auxtrace command in a guest with a stock kernel: command.sh.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
kernel=${1:-6.1}
make -s -C "$top" all >&2
exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --timeout 1000 \
	--module "$("$top/scripts/build-module" "$kernel")" \
	--file "$top/build/tools/auxtrace" --file "$top/tests/guest/lib/check.sh" --file "$top/tests/guest/command.sh" -- command.sh
