# SPDX-License-Identifier: GPL-2.0-only
# What each build of the command needs: tools/Makefile and tests/unit/tools include this.
# TOP and OUT are set. TOOL_SOURCES are relative to tools/.
TOOL_SOURCES := $(patsubst $(TOP)/tools/%,%,$(sort $(wildcard $(TOP)/tools/*.c $(TOP)/tools/*/*.c)))
TOOL_INCLUDES := -I$(TOP)/tools -I$(OUT) -DPAGE_TEMPLATE='"$(TOP)/tools/report/page.html"'

# Names and numbers of the system calls in this machine's <asm/unistd_64.h>.
$(OUT)/syscall_names.h: $(TOP)/tools/sources.mk | $(OUT)
	echo '#include <asm/unistd_64.h>' | $(CC) $(CPPFLAGS) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) [0-9]*$$/{ "\1", __NR_\1 },/p' | sort > $@

# Names of the errors in this machine's <errno.h>
$(OUT)/errno_names.h: $(TOP)/tools/sources.mk | $(OUT)
	echo '#include <errno.h>' | $(CC) $(CPPFLAGS) -E -dM - | \
		sed -n 's/^#define \(E[A-Z0-9]*\) \([0-9]*\)$$/[\2] = "\1",/p' | sort > $@

# The page is part of the program.
$(OUT)/report/page.o $(OUT)/tools/report/page.o: $(TOP)/tools/report/page.html

# The newest kernel for which DKMS builds the module: 7.2 if dkms.conf's pattern ends with |7\.[0-2])(. \x28 and \x29 are brackets,
# which make would count.
NEWEST_KERNEL := $(shell sed -n 's/^BUILD_EXCLUSIVE_KERNEL=.*|\([0-9][0-9]*\)\\\.\([0-9]*\)\[0-\([0-9]\)\]\x29\x28.*$$/\1.\2\3/p' $(TOP)/dkms.conf)
ifeq ($(NEWEST_KERNEL),)
$(error $(TOP)/dkms.conf has no BUILD_EXCLUSIVE_KERNEL whose end this file understands)
endif
TOOL_INCLUDES += -DNEWEST_KERNEL='"$(NEWEST_KERNEL)"'
$(OUT)/machine/module_load.o $(OUT)/tools/machine/module_load.o: $(TOP)/dkms.conf
