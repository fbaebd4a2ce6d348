# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the packages leave on a full Debian when they are purged; to be sourced behind check.sh.

# ours: files of auxtrace on the machine's file system, but for our own, logs and what apt remembers; and in /run, which is
# another one, but for what systemd and udev note there of all units and devices
ours()
{
	find /run -xdev \( -path /run/systemd -o -path /run/udev \) -prune -o -name '*auxtrace*' -print
	find / -xdev \( -path /root/auxtrace -o -path /srv/mirror -o -path /out -o -path /var/log -o -path /tmp \
		-o -path /var/lib/apt -o -path /var/cache/apt -o -path /var/cache/man -o -path /proc -o -path /sys \) \
		-prune -o -name '*auxtrace*' -print
}

removes()
{
	# shellcheck disable=SC2046 # words
	apt-get remove -y $(dpkg-query -W -f '${Package}\n' '*auxtrace*')
}

# apt knows no others then: they came from files.
purges()
{
	# shellcheck disable=SC2046 # words
	apt-get purge -y $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' '*auxtrace*' | sed -n 's/^config-files //p')
}

# same_configuration LIST
same_configuration()
{
	ls -A /etc/auxtrace
	[ "$(ls -A /etc/auxtrace 2> /dev/null)" = "$1" ]
}

# check_purge: all of our packages, which are removed first
check_purge()
{
	configuration=$(ls -A /etc/auxtrace 2> /dev/null)
	check "apt removes the packages" removes
	check "what an administrator wrote stays" same_configuration "$configuration"
	check "apt purges what is left of them" purges
	check "dpkg knows none of them then" sh -c "! dpkg-query -W -f '\${db:Status-Status}\n' '*auxtrace*' | grep -vx not-installed"
	check "DKMS has nothing of it" sh -c '! dkms status | grep auxtrace'
	check "no file is left" test -z "$(ours | tee /tmp/left)"
	sed 's/^/    left: /' /tmp/left
}

check_unload()
{
	check "the module that is loaded can be unloaded" rmmod auxtrace
	check "and cannot be loaded again" sh -c '! modprobe auxtrace'
	check "the device is gone" test ! -e /dev/auxtrace
}
