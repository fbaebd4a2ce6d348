# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the scripts that install Debian packages in a root share.

# All files but those that any package leaves: dpkg's and ldconfig's own, logs.
files()
{
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /mnt \
		-o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \) -prune \
		-o ! -path /etc/ld.so.cache ! -path '/etc/group*' ! -path '/etc/gshadow*' ! -path '/etc/.pwd.lock' \
		! -path '/var/lib/dkms' ! -path '/var/lib/dkms/mok.*' ! -path '/lib/modules/*/modules.*' \
		! -path '/usr/lib/modules/*/modules.*' -print | LC_ALL=C sort
}
