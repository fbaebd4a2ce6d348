# SPDX-License-Identifier: LGPL-2.1-or-later
# What libauxtrace-decode consists of, relative to the repository: decodelib/Makefile and tests/unit/tools include this.
DECODE_SOURCES := $(patsubst $(TOP)/%,%,$(sort $(wildcard $(TOP)/decodelib/*.c))) \
	$(addprefix tools/decode/, added.c bts_flow.c calls.c calls_cut.c code_blocks.c code_image.c flow_event.c functions.c \
	insn.c jit.c kernel_lines.c object.c pokes.c pt_events.c pt_flow.c pt_packets.c pt_walk.c queue.c records.c relay.c replay.c reported.c \
	runs.c side.c stacks.c tasks.c threads.c window_span.c) \
	$(addprefix tools/lib/, debug_file.c meta.c perf_trailer.c plain.c say_hook.c source_lines.c symbol_shown.c symbols.c util.c)
DECODE_LDLIBS := -lipt -lZydis $(call package,libdw,-ldw) $(call package,libelf,-lelf) -liberty -lpthread
