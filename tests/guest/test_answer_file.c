// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call returns in memory that is a file, mapped shared, of a file system that writes pages back:
 * on a machine with a disk (tests/host/area.sh). On tmpfs nothing is to be seen, whose pages are never
 * clean.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "machine.h"
#include "pmu.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	space_for(64 * 1024)
#define MOUNT_POINT	"/tmp/answer"
#define MAPPED_FILE	MOUNT_POINT "/file"

static void mount_disk(bool empty)
{
	const char *disk = getenv("AUXTRACE_DISK");
	char command[128];

	if (!disk || access(disk, W_OK))
		skip_test("$AUXTRACE_DISK names no disk");
	if (empty) {
		snprintf(command, sizeof(command), "mke2fs %s > /dev/null 2>&1", disk);
		assert_int_equal(system(command), 0);
		mkdir(MOUNT_POINT, 0700);
	}
	/* The ext4 driver mounts ext2, too. */
	if (mount(disk, MOUNT_POINT, "ext4", 0, NULL))
		fail_msg("mount: %s", strerror(errno));
}

static void *map_file(void)
{
	int fd = open(MAPPED_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *file;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * page_size), 0);
	file = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	close(fd);
	return file;
}

struct add {
	struct session *s;
	struct auxtrace_trigger *arg;
	int ret;
};

static void *add_run(void *arg)
{
	struct add *add = arg;

	add->ret = at_ioctl(add->s->fd, AUXTRACE_IOC_TRIGGER_ADD, add->arg);
	return NULL;
}

/*
 * The file's page is written back, and so clean, when the module has pinned it and has not written its
 * answer yet: it waits for the trigger's name. After that nothing but the module says that the page
 * is dirty again.
 */
static void an_answer_in_a_mapped_file_reaches_the_file(void **state)
{
	struct auxtrace_info info;
	struct auxtrace_trigger *arg;
	struct session s;
	struct fault f;
	struct add add;
	pthread_t thread;
	uint8_t *file, *told;
	uint32_t id;

	mount_disk(true);
	fault_begin(&f);
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_setup(&s);
	file = map_file();
	told = malloc(2 * page_size);
	assert_non_null(told);

	/* In the second page all that INFO says. */
	info = (struct auxtrace_info){
		.size = sizeof(info), .caps = (uintptr_t)file + page_size, .caps_len = page_size,
	};
	ok_ioctl(s.fd, AUXTRACE_IOC_INFO, &info);
	assert_true(info.out_caps_len > 0);

	/* In the first a trigger. */
	arg = (struct auxtrace_trigger *)file;
	*arg = trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE, CALL_FUNCTION, 0);
	arg->size = sizeof(*arg);
	arg->name = (uintptr_t)f.page;
	add = (struct add){ .s = &s, .arg = arg };
	assert_int_equal(pthread_create(&thread, NULL, add_run, &add), 0);
	fault_wait(&f);
	assert_int_equal(msync(file, 2 * page_size, MS_SYNC), 0);
	fault_end(&f, CALL_FUNCTION);
	pthread_join(thread, NULL);
	assert_int_equal(add.ret, 0);
	id = arg->out_id;
	assert_int_equal(id, 1);
	memcpy(told, file, 2 * page_size);
	munmap(file, 2 * page_size);
	session_close(&s);
	fault_close(&f);

	/* From the disk. */
	assert_int_equal(umount(MOUNT_POINT), 0);
	mount_disk(false);
	file = map_file();
	assert_int_equal(((struct auxtrace_trigger *)file)->out_id, id);
	assert_memory_equal(file, told, 2 * page_size);
	munmap(file, 2 * page_size);
	free(told);
	assert_int_equal(umount(MOUNT_POINT), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(an_answer_in_a_mapped_file_reaches_the_file),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
