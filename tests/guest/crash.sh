#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: loads a crash kernel whose command is test_crash, and crashes this one.
#   crash.sh CPU HOW      as in crash.c
#   crash.sh plain        without a crash kernel: prints the plan for the host, and panics
# shellcheck disable=SC2016 # of the crash kernel's shell
set -e
mkdir -p /crash

if [ "$1" = plain ]; then
	exec crash 0 panic 'echo "-- plan"; base64 /crash/plan; echo "-- end"'
fi

# The crash kernel's initramfs is this one, with another command. When the plan is written:
cat > /bin/make-initrd <<-"END"
	#!/bin/sh
	set -e
	root=/tmp/root
	mkdir -p $root/modules $root/crash $root/dev $root/proc $root/sys $root/tmp $root/out \
		$root/root $root/etc
	cp -a /bin /lib /lib64 /init $root/
	[ ! -d /usr ] || cp -a /usr $root/
	rm -f $root/bin/vmlinuz
	cp /crash/plan $root/crash/
	cp /modules/msr.ko $root/modules/
	echo msr.ko > $root/modules/order
	: > $root/modules/disk
	echo "AUXTRACE_TEST_SOURCE=$AUXTRACE_TEST_SOURCE suite.sh test_crash" > $root/command
	(cd $root && find . | cpio -o -H newc) > /tmp/initrd 2> /dev/null
	rm -rf $root
END
chmod 755 /bin/make-initrd
exec crash "$1" "$2" make-initrd /bin/vmlinuz /tmp/initrd
