# SPDX-License-Identifier: GPL-2.0
# What people call. The kernel's build reads module/Kbuild, not this.
O	?= $(CURDIR)/build

# Tests that run side by side all begin with this: one at a time.
all: packages
	@mkdir -p $(O)
	@flock $(O)/lock $(MAKE) --no-print-directory -s userland

packages:
	@scripts/need gcc make libc6-dev pkg-config libipt-dev libzydis-dev libelf-dev libcap-dev liburing-dev \
		libcmocka-dev valgrind

userland:
	$(MAKE) -C userlib O=$(O)
	$(MAKE) -C tools O=$(O)
	$(MAKE) -C examples O=$(O)
	$(MAKE) -C tests/guest O=$(O)
	$(MAKE) -C tests/host O=$(O)

demo:
	@scripts/demo $(if $(NATIVE),--native)

# A recorder that freezes on the one call in a thousand that is slow, and shows why
demo-latency:
	@scripts/demo-latency

# All tests, or only those named: make check T="unit-emulator flow-full"
check:
	@scripts/check $(T)

# What takes long: above all, the emulator against its judges on every kernel.
check-long:
	@scripts/check --long $(T)

# What it costs beside perf: bench/README.md
bench:
	@bench/run

install: all
	$(MAKE) -C userlib install O=$(O)
	$(MAKE) -C tools install O=$(O)

clean:
	rm -rf $(O)

distclean: clean
	rm -rf "$${AUXTRACE_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/auxtrace}"

.PHONY: all packages userland demo demo-latency check check-long bench install clean distclean
