# SPDX-License-Identifier: GPL-2.0-only
# What the unit tests of the library and of the command share. TOP and OUT are set.
# Everything is compiled again here, with ASan and UBSan unless SAN is empty.
SAN	:= -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS	?= -O1 -g
override CPPFLAGS += -D_GNU_SOURCE -I$(TOP) -I$(TOP)/include -I$(TOP)/include/uapi
override CFLAGS += -std=gnu11 -Wall -Wextra -Werror -Wmissing-prototypes \
	-Wstrict-prototypes -fno-omit-frame-pointer $(SAN)
COMPILE	= $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

VALGRIND := valgrind -q --error-exitcode=99 --leak-check=full
VALGRIND_OUT := $(abspath $(O))/valgrind/$(notdir $(OUT))

LIB_OBJS := $(patsubst $(TOP)/userlib/%.c,$(OUT)/userlib/%.o,$(sort $(wildcard $(TOP)/userlib/*.c)))

$(OUT)/userlib/%.o: $(TOP)/userlib/%.c $(TOP)/tests/unit/user.mk
	@mkdir -p $(@D)
	$(COMPILE)

# cmocka 2 deprecates macros, such as assert_in_range(), for which cmocka 1 of Debian 11 to 13 has no other.
$(OUT)/%.o: %.c Makefile $(TOP)/tests/unit/user.mk
	@mkdir -p $(@D)
	$(COMPILE) -Wno-deprecated-declarations

clean:
	rm -rf $(OUT) $(VALGRIND_OUT)

-include $(wildcard $(OUT)/*.d $(OUT)/*/*.d $(OUT)/*/*/*.d)

.PHONY: all check valgrind clean
.SECONDARY:
