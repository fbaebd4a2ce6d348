#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on a stock kernel that was booted by UEFI with Secure Boot, and so takes only signed modules: signed by DKMS,
# whose certificate is enrolled, by another key, and not at all. Then on kernels that demand signatures, or refuse the
# module's name, without UEFI.
#   secure-boot.sh [--work DIR] [SERIES]
set -euo pipefail

me=secure-boot
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
system "" "${operands[@]}"
[ "$(id -u)" -eq 0 ] || skip "only root can give DKMS directories of its own"
packages dkms kmod openssl
work_directory
# sign-file of this machine's release, whose libcrypto it needs; the rest is that of SERIES.
sign_file=$(eval "$("$top/scripts/kernel" 6.1 headers)" && echo "${kdir:?}/scripts/sign-file")
eval "$("$top/scripts/kernel" "$series" headers)"
hash=$(sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"$/\1/p' "${kdir:?}/.config")
version=$(cat "$top/VERSION")

# The kernel has the path of the module's file from here; its content is the guest's affair.
modules=$work/modules/lib/modules/${release:?}
rm -rf "$work/modules" "$work/variants"
mkdir -p "$modules/updates/dkms" "$work/variants"
strip --strip-debug -o "$work/variants/unsigned.ko" "$module"
openssl req -new -x509 -newkey rsa:2048 -nodes -days 36500 -subj "/CN=auxtrace foreign key" \
	-keyout "$work/foreign.key" -out "$work/foreign.pem" 2> "$work/openssl.log"
"$sign_file" "$hash" "$work/foreign.key" "$work/foreign.pem" "$work/variants/unsigned.ko" "$work/variants/foreign.ko"

# DKMS makes its key and its certificate, and signs with them what it builds. Here that is a copy of $module; and of this
# machine DKMS sees neither its configuration nor its modules.
dkms_signs()
{
	local dkms=$work/dkms

	rm -rf "$dkms"
	mkdir -p "$dkms/etc" "$dkms/lib" "$dkms/modules/$release"
	make -s -C "$top" dkms-install DKMSDIR="$dkms/src/auxtrace-$version"
	echo "sign_file='$sign_file'" > "$dkms/etc/framework.conf"
	printf '%s\n' "MAKE[0]='cp $module module/auxtrace.ko'" CLEAN=true > "$dkms/etc/auxtrace.conf"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount --propagation private sh -euc '
		dkms=$1
		shift
		mount --bind "$dkms/etc" /etc/dkms
		mount --bind "$dkms/lib" /var/lib/dkms
		for action in add build; do
			dkms "$action" "$@" --sourcetree "$dkms/src" --installtree "$dkms/modules"
		done' sh "$dkms" -m auxtrace -v "$version" -k "$release" --no-depmod --kernelsourcedir "$kdir" &&
		cp "$dkms/lib/auxtrace/$version/$release/x86_64/module/auxtrace.ko" "$work/variants/enrolled.ko" &&
		openssl x509 -inform DER -in "$dkms/lib/mok.pub" -out "$work/enrolled.pem"
}
verdict "DKMS signs the module" dkms_signs
[ "$failures" -eq 0 ] || verdicts_end
cp "$work/variants/unsigned.ko" "$modules/updates/dkms/auxtrace.ko"
depmod -b "$work/modules" "$release" 2> "$work/depmod.log"
rm -r "$modules/updates"

# boot NAME OPTION...
boot()
{
	local status=0

	"$top/scripts/vm" "${system[@]}" --smp 2 --timeout 240 --work "$work/$1" --file "$build/tools/auxtrace" \
		--file "$(readlink -f "$(command -v modprobe)"):/sbin/modprobe" --file "$work/modules/lib/modules:/lib/modules" \
		--file "$work/variants:/variants" --file "$top/tests/guest/lib/check.sh" \
		--file "$top/tests/guest/secure-boot.sh" "${@:2}" -- "$shell" /bin/secure-boot.sh "$1" || status=$?
	[ "$status" -ne 77 ] || skip "the guest cannot run it"
	[ "$status" -eq 0 ]
}

verdict "with Secure Boot" boot signed --secure-boot "$work/enrolled.pem"
verdict "with module.sig_enforce" boot enforced --append module.sig_enforce=1
verdict "with module_blacklist" boot named --append module_blacklist=auxtrace
verdicts_end
