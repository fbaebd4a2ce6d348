#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rust/auxtrace-sys: Debian's cargo builds it from Debian's packages and from what `make install` installs; the
# structs have the layout that clang gives the headers'; it has every function that the libraries export; its
# example prints what the same example in C does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/need cargo rustc rustfmt librust-bindgen-dev librust-clang-sys+libloading-dev librust-pkg-config-dev \
	binutils python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Not the cargo of a person's own PATH, nor what that is told to do
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset RUSTFLAGS RUSTC_WRAPPER

make -s install DESTDIR="$work/root" PREFIX=/usr LIBDIR=/usr/lib
make -s -C examples
libraries=$work/root/usr/lib

# As docs/packaging.md says
mkdir "$work/cargo"
awk '/^```/ { code = $0 == "```toml"; next } code' docs/packaging.md > "$work/cargo/config.toml"
cp -r rust/auxtrace-sys "$work/crate"
export CARGO_HOME=$work/cargo CARGO_TARGET_DIR=$work/target
export PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root LD_LIBRARY_PATH=$libraries
crate()
{
	if ! (cd "$work/crate" && RUSTFLAGS='-D warnings' cargo "$@") > "$work/said" 2>&1; then
		cat "$work/said"
		return 1
	fi
}

rustfmt --check --config-path rust/rustfmt.toml rust/auxtrace-sys/{build.rs,src/lib.rs,examples/hottest.rs}
crate build --offline --examples
crate test --offline
tests=$(grep -c '^test bindgen_test_layout_auxtrace_.* ok$' "$work/said")
structs=$(cat include/auxtrace.h include/auxtrace-decode.h | grep -c '^struct auxtrace_[a-z_]* {$')
echo "the layout of $tests structs is right; the libraries' own headers define $structs"
[ "$tests" -ge "$structs" ] && [ "$structs" -ge 10 ]

for name in libauxtrace libauxtrace-decode; do
	nm -D --defined-only "$libraries/$name.so" | sed -n 's/^.* T \([^@]*\).*$/\1/p'
done | sort > "$work/exported"
sed -n 's/^ *pub fn \([a-z_]*\)(.*$/\1/p;s/^ *pub fn \([a-z_]*\)($/\1/p' "$work"/target/debug/build/auxtrace-sys-*/out/bindings.rs |
	sort -u > "$work/bound"
lacking=$(comm -23 "$work/exported" "$work/bound")
echo "functions that the libraries export: $(wc -l < "$work/exported"); the crate lacks: ${lacking:-none}"
[ "$(wc -l < "$work/exported")" -ge 40 ] && [ -z "$lacking" ]

python3 tests/many_calls.py "$work/many" 60000
build/examples/hottest "$work/many" > "$work/by-c"
"$work/target/debug/examples/hottest" "$work/many" > "$work/by-rust"
grep -E '^ +[0-9]+ +60000  f \(\[kernel\]\)$' "$work/by-rust"
diff -u "$work/by-c" "$work/by-rust"
echo "the examples in Rust and in C print the same"

status=0
"$work/target/debug/examples/hottest" /nowhere 2> "$work/said" || status=$?
[ "$status" -eq 1 ]
grep -x 'hottest: /nowhere is not a complete recording: .*' "$work/said"
