// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program that uses every call of the ABI, without a C library: `gcc -m32` finds none on a
 * 64-bit system. test_compat.c runs it with the number of a CPU. Its exit status is 0, or the number
 * of the step that failed.
 */
#include <asm/unistd_32.h>
#include <linux/auxtrace.h>

#define O_RDWR		2
#define PROT_READ	1
#define PROT_WRITE	2
#define MAP_SHARED	1
#define AUX_SIZE	(64u << 10)
#define DATA_SIZE	4096u
#define PAGE		4096u

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	/* %ebp is the sixth argument, and no operand can be there. */
	asm volatile("pushl %7\n\tpushl %%ebp\n\tmovl 4(%%esp), %%ebp\n\tint $0x80\n\t"
		     "popl %%ebp\n\taddl $4, %%esp"
		     : "=a" (ret)
		     : "0" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e), "m" (f)
		     : "memory");
	return ret;
}

static long call3(long nr, long a, long b, long c)
{
	return call6(nr, a, b, c, 0, 0, 0);
}

static void leave(int status)
{
	for (;;)
		call3(__NR_exit, status, 0, 0);
}

static void must(int step, int good)
{
	if (!good)
		leave(step);
}

static int device;

static int control(unsigned int nr, void *arg)
{
	return call3(__NR_ioctl, device, nr, (long)arg);
}

static void *map(unsigned int cpu, unsigned int region, unsigned int len, int prot)
{
	__u64 offset = AUXTRACE_MMAP_OFFSET(cpu, region);
	long ret = call6(__NR_mmap2, 0, len, prot, MAP_SHARED, device, offset / PAGE);

	/* An errno, or the offset has bits that mmap2(2) cannot carry. */
	if ((unsigned long)ret >= -4095ul || offset / PAGE > 0xffffffff)
		return 0;
	return (void *)ret;
}

static unsigned int number(const char *s)
{
	unsigned int n = 0;

	while (*s)
		n = n * 10 + *s++ - '0';
	return n;
}

#define SIZED(type)	struct type arg = { .size = sizeof(arg) }

static void learn(void)
{
	static char caps[1024] __attribute__((aligned(8)));
	struct auxtrace_cap_pmu *pmu = (void *)caps;

	SIZED(auxtrace_info);
	arg.caps = (unsigned long)caps;
	arg.caps_len = sizeof(caps);
	must(1, !control(AUXTRACE_IOC_INFO, &arg));
	must(2, arg.out_abi_version == AUXTRACE_ABI_VERSION && arg.out_page_size == PAGE);
	must(3, arg.out_clock == AUXTRACE_CLOCK_TSC && arg.out_clock_hz);
	must(4, pmu->cap.tag == AUXTRACE_CAP_PMU(0) && !pmu->pmu && !pmu->state);
}

static void set_up(unsigned int cpu, __u32 pmu)
{
	static unsigned char cpus[128];

	SIZED(auxtrace_setup);
	cpus[cpu / 8] = 1 << cpu % 8;
	arg.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE;
	arg.pmu = pmu;
	arg.cpus = (unsigned long)cpus;
	arg.cpus_len = cpu / 8 + 1;
	arg.aux_size = AUX_SIZE;
	arg.data_size = DATA_SIZE;
	arg.slots = 2;
	must(10, !control(AUXTRACE_IOC_SETUP, &arg));
}

static void check_task(void)
{
	SIZED(auxtrace_task);
	must(20, !control(AUXTRACE_IOC_TASK, &arg) && arg.out_context);
}

/* (System calls of 32-bit programs are no events of SYSCALL triggers.) */
static __u32 add_timer(void)
{
	SIZED(auxtrace_trigger);
	arg.kind = AUXTRACE_TRIGGER_TIMER;
	arg.action = AUXTRACE_ACTION_SAMPLE;
	arg.bound_ns = 1000000;
	arg.sample_size = 512;
	must(30, !control(AUXTRACE_IOC_TRIGGER_ADD, &arg) && arg.out_id == 1);
	return arg.out_id;
}

static void change_state(int step, unsigned int nr)
{
	SIZED(auxtrace_start);
	must(step, !control(nr, &arg));
}

static struct auxtrace_effect control_all(int step, unsigned int nr)
{
	struct auxtrace_effect effect;

	SIZED(auxtrace_control);
	arg.effects = (unsigned long)&effect;
	arg.effects_len = 1;
	arg.effect_size = sizeof(effect);
	must(step, !control(nr, &arg) && effect.flags == AUXTRACE_EFFECT_CHANGED);
	return effect;
}

static void check_trigger(__u32 id)
{
	SIZED(auxtrace_trigger_state);
	arg.id = id;
	for (unsigned int i = 0; i < 1000000 && !arg.out_acted; i++)
		must(53, !control(AUXTRACE_IOC_TRIGGER_READ, &arg));
	must(50, arg.out_acted);
	must(51, arg.out_hits == arg.out_acted + arg.out_held + arg.out_idle + arg.out_missed);
	must(52, !control(AUXTRACE_IOC_TRIGGER_DEL, &arg));
}

static void take_snapshot(void)
{
	struct auxtrace_cut cut;
	struct auxtrace_release release = { .size = sizeof(release) };

	SIZED(auxtrace_snapshot);
	arg.flags = AUXTRACE_SNAPSHOT_SLOT;
	arg.cuts = (unsigned long)&cut;
	arg.cuts_len = 1;
	arg.cut_size = sizeof(cut);
	must(60, !control(AUXTRACE_IOC_SNAPSHOT, &arg) && arg.out_count == 1);
	must(61, cut.slot == arg.out_slot && cut.aux_end > cut.aux_begin && cut.data_end);
	release.slot = arg.out_slot;
	must(62, !control(AUXTRACE_IOC_RELEASE, &release));
}

static void pause_output(void)
{
	SIZED(auxtrace_output);
	arg.pause = 1;
	must(70, !control(AUXTRACE_IOC_PAUSE_OUTPUT, &arg));
}

static void check_status(const struct auxtrace_status_page *page)
{
	SIZED(auxtrace_status);
	must(80, !control(AUXTRACE_IOC_STATUS, &arg) && arg.out_state == AUXTRACE_STATE_STARTED);
	must(81, arg.out_produced == page->produced && arg.out_windows == page->windows);
	must(82, arg.out_data_produced == page->data_head);
}

static void run(unsigned int cpu, __u32 pmu)
{
	struct auxtrace_status_page *page;
	struct auxtrace_user_page *user;
	const unsigned char *aux, *data;
	struct auxtrace_effect effect;
	unsigned int bytes = 0;
	__u32 id;

	device = call3(__NR_open, (long)"/dev/auxtrace", O_RDWR, 0);
	must(100, device >= 0);
	learn();
	set_up(cpu, pmu);
	check_task();
	page = map(cpu, AUXTRACE_REGION_STATUS, PAGE, PROT_READ);
	user = map(cpu, AUXTRACE_REGION_USER, PAGE, PROT_READ | PROT_WRITE);
	aux = map(cpu, AUXTRACE_REGION_AUX, AUX_SIZE, PROT_READ);
	data = map(cpu, AUXTRACE_REGION_DATA, DATA_SIZE, PROT_READ);
	must(101, page && user && aux && data);
	must(102, page->size == sizeof(*page) && page->cpu == cpu && page->aux_size == AUX_SIZE);
	id = add_timer();
	change_state(40, AUXTRACE_IOC_START);
	call3(__NR_getpid, 0, 0, 0);
	take_snapshot();
	effect = control_all(41, AUXTRACE_IOC_PAUSE);
	must(103, effect.cpu == cpu && effect.position == page->window_end);
	must(104, effect.time == page->window_end_time && page->windows == effect.window);
	control_all(42, AUXTRACE_IOC_RESUME);
	call3(__NR_getpid, 0, 0, 0);
	check_trigger(id);
	pause_output();
	control_all(43, AUXTRACE_IOC_PAUSE);
	check_status(page);
	user->data_tail = page->data_head;
	for (unsigned int i = 0; i < AUX_SIZE; i++)
		bytes += !!aux[i];
	must(105, bytes > 16 && ((const struct auxtrace_record_header *)data)->size);
	change_state(44, AUXTRACE_IOC_STOP);
	leave(0);
}

/* The stack begins with argc and argv. */
__attribute__((used)) static void begin(long *stack)
{
	char **argv = (char **)(stack + 1);

	must(110, stack[0] == 3);
	run(number(argv[1]), number(argv[2]));
}

asm(".globl _start\n_start:\n\tmovl %esp, %eax\n\tandl $-16, %esp\n\tsubl $12, %esp\n\tpushl %eax\n\tcall begin\n");
