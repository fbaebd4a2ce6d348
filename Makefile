# SPDX-License-Identifier: GPL-2.0-only
# What people call. The kernel's build reads module/Kbuild, not this.
all:
include userland.mk

QUIET	:= $(if $(V),,-s)
# Tests that run in parallel each begin with a build: the lock lets one build at a time.
BUILD	= +@mkdir -p $(O) && flock $(O)/lock $(MAKE) --no-print-directory $(QUIET) O=$(O)

# Libraries, command and man pages. DKMS builds the module. No package is installed here.
all:
	$(BUILD) product

product:
	$(MAKE) -C userlib O=$(O)
	$(MAKE) -C tools O=$(O)
	$(MAKE) -C decodelib O=$(O)
	$(MAKE) -C man O=$(O)

# Example programs and test programs as well.
tests:
	$(BUILD) programs

programs: product
	$(call have,cmocka.h)
	$(MAKE) -C examples O=$(O)
	$(MAKE) -C tests/guest O=$(O)
	$(MAKE) -C tests/host O=$(O)

# The documents, man pages and headers for a browser, in build/html: needs Sphinx, MyST and pandoc.
html:
	$(BUILD) pages

pages:
	$(MAKE) -C man O=$(O)
	$(MAKE) -C docs O=$(O)

# Files with licences and checksums, and what is linked, as SPDX has it: build/auxtrace.spdx
sbom: all
	@scripts/sbom $(O)

INSTALLED := userlib tools decodelib system

# All: also the module's source for DKMS, the udev rule, the group and the recorder service.
install: all dkms-install
	@$(foreach part,$(INSTALLED),$(MAKE) --no-print-directory $(QUIET) -C $(part) install O=$(O) &&) true

# What DKMS needs to build the module, and nothing else. `dkms install auxtrace/VERSION` then builds it.
DKMS_FILES := $(shell cd $(TOP) && find dkms.conf module include/uapi -name '*.c' -o -name '*.h' -o -name '*.mk' \
	-o -name Kbuild -o -name dkms.conf)

dkms-install:
	@$(INSTALL) -d $(patsubst %,"$(DESTDIR)$(DKMSDIR)/%",$(sort $(dir $(DKMS_FILES))))
	@$(foreach file,$(DKMS_FILES),$(INSTALL) -m 644 $(TOP)/$(file) "$(DESTDIR)$(DKMSDIR)/$(file)" &&) true

# DKMS builds nothing at all, not even other modules, while the source of one that it knows is missing.
dkms-uninstall:
	$(if $(DESTDIR),,@if [ -e "$(DKMSTREE)/auxtrace/$(VERSION)" ]; then \
		PATH="$$PATH:/usr/sbin" dkms remove auxtrace/$(VERSION) --all; fi)
	rm -rf "$(DESTDIR)$(DKMSDIR)"

uninstall: dkms-uninstall
	@$(foreach part,$(INSTALLED),$(MAKE) --no-print-directory $(QUIET) -C $(part) uninstall O=$(O) &&) true

# The Debian packages that a target needs: make deps, make deps FOR="check demo"
deps:
	@scripts/deps $(or $(FOR),all)

demo:
	@scripts/demo $(if $(NATIVE),--native)

# A recorder freezes on the one call in a thousand that is slow, and shows why.
demo-latency:
	@scripts/demo-latency

# A prompt in the emulator, on a stock kernel with auxtrace loaded: make shell KERNEL=6.12
shell:
	@scripts/shell $(KERNEL)

# Tests name files in build/.
own_build = $(if $(filter-out $(TOP)/build,$(O)),$(error tests are built in build/ only: leave out O=$(O)))

# All tests, or those named: make check T="unit-emulator flow-full"
check:
	$(own_build)@scripts/check$(if $(NATIVE),-native) $(T)

# The long proofs, most of them of the emulator on every kernel. make check-long CONTINUE=1: but for those that have
# passed on the same files.
check-long:
	$(own_build)@scripts/check --long $(T)

# Costs compared with perf's: bench/README.md
bench:
	$(own_build)@bench/run

# Debian packages, in build/deb and build/deb-emulator: make deb SUITE=trixie. DEBFLAGS: options of scripts/deb. Debian 11
# cannot build the emulator.
deb: deb-auxtrace $(if $(filter bullseye,$(SUITE)),,deb-emulator)

deb-auxtrace:
	@scripts/deb $(DEBFLAGS) $(SUITE)

deb-emulator:
	@scripts/deb --emulator $(DEBFLAGS) $(SUITE)

clean:
	rm -rf $(O)

distclean: clean
	rm -rf "$${AUXTRACE_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/auxtrace}"

.PHONY: all product tests programs html pages sbom install uninstall dkms-install dkms-uninstall deps demo demo-latency \
	shell check check-long bench deb deb-auxtrace deb-emulator clean distclean
