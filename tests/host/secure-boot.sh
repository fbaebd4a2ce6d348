#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on a stock kernel that was booted by UEFI with Secure Boot, and so takes only signed modules: signed as DKMS does
# it, by a key that is enrolled, by another, and not at all. Then on kernels that demand signatures, or refuse the
# module's name, without UEFI.
#   secure-boot.sh [--work DIR] [SERIES]
set -euo pipefail

me=secure-boot
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
system "" "${operands[@]}"
packages kmod openssl
work_directory
# sign-file of this machine's release, whose libcrypto it needs; the rest as DKMS does it for SERIES, but for the keys' names.
sign_file=$(eval "$("$top/scripts/kernel" 6.1 headers)" && echo "${kdir:?}/scripts/sign-file")
eval "$("$top/scripts/kernel" "$series" headers)"
hash=$(sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"$/\1/p' "${kdir:?}/.config")

# The kernel has the path of the module's file from here; its content is the guest's affair.
modules=$work/modules/lib/modules/${release:?}
rm -rf "$work/modules" "$work/variants"
mkdir -p "$modules/updates/dkms" "$work/variants"
strip --strip-debug -o "$work/variants/unsigned.ko" "$module"
for key in enrolled foreign; do
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 36500 -subj "/CN=auxtrace $key key" \
		-keyout "$work/$key.key" -out "$work/$key.pem" 2> "$work/openssl.log"
	"$sign_file" "$hash" "$work/$key.key" "$work/$key.pem" "$work/variants/unsigned.ko" "$work/variants/$key.ko"
done
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
