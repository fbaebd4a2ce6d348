#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a full Debian, for bench/decode: real programs, recorded whole with the kernel, each to /out/NAME.
set -eu

cd /tmp
python3 - > functions.c <<'END'
print("#include <stdio.h>\n#include <string.h>")
for i in range(60):
    print(f"""
static int table_{i}[64];
int work_{i}(const char *text, int n)
{{
	int sum = {i};

	for (int k = 0; k < n; k++) {{
		if (text[k] > 'm')
			sum += table_{i}[(text[k] + k) & 63] * {i + 3};
		else
			sum ^= (int)strlen(text) << (k & 7);
		switch (sum & 7) {{
		case 0: table_{i}[k & 63]++; break;
		case 1: sum = -sum; break;
		case 5: sum += n; break;
		}}
	}}
	return sum;
}}""")
END
cat > words.py <<'END'
import collections, json, re
text = " ".join(f"word{i * 7919 % 501} {i % 13}" for i in range(3000))
words = collections.Counter(re.findall(r"\w+", text))
data = {w: [n, w[::-1], {"n": n}] for w, n in words.items()}
assert json.loads(json.dumps(data)) == data
print(sum(sorted(len(w) * n for w, n in words.items())[:100]))
END

# whole NAME COMMAND...
whole()
{
	auxtrace record -a -m 64M -o "/out/$1" -- "${@:2}" > "$1.log" 2>&1 || { cat "$1.log"; return 1; }
	tail -n 1 "$1.log"
}

# Once before, so that all files are in the page cache.
gcc -O2 -c functions.c
python3 words.py
whole compiler gcc -O2 -c functions.c
whole interpreter python3 words.py
whole system-calls find /usr/share /usr/lib -newer /etc/passwd -size +1k
