#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# README's C example is C, for the library as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
{
	echo 'void region_of_interest(void);'
	# shellcheck disable=SC2016 # backticks of Markdown
	sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```'
} | gcc -x c -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -Iinclude/uapi -
echo "README's example compiles"
