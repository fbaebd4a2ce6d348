# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What init.sh and payload-init.sh share; they source it. From here on stdout and stderr are the
# private channel: ttyS1, which scripts/vm reads. ttyS2 is for hostctl. $status is what the run
# ends with.
#
#   parameter NAME             its value on the kernel's command line
#   fault TEXT                 says it; the run has failed, whatever the command's exit status is
#   load COMMAND PREFIX LIST   loads each module in the file /modules/LIST by COMMAND PREFIX<name>
#   save DISK                  writes the files in /out to it, as a tar archive
#   end COMMAND...             tells scripts/vm $status, by its token, and turns the machine off

stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo 2> /dev/null
exec < /dev/null > /dev/ttyS1 2>&1

# Time goes on while other virtual CPUs run, so the kernel finds that an NMI or a sample of perf's
# took long. It would print that within an NMI, 58,000 instructions more, or sample less often.
echo 1000000000000 2> /dev/null > /sys/kernel/debug/x86/nmi_longest_ns
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent

status=0

parameter()
{
	sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# How much longer than on a stock kernel all may take.
SLOWNESS=$(parameter vm_slowness)
export SLOWNESS

fault()
{
	echo "init: $*"
	status=125
}

load()
{
	while read -r module; do
		"$1" "$2$module" || fault "$1 $module failed"
	done < "/modules/$3"
}

save()
{
	tar -cf "$1" -C /out . || fault "/out does not fit on the disk"
}

end()
{
	sync
	echo "vm-token $(parameter vm_token) $status"
	# Wait until the token has left the UART.
	stty -F /dev/ttyS1 raw -echo
	"$@"
}
