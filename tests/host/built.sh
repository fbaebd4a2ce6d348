# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What rpm-built, arch-built and hand-built share; to be sourced by them. They run as root in a minimal Debian without a network.
# check calls the functions; single quotes are for other shells.
# shellcheck disable=SC2016,SC2034,SC2317
# shellcheck source=tests/guest/lib/check.sh
. /mnt/check.sh

version=$(basename /mnt/auxtrace-*.tar.gz .tar.gz)
version=${version#auxtrace-}
# Where the user without rights builds
home=/home/builder
useradd --create-home builder

as_builder()
{
	setpriv --reuid=builder --regid=builder --init-groups env "HOME=$home" "$@"
}

# command_works LIBRARY-DIRECTORY README. The directory is relative to /usr: the linker may find it by the link in /
command_works()
{
	check "the command runs" says "^auxtrace $version$" auxtrace --version
	check "it uses the library" says "=> (/usr)?/$1/libauxtrace\.so\.0 " ldd /usr/bin/auxtrace
	check "it says what is missing here" says 'NO +device' auxtrace info
	check "README's links to documents lead to them" links_work "$2"
	check "the service runs what is there" sh -c '
		test -x "$(sed -n "s/^ExecStart=\([^ ]*\).*/\1/p" /usr/lib/systemd/system/auxtrace-recorder@.service)"'
}

# libraries_work LIBRARY-DIRECTORY PYTHON-MODULE EXAMPLE
libraries_work()
{
	check "Python finds its module" says 'auxtrace\.Error: .*/nonexistent is not a complete recording' env \
		"PYTHONPATH=$(dirname "$2")" python3 -B -c 'import auxtrace; list(auxtrace.Recording("/nonexistent").calls())'
	check "an example is built" sh -c 'export PKG_CONFIG_PATH=/usr/'"$1"'/pkgconfig
		gcc -o /tmp/hottest "$1" $(pkg-config --cflags --libs auxtrace-decode)' sh "$3"
	check "and runs" says '^hottest: /nonexistent is not a complete recording' /tmp/hottest /nonexistent
}

# licences_named FIELD FILE...: FIELD, licences joined by AND, has each licence that a file of the package names in itself
licences_named()
{
	named=$(echo "$1" | sed 's/ AND /\n/g' | tr -d '()')
	shift
	sed -n '1,3s/^.*SPDX-Licen[s]e-Identifier: \([A-Za-z0-9. -]*[A-Za-z0-9]\).*$/\1/p' -s "$@" 2> /dev/null | sort -u > /tmp/licences
	cat /tmp/licences
	echo "named: $named"
	[ -s /tmp/licences ] && ! grep -vxF "$named" /tmp/licences
}

# dkms_builds RELEASE
dkms_builds()
{
	check "DKMS builds the module" dkms install "auxtrace/$version" -k "$1" --force
	check "it is of the packages' version" says "^$version$" modinfo -k "$1" -F version auxtrace
}

nothing_is_left()
{
	find / -xdev \( -path /proc -o -path /sys -o -path /mnt -o -path /tmp -o -path "$home" -o -path /var/log \) -prune \
		-o -name '*auxtrace*' -print > /tmp/left
	cat /tmp/left
	! [ -s /tmp/left ]
}
