#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest, whose kernel is choosy about modules: which files of the module are loaded, and what auxtrace info says of
# those that are not. Installs each in turn where DKMS does.
#
#   secure-boot.sh signed|enforced|named      what the kernel was booted with: Secure Boot, module.sig_enforce,
#                                             module_blacklist
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

installed=/lib/modules/$(uname -r)/updates/dkms/auxtrace.ko
mkdir -p "${installed%/*}" /etc/modprobe.d
cd /tmp || exit 1

# install NAME: /variants/NAME is the module's file.
install()
{
	cp "/variants/$1.ko" "$installed"
}

# finds PATTERN: the line of auxtrace info about the module.
finds()
{
	auxtrace info > /tmp/said
	[ $? -eq 1 ] && cat /tmp/said && grep '^.\{5\}module ' /tmp/said | grep -qE "$1"
}

# refused_by_kernel PATTERN: modprobe says that the kernel refuses the module.
refused_by_kernel()
{
	! /sbin/modprobe auxtrace > /tmp/said 2>&1 && cat /tmp/said && grep -qE "$1" /tmp/said && [ ! -e /sys/module/auxtrace ]
}

loads()
{
	/sbin/modprobe auxtrace && [ -c /dev/auxtrace ] && auxtrace info
}

as_nobody()
{
	cp /bin/auxtrace /tmp/auxtrace-of-all
	su nobody -s /bin/sh -c '/tmp/auxtrace-of-all info' > /tmp/said
	cat /tmp/said
	grep -qE "$1" /tmp/said
}

case $1 in
signed)
	check "the kernel is locked down by Secure Boot" grep -F '[integrity]' /sys/kernel/security/lockdown
	check "info does not call that unknown" sh -c '! auxtrace info | grep "^.....lockdown "'
	umount /sys/kernel/security
	check "which it does where securityfs is not mounted" says '^.{5}lockdown +unknown, ' auxtrace info
	check "and so does the self-test" says '^ +lockdown +unknown$' auxtrace selftest --quick
	mount -t securityfs securityfs /sys/kernel/security
	check "no module is there" finds 'NO .*there is none for this kernel in /lib/modules/.*/modules.dep'
	install unsigned
	check "the kernel refuses a module without a signature" refused_by_kernel 'Key was rejected|Operation not permitted'
	check "info says so" finds 'NO .*the kernel refuses .*/auxtrace.ko, which has no signature: .*\(it is locked down, integrity mode; '
	install foreign
	check "it refuses the signature of a key that it does not have" refused_by_kernel 'Required key not available|Key was rejected|Operation not permitted'
	check "info names the key" finds ' which the kernel refuses if it does not trust its signer, "auxtrace foreign key": it has no key of that name'
	install enrolled
	check "a module whose key is enrolled can be loaded" finds ' is installed, and not loaded: modprobe auxtrace; the kernel has a key of the name of its signer, "DKMS module signing key"$'
	head -c 40000 "/variants/enrolled.ko" > "$installed"
	check "a file that cannot be read is no file without a signature" finds ' cannot be read: '
	install enrolled
	check "who sees no keys is told what has to hold" as_nobody ', which works if the kernel trusts its signer, "DKMS module signing key" \(it is locked down, integrity mode\)$'
	echo 'blacklist auxtrace' > /etc/modprobe.d/auxtrace.conf
	check "a blacklist is told" finds 'not loaded: modprobe auxtrace; .*\. modprobe.d blacklists it'
	check "which modprobe by name does not obey" loads
	rmmod auxtrace
	echo 'install auxtrace /bin/false' > /etc/modprobe.d/auxtrace.conf
	check "an install line is told" finds 'NO .*modprobe does not load .*"install auxtrace /bin/false"'
	check "and holds" refused_by_kernel .
	echo 'install auxtrace echo first && /sbin/modprobe --ignore-install auxtrace' > /etc/modprobe.d/auxtrace.conf
	check "unless it loads the module in the end" finds ' is installed, and not loaded: modprobe auxtrace;'
	rm /etc/modprobe.d/auxtrace.conf
	check "the module is loaded" loads
	check "it records" record locked -- true
	check "and the kernel's code with it" decodes locked
	check "of which there is some" has ' k '
	;;
enforced)
	install unsigned
	check "the kernel refuses a module without a signature" refused_by_kernel 'Key was rejected'
	check "info says so" finds 'NO .*the kernel refuses .*/auxtrace.ko, which has no signature: .*\(module.sig_enforce is set; '
	install enrolled
	check "it has no key but its own" refused_by_kernel 'Required key not available|Key was rejected'
	check "info says so" finds ' which the kernel refuses if it does not trust its signer, "DKMS module signing key": it has no key of that name'
	;;
named)
	install unsigned
	check "the kernel refuses the module by its name" refused_by_kernel 'Operation not permitted'
	check "info says so" finds 'NO .*the kernel refuses .* by its name: module_blacklist='
	;;
esac
exit "$failed"
