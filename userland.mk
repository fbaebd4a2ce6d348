# SPDX-License-Identifier: GPL-2.0-only
# Shared by the Makefiles of library, command, man pages and examples: directories, tools and flags.
# These can be set on the command line or in the environment:
#
#   O                              build in this directory (default: build/)
#   CROSS_COMPILE                  prefix of the tools, or set CC AR OBJCOPY PKG_CONFIG
#   CFLAGS CPPFLAGS LDFLAGS        added behind the flags that the sources need
#   WERROR=                        do not turn warnings into errors
#   SHARED=1                       link the command with libauxtrace.so, not with libauxtrace.a
#   DESTDIR PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR INSTALL
#   BASHDIR ZSHDIR FISHDIR         where completions go
#   PYTHONDIR                      where the Python module goes
#   LIBEXECDIR UDEVDIR UNITDIR SYSUSERSDIR TMPFILESDIR DOCDIR
#                                  where the system's files go: system/Makefile
#   DKMSDIR                        where `make dkms-install` puts the module's source
#   DKMSTREE                       where DKMS has what it built, from which `make uninstall` removes the module
#   V=1                            show the commands

# make and the kernel's build would take such a path for two.
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
# tests/version.sh checks the files that must repeat it.
VERSION	:= $(shell cat $(TOP)/VERSION)

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
LIBDIR	?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
FISHDIR	?= $(PREFIX)/share/fish/vendor_completions.d
# Where python3 finds modules: Debian's own directory has no version in its name, that below another prefix has.
ifeq ($(PREFIX),/usr)
PYTHONDIR ?= /usr/lib/python3/dist-packages
else
PYTHONDIR ?= $(or $(firstword $(filter $(PREFIX)/lib/%,$(shell /usr/bin/python3 -c 'import site; print(*site.getsitepackages())' \
	     2>/dev/null))),$(PREFIX)/lib/python3/dist-packages)
endif
# DKMS finds sources nowhere else, whatever the prefix.
DKMSDIR	?= /usr/src/auxtrace-$(VERSION)
# What DKMS has built
DKMSTREE ?= /var/lib/dkms
INSTALL	?= install

# make has defaults of its own for CC and AR. If only CC is set, its prefix applies to all.
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
ALL_CPPFLAGS = -D_GNU_SOURCE -I$(TOP) -I$(TOP)/include -I$(TOP)/include/uapi $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 -Wall -Wextra $(WERROR) -Wmissing-prototypes -Wstrict-prototypes $(CFLAGS)

# $(call package,PC,LIBRARIES): the link flags that pkg-config has for PC, else LIBRARIES
package	= $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))

# $(call have,HEADER...): stops if the compiler does not find one of the headers, and names
# its package. The rule that makes a directory for objects calls it, so once a build.
have	= @$(TOP)/scripts/deps --have "$(1)" $(CC) $(ALL_CPPFLAGS)
