// SPDX-License-Identifier: GPL-2.0-only
#include "recording_case.h"

#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char dir[64];
struct auxtrace_session *session;

static void begin_device(void **state)
{
	fake_new(state);
	/* What is written is then told to the byte; O_DIRECT has tests of its own. */
	fake.no_direct = true;
}

void new_device(void **state)
{
	fake_end(state);
	begin_device(state);
}

int begin_recording(void **state)
{
	/* Some tests duplicate descriptor 0, so it must be open. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) != STDIN_FILENO)
		return -1;
	begin_device(state);
	snprintf(dir, sizeof(dir), "%s/auxtrace-test.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

int end_recording(void **state)
{
	char command[128];

	auxtrace_close(session);
	session = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) | fake_end(state);
}

void set_up(const char *cpus, uint32_t flags)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = cpus, .config = "tsc", .aux_size = SIZE, .flags = flags,
	};

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
}

struct auxtrace_recording *new_recording(const char *cpus, uint32_t flags)
{
	struct auxtrace_recording *rec;

	set_up(cpus, flags);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	return rec;
}

void need_uring(void)
{
	struct io_uring ring;
	int err = io_uring_queue_init(1, &ring, 0);

	if (err) {
		print_message("no io_uring: %s\n", strerror(-err));
		skip();
	}
	io_uring_queue_exit(&ring);
}

void produce(unsigned int cpu, uint64_t to)
{
	struct fake_channel *ch = &fake.channel[cpu];

	for (uint64_t p = ch->status->produced; p < to; p++)
		ch->aux[p % SIZE] = p * 31 + p / 256 + cpu;
	ch->status->produced = to;
	if (fake.setup.flags & AUXTRACE_SETUP_OVERWRITE)
		ch->status->overwritten = to > SIZE ? to - SIZE : 0;
}

const char *named(const char *format, ...)
{
	static char name[128];
	va_list ap;

	va_start(ap, format);
	assert_true(vsnprintf(name, sizeof(name), format, ap) < (int)sizeof(name));
	va_end(ap);
	return name;
}

char *slurp(const char *name, size_t *size)
{
	char path[128], *text;
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = calloc(1, st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, st.st_size, f), st.st_size);
	fclose(f);
	if (size)
		*size = st.st_size;
	return text;
}

void expect_in(const char *name, const char *text)
{
	char *content = slurp(name, NULL);

	if (!strstr(content, text))
		fail_msg("%s does not have \"%s\" but:\n%s", name, text, content);
	free(content);
}

void expect_not_in(const char *name, const char *text)
{
	char *content = slurp(name, NULL);

	assert_null(strstr(content, text));
	free(content);
}

bool exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

unsigned int mode_of(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

void expect_aux_behind(const char *prefix, unsigned int cpu, uint64_t from, uint64_t to,
			      size_t pad)
{
	size_t size;
	uint8_t *data = (uint8_t *)slurp(named("%scpu%u.aux", prefix, cpu), &size);

	assert_int_equal(size, pad + to - from);
	for (size_t i = 0; i < pad; i++)
		assert_int_equal(data[i], 0);
	for (uint64_t p = from; p < to; p++)
		assert_int_equal(data[pad + p - from], (uint8_t)(p * 31 + p / 256 + cpu));
	free(data);
}

void expect_aux(unsigned int cpu, uint64_t from, uint64_t to)
{
	expect_aux_behind("", cpu, from, to, 0);
}

uint64_t number_in(const char *name, const char *key)
{
	char *text = slurp(name, NULL), *at = strstr(text, key);
	uint64_t value;

	assert_non_null(at);
	value = strtoull(at + strlen(key), NULL, 0);
	free(text);
	return value;
}

uint64_t value_of(const char *suffix, const char *key)
{
	return number_in(named("task.%d%s", getpid(), suffix), key);
}

int descriptor_of(const char *name)
{
	for (int fd = 3; fd < 64; fd++) {
		char link[64], target[256] = "";

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, name))
			return fd;
	}
	fail_msg("%s is not open", name);
	return -1;
}

void need_direct(void)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s.try", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	unlink(path);
	if (fd < 0) {
		print_message("no O_DIRECT below %s\n", dir);
		skip();
	}
	close(fd);
	fake.no_direct = false;
}

void set_up_data(uint32_t flags, uint32_t slots)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0,1", .config = "tsc", .flags = flags,
		.aux_size = (slots ?: 1) * SIZE, .data_size = (slots ?: 1) * PAGE, .slots = slots,
	};

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
}

uint64_t expect_records(const char *name, uint64_t last)
{
	const union auxtrace_record *record;
	uint64_t count = 0, n = 0;
	size_t size, at = 0;
	char *data = slurp(name, &size);

	while ((record = auxtrace_record_next(data, size, &at))) {
		assert_true(!n || record_number(record) == n + 1);
		n = record_number(record);
		count++;
	}
	assert_int_equal(at, size);
	assert_int_equal(n, last);
	free(data);
	return count;
}

uint32_t next_slot;

void take_slot(unsigned int cpu, struct auxtrace_cut *cut)
{
	switch_slot(cpu, next_slot, cut);
}

void produce_in_slot(unsigned int cpu, uint64_t count)
{
	struct fake_channel *ch = &fake.channel[cpu];

	for (uint64_t p = ch->status->produced, to = p + count; p < to; p++)
		ch->aux[ch->status->slot * SIZE + p % SIZE] = p * 31 + p / 256 + cpu;
	ch->status->produced += count;
}
