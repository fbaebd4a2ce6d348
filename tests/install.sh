#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs make all, install and uninstall as a packager does: as an unprivileged user, from a
# copy of only the directories that they need, without a package manager, with other
# flags, tools and directories. Builds and runs a program with what was installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/deps all
scripts/need man-db || { echo "install: cannot run: man is missing"; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

fail()
{
	echo "install: $*"
	[ ! -s "$work/log" ] || tail -n 20 "$work/log" | sed 's/^/    | /'
	exit 1
}

# proved WHAT COMMAND...: prints WHAT if the command succeeds, else ends the test.
proved()
{
	local what=$1
	shift
	"$@" || fail "not so: $what ($*)"
	echo "ok: $what"
}

# Each call of a package manager fails and is noted.
mkdir "$work/bin" "$work/tree" "$work/home"
for name in apt apt-get apt-cache dpkg dpkg-query sudo; do
	printf '#!/bin/sh\necho "%s $*" >> "%s/managers"\nexit 1\n' "$name" "$work" > "$work/bin/$name"
	chmod 755 "$work/bin/$name"
done
: > "$work/managers"
cp -r Makefile userland.mk VERSION dkms.conf module userlib tools decodelib python include man system scripts "$work/tree/"
as_user=()
if [ "$(id -u)" = 0 ]; then
	chown -R 65534:65534 "$work"
	as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi

run()
{
	env -u MAKEFLAGS -u MAKELEVEL -u O PATH="$work/bin:$PATH" HOME="$work/home" \
		"${as_user[@]}" "$@" > "$work/log" 2>&1
}

in_tree()
{
	run make -C "$work/tree" "$@"
}

# refused WORDS ARGUMENT...: make fails, and its output has each of the words.
refused()
{
	local text
	! in_tree "${@:2}" || return 1
	for text in $1; do
		grep -qF -- "$text" "$work/log" || return 1
	done
}

proved "without headers, make all names their packages and make deps" \
	refused "libc6-dev liburing-dev deps" all O="$work/none" CC='gcc -nostdinc'
proved "without a compiler, it says so" refused "no-such-cc CC=" all O="$work/none" CC=no-such-cc

id=0123456789abcdef0123456789abcdef01234567
proved "make all builds elsewhere, in parallel, with a cross compiler's names" \
	in_tree -j2 all V=1 O="$work/out" CROSS_COMPILE=x86_64-linux-gnu- \
	CPPFLAGS="-DPACKAGER_S_OWN" CFLAGS="-O1 -frecord-gcc-switches" LDFLAGS="-Wl,--build-id=0x$id"
for tool in gcc objcopy ar; do
	grep -q "^x86_64-linux-gnu-$tool " "$work/log" || fail "x86_64-linux-gnu-$tool was not used"
done
grep -q -- -DPACKAGER_S_OWN "$work/log" || fail "CPPFLAGS were not used"
for binary in "$work/out/userlib/libauxtrace.so.0" "$work/out/decodelib/libauxtrace-decode.so.0" "$work/out/tools/auxtrace"; do
	proved "${binary##*/} has CFLAGS" grep -q -- '-O1' <(readelf -p .GCC.command.line "$binary")
	proved "${binary##*/} has LDFLAGS" grep -q "Build ID: $id" <(readelf -n "$binary")
done
proved "the source tree is as it was" test ! -e "$work/tree/build"
in_tree -n -C userlib CC=x86_64-linux-gnu-gcc O="$work/none" || fail "make -n"
proved "CC alone names its binutils" grep -q '^x86_64-linux-gnu-ar ' "$work/log"

cat > "$work/expected" <<-END
	/usr/bin/auxtrace
	/usr/include/auxtrace-decode.h
	/usr/include/auxtrace.h
	/usr/include/linux/auxtrace.h
	/usr/lib/multi/libauxtrace-decode.a
	/usr/lib/multi/libauxtrace-decode.so
	/usr/lib/multi/libauxtrace-decode.so.0
	/usr/lib/multi/libauxtrace-decode.so.$(cat VERSION)
	/usr/lib/multi/libauxtrace.a
	/usr/lib/multi/libauxtrace.so
	/usr/lib/multi/libauxtrace.so.0
	/usr/lib/multi/libauxtrace.so.$(cat VERSION)
	/usr/lib/multi/pkgconfig/auxtrace-decode.pc
	/usr/lib/multi/pkgconfig/auxtrace.pc
	/usr/lib/python3/dist-packages/auxtrace.py
	/usr/lib/systemd/system/auxtrace-recorder@.service
	/usr/lib/sysusers.d/auxtrace.conf
	/usr/lib/tmpfiles.d/auxtrace.conf
	/usr/lib/udev/rules.d/60-auxtrace.rules
	/usr/libexec/auxtrace/recorder
	/usr/share/bash-completion/completions/auxtrace
	/usr/share/doc/auxtrace/examples/example.conf
	/usr/share/doc/auxtrace/examples/modules-load.conf
	/usr/share/fish/vendor_completions.d/auxtrace.fish
	/usr/share/man/man1/auxtrace-around.1
	/usr/share/man/man1/auxtrace-dump.1
	/usr/share/man/man1/auxtrace-export.1
	/usr/share/man/man1/auxtrace-info.1
	/usr/share/man/man1/auxtrace-last.1
	/usr/share/man/man1/auxtrace-list.1
	/usr/share/man/man1/auxtrace-record.1
	/usr/share/man/man1/auxtrace-report.1
	/usr/share/man/man1/auxtrace-script.1
	/usr/share/man/man1/auxtrace-selftest.1
	/usr/share/man/man1/auxtrace-why-slow.1
	/usr/share/man/man1/auxtrace.1
	/usr/share/man/man3/libauxtrace-config.3
	/usr/share/man/man3/libauxtrace-cpus.3
	/usr/share/man/man3/libauxtrace-decode-calls.3
	/usr/share/man/man3/libauxtrace-decode-instructions.3
	/usr/share/man/man3/libauxtrace-decode-recording.3
	/usr/share/man/man3/libauxtrace-decode.3
	/usr/share/man/man3/libauxtrace-reader.3
	/usr/share/man/man3/libauxtrace-recording.3
	/usr/share/man/man3/libauxtrace-records.3
	/usr/share/man/man3/libauxtrace-session.3
	/usr/share/man/man3/libauxtrace-triggers.3
	/usr/share/man/man3/libauxtrace.3
	/usr/share/man/man4/auxtrace.4
	/usr/share/man/man5/auxtrace-recording.5
	/usr/share/man/man8/auxtrace-recorder.8
	/usr/share/zsh/site-functions/_auxtrace
END
# Each function of the libraries has a page of its own.
cat include/auxtrace.h include/auxtrace-decode.h |
	sed -nE '/^[a-z]/s/^.*\b(auxtrace_[a-z_]+)\(.*$/\/usr\/share\/man\/man3\/\1.3/p' >> "$work/expected"
LC_ALL=C sort -o "$work/expected" "$work/expected"
# A build directory must not have a space in its name; DESTDIR may.
dest="$work/a package"
directories=(PREFIX=/usr LIBDIR=/usr/lib/multi)
proved "make install of what is built needs no compiler" \
	in_tree install O="$work/out" DESTDIR="$dest" "${directories[@]}" CC=false
source=/usr/src/auxtrace-$(cat VERSION)
(cd "$dest" && find . ! -type d ! -path ".$source/*" | sed 's/^\.//' | LC_ALL=C sort) > "$work/installed"
proved "it installs what it should, where it should" diff -u "$work/expected" "$work/installed"

found=$(man -M "$dest/usr/share/man" -w auxtrace_open auxtrace_decoder_open || true)
proved "man finds pages by functions, without mandb" \
	test "$found" = "$(printf '%s\n' "$dest"/usr/share/man/man3/libauxtrace-{session,decode}.3)"

proved "with the module's source for DKMS" test -f "$dest$source/dkms.conf" -a -f "$dest$source/module/main.c"

mv "$dest" "$work/sysroot"
cat > "$work/program.c" <<'C'
#include <stdio.h>
#include <auxtrace.h>

int main(void)
{
	struct auxtrace_session *s = auxtrace_open("/nonexistent");

	puts(s ? "a session" : auxtrace_error());
	return s ? 1 : 0;
}
C
# shellcheck disable=SC2016 # expanded by the inner shell
proved "a program is built with pkg-config, shared and static, and runs" \
	run env PKG_CONFIG_SYSROOT_DIR="$work/sysroot" PKG_CONFIG_PATH="$work/sysroot/usr/lib/multi/pkgconfig" \
	sh -euc 'cd "$1"
	flags=$(pkg-config --cflags --libs auxtrace)
	gcc -Wall -Wextra -Werror -o shared program.c $flags
	gcc -Wall -Wextra -Werror -o static program.c $(pkg-config --cflags auxtrace) \
		"$1/sysroot/usr/lib/multi/libauxtrace.a" -luring
	LD_LIBRARY_PATH="$1/sysroot/usr/lib/multi" ./shared
	./static' sh "$work"
proved "the command runs" run "$work/sysroot/usr/bin/auxtrace" --help
proved "it has the version of the file VERSION" \
	test "$("$work/sysroot/usr/bin/auxtrace" --version)" = "auxtrace $(cat VERSION)"
proved "so has the library for pkg-config" test "$(cat VERSION)" = \
	"$(PKG_CONFIG_PATH="$work/sysroot/usr/lib/multi/pkgconfig" pkg-config --modversion auxtrace)"
# What DKMS has is removed from it before its source is: DKMS builds no module at all while a source is missing.
cat > "$work/bin/dkms" <<-END
	#!/bin/sh
	echo "dkms \$*" >> "$work/dkms"
	[ -d "$work/source" ] || echo "without its source" >> "$work/dkms"
END
chmod 755 "$work/bin/dkms"
# uninstalled_from_dkms LINE...: with the directory $work/tree-of-dkms dkms is called so, and the source is gone.
uninstalled_from_dkms()
{
	rm -rf "$work/dkms" "$work/source"
	mkdir "$work/source"
	: > "$work/dkms"
	chown --reference "$work/bin" "$work/dkms" "$work/source"
	in_tree dkms-uninstall DKMSDIR="$work/source" DKMSTREE="$work/tree-of-dkms" && test ! -e "$work/source" &&
	diff <([ $# -eq 0 ] || printf '%s\n' "$@") "$work/dkms"
}
proved "make uninstall leaves DKMS alone if it does not have the module" uninstalled_from_dkms
mkdir -p "$work/tree-of-dkms/auxtrace/$(cat VERSION)"
proved "and takes it from DKMS first if it has" uninstalled_from_dkms "dkms remove auxtrace/$(cat VERSION) --all"
# As a person installs it
dest="$work/by hand"
proved "make install goes to /usr/local" in_tree install O="$work/out" DESTDIR="$dest" CC=false
proved "with the Python module where python3 looks" /usr/bin/python3 -c 'if True:
	import os, site, sys
	sys.exit(not any(os.path.exists(sys.argv[1] + path + "/auxtrace.py") for path in site.getsitepackages()))' "$dest"
proved "and make uninstall removes that" in_tree uninstall O="$work/out" DESTDIR="$dest"
proved "all of it" test -z "$(find "$dest" ! -type d)"
# Without DESTDIR recorders are disabled, by the systemd of the machine.
cat > "$work/bin/systemctl" <<-END
	#!/bin/sh
	echo "\$*" >> "$work/systemctl"
END
chmod 755 "$work/bin/systemctl"
: > "$work/systemctl"
chown --reference "$work/bin" "$work/systemctl"
here=(PREFIX="$work/prefix" DKMSDIR="$work/prefix/src" DKMSTREE="$work/none")
proved "make install goes to another prefix" in_tree install O="$work/out" "${here[@]}" CC=false
python=$(dirname "$(find "$work/prefix" -name auxtrace.py)")
mkdir "$python/__pycache__"
touch "$python/__pycache__/auxtrace.cpython-311.pyc" "$python/__pycache__/another.cpython-311.pyc"
chown -R --reference "$work/bin" "$python/__pycache__"
proved "make uninstall removes that" in_tree uninstall O="$work/out" "${here[@]}"
proved "and disables recorders" grep -qx 'disable auxtrace-recorder@.service' "$work/systemctl"
proved "and what Python has compiled of the module" test "$(find "$work/prefix" ! -type d)" = "$python/__pycache__/another.cpython-311.pyc"
proved "no directory of its own is left" test -z "$(find "$work/prefix" -name '*auxtrace*')"
: > "$work/systemctl"
proved "make uninstall removes it all" \
	in_tree uninstall O="$work/out" DESTDIR="$work/sysroot" "${directories[@]}"
proved "no file is left" test -z "$(find "$work/sysroot" ! -type d)"
proved "no recorder was disabled in a directory" test ! -s "$work/systemctl"

# For packages whose tools do not place such files themselves.
in_system()
{
	run make -C "$work/tree/system" "$@" O="$work/out" DESTDIR="$dest" PREFIX=/usr LIBEXECDIR=/usr/lib CC=false
}
cat > "$work/expected" <<-END
	/usr/lib/auxtrace/recorder
	/usr/lib/systemd/system/auxtrace-recorder@.service
	/usr/lib/sysusers.d/auxtrace.conf
	/usr/lib/tmpfiles.d/auxtrace.conf
	/usr/lib/udev/rules.d/60-auxtrace.rules
	/usr/share/doc/auxtrace/examples/example.conf
	/usr/share/doc/auxtrace/examples/modules-load.conf
	/usr/share/man/man8/auxtrace-recorder.8
END
dest="$work/a system"
proved "the system's files are installed without a compiler" in_system install
(cd "$dest" && find . ! -type d | sed 's/^\.//' | LC_ALL=C sort) > "$work/installed"
proved "all of them, where they should be" diff -u "$work/expected" "$work/installed"
proved "the service runs the script that was installed" \
	grep -q '^ExecStart=/usr/lib/auxtrace/recorder ' "$dest/usr/lib/systemd/system/auxtrace-recorder@.service"
proved "make uninstall removes them" in_system uninstall
proved "no file of them is left" test -z "$(find "$dest" ! -type d)"
# For packages that have the module's part and the command's apart.
proved "what belongs to the device is installed alone" in_system install-device
proved "the udev rule and the group" diff -u <(grep -E '/(sysusers\.d|rules\.d)/' "$work/expected") \
	<(cd "$dest" && find . ! -type d | sed 's/^\.//' | LC_ALL=C sort)
proved "then the rest" in_system install-recorder
proved "which makes all of them" diff -u "$work/expected" <(cd "$dest" && find . ! -type d | sed 's/^\.//' | LC_ALL=C sort)

# With DESTDIR the source of the module goes where DKMS looks, and is all that it needs.
dest="$work/a package"
proved "make dkms-install needs no compiler" in_tree dkms-install DESTDIR="$dest" CC=false
proved "it installs the module's sources and dkms.conf" \
	diff -u <(cd "$work/tree" && find dkms.conf module include/uapi -type f | LC_ALL=C sort) \
	<(cd "$dest/usr/src/auxtrace-$(cat VERSION)" && find . -type f | sed 's/^\.\///' | LC_ALL=C sort)
proved "make dkms-uninstall removes them" in_tree dkms-uninstall DESTDIR="$dest"
proved "no source is left" test -z "$(find "$dest" ! -type d)"

caches=("$work/built" "$work/a cache" "$work/xdg/auxtrace" "$work/xdg/other" "$work/home/.cache/auxtrace" "$work/home/.cache/other")
# distclean NAME=VALUE...: of a tree that was built, by a user who has all of these
distclean()
{
	mkdir -p "${caches[@]}"
	chown -R --reference "$work/bin" "${caches[@]}" "$work/xdg" "$work/home"
	run env -u AUXTRACE_CACHE -u XDG_CACHE_HOME "$@" make -C "$work/tree" distclean O="$work/built"
}
# left PATH...: of them, and no others
left()
{
	diff <(printf '%s\n' "$@") <(ls -d "${caches[@]}" 2> /dev/null)
}
proved "make distclean runs with a cache of one's own" distclean AUXTRACE_CACHE="$work/a cache" XDG_CACHE_HOME="$work/xdg"
proved "which it removes, and what was built, and nothing else" left "$work/home/.cache/auxtrace" "$work/home/.cache/other" \
	"$work/xdg/auxtrace" "$work/xdg/other"
proved "with another directory of caches" distclean XDG_CACHE_HOME="$work/xdg"
proved "of which it removes auxtrace's" left "$work/a cache" "$work/home/.cache/auxtrace" "$work/home/.cache/other" "$work/xdg/other"
proved "and without" distclean HOME="$work/home"
proved "where it removes that of the user" left "$work/a cache" "$work/home/.cache/other" "$work/xdg/auxtrace" "$work/xdg/other"

cp -r "$work/tree" "$work/a tree"
# shellcheck disable=SC2016 # as above
proved "a directory with a space in its name is refused by name" \
	sh -c '! make -C "$1/a tree" all > "$1/log" 2>&1 && grep -q "has a space in it" "$1/log"' sh "$work"
proved "no package manager was called" test ! -s "$work/managers"
