# SPDX-License-Identifier: GPL-2.0
# What the Makefiles of library, command and examples share: where things go, which
# tools and flags build them. Any of it can be set on the command line:
#
#   O                              where to build (default: build/)
#   CROSS_COMPILE, or CC AR OBJCOPY PKG_CONFIG
#   CFLAGS CPPFLAGS LDFLAGS        come after the flags that the sources need
#   WERROR=                        warnings are no errors
#   DESTDIR PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR INSTALL
#   V=1                            shows the commands

# Neither make nor the kernel's build can tell such a path from two paths.
ifneq ($(words $(CURDIR)),1)
$(error '$(CURDIR)' has a space in it, which make cannot handle: build in another directory)
endif
ifneq ($(findstring :,$(CURDIR)),)
$(error '$(CURDIR)' has a colon in it, which make cannot handle: build in another directory)
endif

TOP	:= $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
O	?= $(TOP)/build
ifneq ($(words $(O)),1)
$(error O is '$(O)': it must name one directory, without a space)
endif
override O := $(abspath $(O))
VERSION	:= $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"$$/\1/p' $(TOP)/dkms.conf)

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
LIBDIR	?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
INSTALL	?= install

# make has its own defaults for CC and AR. A CC given alone names its binutils, too.
ifneq ($(origin CC),default)
CROSS_COMPILE ?= $(patsubst %-gcc,%-,$(filter %-gcc,$(CC)))
else
CC	:= $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR	:= $(CROSS_COMPILE)ar
endif
OBJCOPY	?= $(CROSS_COMPILE)objcopy
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config

CFLAGS	?= -O2 -g
WERROR	?= -Werror
ALL_CPPFLAGS = -D_GNU_SOURCE -I$(TOP)/include -I$(TOP)/include/uapi $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 -Wall -Wextra $(WERROR) -Wmissing-prototypes -Wstrict-prototypes $(CFLAGS)

# $(call package,PC,LIBRARIES): how to link with what pkg-config knows as PC
package	= $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))

# $(call have,HEADER...): says which of the headers the compiler does not find, and
# which packages have them. Stands where a directory for objects is made.
have	= @$(TOP)/scripts/deps --have "$(1)" $(CC) $(ALL_CPPFLAGS)
