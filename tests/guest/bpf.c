// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf NUMBER: two BPF programs that come and go one after the other. Each filters the packets of a socket, so many, and
 * is freed half a second later, so that a recorder can read it. The second is likely where the first was.
 */
#include <err.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_ATTACH_BPF
#define SO_ATTACH_BPF	50
#endif

#define INSN(_code, _dst, _src, _off, _imm) \
	((struct bpf_insn){ .code = (_code), .dst_reg = (_dst), .src_reg = (_src), .off = (_off), .imm = (_imm) })

/* Goes @rounds times through a loop and accepts the packet, of which it lets two bytes pass. */
static int load(const char *name, int rounds)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, rounds),
		/* The machine's instruction has another length for each program: the loop is elsewhere. */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, rounds & 4 ? 0 : 0x123456),
		INSN(BPF_ALU64 | BPF_SUB | BPF_K, BPF_REG_0, 0, 0, 1),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, -2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 2),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char log[4096];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd;

	strcpy(attr.prog_name, name);
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		err(1, "the BPF program %s: %s", name, log);
	return fd;
}

static void filter(const char *name, int rounds, int number)
{
	int pair[2], fd = load(name, rounds);

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		err(1, "socketpair");
	if (setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd)))
		err(1, "SO_ATTACH_BPF");
	for (int i = 0; i < number; i++) {
		char packet[2];

		if (send(pair[0], "ok", 2, 0) != 2 || read(pair[1], packet, 2) != 2)
			err(1, "packet %d", i);
	}
	usleep(500000);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	/* The kernel frees it later. */
	usleep(500000);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int number = argc == 2 ? atoi(argv[1]) : 0;

	if (number <= 0)
		errx(2, "usage: bpf NUMBER");
	/* Before Linux 5.11 the memory of BPF programs is locked memory of the user. */
	if (setrlimit(RLIMIT_MEMLOCK, &unlimited))
		err(1, "RLIMIT_MEMLOCK");
	filter("first", 3, number);
	filter("second", 5, number);
	return 0;
}
