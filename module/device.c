// SPDX-License-Identifier: GPL-2.0
/* /dev/auxtrace: from system calls to sessions. */

#include <linux/auxtrace.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>
#include "device.h"
#include "info.h"
#include "session.h"
#include "trigger/set.h"

union arg {
	u32 size;
	struct auxtrace_info info;
	struct auxtrace_setup setup;
	struct auxtrace_start start;
	struct auxtrace_control control;
	struct auxtrace_status status;
	struct auxtrace_task task;
	struct auxtrace_trigger trigger;
	struct auxtrace_trigger_state trigger_state;
	struct auxtrace_snapshot snapshot;
	struct auxtrace_release release;
	struct auxtrace_output output;
};

static int do_info(struct auxt_session *session, union arg *arg)
{
	return auxt_info(&arg->info);
}

static int do_setup(struct auxt_session *session, union arg *arg)
{
	return auxt_session_setup(session, &arg->setup);
}

static int do_start(struct auxt_session *session, union arg *arg)
{
	return auxt_session_start(session, &arg->start);
}

static int do_stop(struct auxt_session *session, union arg *arg)
{
	return auxt_session_stop(session, &arg->start);
}

static int do_pause(struct auxt_session *session, union arg *arg)
{
	return auxt_session_pause(session, &arg->control);
}

static int do_resume(struct auxt_session *session, union arg *arg)
{
	return auxt_session_resume(session, &arg->control);
}

static int do_snapshot(struct auxt_session *session, union arg *arg)
{
	return auxt_session_snapshot(session, &arg->snapshot);
}

static int do_release(struct auxt_session *session, union arg *arg)
{
	return auxt_session_release(session, &arg->release);
}

static int do_status(struct auxt_session *session, union arg *arg)
{
	return auxt_session_status(session, &arg->status);
}

static int do_task(struct auxt_session *session, union arg *arg)
{
	return auxt_task(&arg->task);
}

static int do_pause_output(struct auxt_session *session, union arg *arg)
{
	return auxt_session_pause_output(session, &arg->output);
}

static int do_trigger_add(struct auxt_session *session, union arg *arg)
{
	struct auxt_trigger_set *set = auxt_session_triggers(session);

	return set ? auxt_trigger_set_add(set, &arg->trigger) : -EBADFD;
}

static int do_trigger_del(struct auxt_session *session, union arg *arg)
{
	struct auxt_trigger_set *set = auxt_session_triggers(session);

	return set ? auxt_trigger_set_del(set, &arg->trigger_state) : -EBADFD;
}

static int do_trigger_read(struct auxt_session *session, union arg *arg)
{
	struct auxt_trigger_set *set = auxt_session_triggers(session);

	return set ? auxt_trigger_set_read(set, &arg->trigger_state) : -EBADFD;
}

/**
 * struct command - an ioctl
 * @number: its number
 * @size: of its struct today
 * @min_size: of its struct when first published
 * @handler: does it
 * @answer: where its first out_* member is: from there on it is written back; 0: none
 */
struct command {
	unsigned int number;
	u32 size;
	u32 min_size;
	int (*handler)(struct auxt_session *session, union arg *arg);
	u32 answer;
};

#define COMMAND(_name, _struct, _last_published, _handler, _answer) {	\
	.number = AUXTRACE_IOC_##_name,					\
	.size = sizeof(struct _struct),					\
	.min_size = offsetofend(struct _struct, _last_published),	\
	.handler = _handler,						\
	.answer = _answer,						\
}

static const struct command commands[] = {
	COMMAND(INFO, auxtrace_info, out_tsc_khz, do_info,
		offsetof(struct auxtrace_info, out_abi_version)),
	COMMAND(SETUP, auxtrace_setup, aux_watermark, do_setup, 0),
	COMMAND(START, auxtrace_start, flags, do_start, 0),
	COMMAND(STOP, auxtrace_start, flags, do_stop, 0),
	COMMAND(PAUSE, auxtrace_control, reserved, do_pause,
		offsetof(struct auxtrace_control, out_count)),
	COMMAND(RESUME, auxtrace_control, reserved, do_resume,
		offsetof(struct auxtrace_control, out_count)),
	COMMAND(STATUS, auxtrace_status, out_pmis, do_status,
		offsetof(struct auxtrace_status, out_state)),
	COMMAND(TASK, auxtrace_task, out_cr3_mask, do_task,
		offsetof(struct auxtrace_task, out_cr3)),
	COMMAND(SNAPSHOT, auxtrace_snapshot, reserved, do_snapshot,
		offsetof(struct auxtrace_snapshot, out_count)),
	COMMAND(RELEASE, auxtrace_release, cpu, do_release, 0),
	COMMAND(PAUSE_OUTPUT, auxtrace_output, cpus, do_pause_output, 0),
	COMMAND(TRIGGER_ADD, auxtrace_trigger, reserved, do_trigger_add,
		offsetof(struct auxtrace_trigger, out_id)),
	COMMAND(TRIGGER_DEL, auxtrace_trigger_state, out_missed, do_trigger_del,
		offsetof(struct auxtrace_trigger_state, out_hits)),
	COMMAND(TRIGGER_READ, auxtrace_trigger_state, out_missed, do_trigger_read,
		offsetof(struct auxtrace_trigger_state, out_hits)),
};

static int answer(const struct command *command, void __user *user, const union arg *arg, u32 size)
{
	const char *from = (const char *)arg + command->answer;

	user += command->answer;
	size -= command->answer;
	/* PAUSE and RESUME answer one word: it need not take longer than they do. */
	if (size == sizeof(u64))
		return put_user(*(const u64 *)from, (u64 __user *)user);
	return copy_to_user(user, from, size) ? -EFAULT : 0;
}

static long run(const struct command *command, struct auxt_session *session, void __user *user)
{
	union arg arg;
	u32 size;
	int err;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < command->min_size)
		return -EINVAL;
	err = copy_struct_from_user(&arg, command->size, user, size);
	if (err)
		return err;
	/* Another thread may have changed it between the two reads. */
	arg.size = size;
	size = min(size, command->size);
	/* What cannot be answered must not be done. */
	if (command->answer && answer(command, user, &arg, size))
		return -EFAULT;
	err = command->handler(session, &arg);
	if (!err && command->answer)
		err = answer(command, user, &arg, size);
	return err;
}

static long device_ioctl(struct file *file, unsigned int number, unsigned long user)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].number == number)
			return run(&commands[i], file->private_data, (void __user *)user);
	return -ENOTTY;
}

static int device_open(struct inode *inode, struct file *file)
{
	struct auxt_session *session = auxt_session_new();

	if (!session)
		return -ENOMEM;
	file->private_data = session;
	return stream_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	auxt_session_free(file->private_data);
	return 0;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	return auxt_session_mmap(file->private_data, vma);
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	return auxt_session_poll(file->private_data, file, wait);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.poll = device_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "auxtrace",
	.fops = &device_fops,
	.mode = 0600,
};

/**
 * auxt_device_init() - be seen
 *
 * Return: 0 or an errno.
 */
int auxt_device_init(void)
{
	return misc_register(&device);
}

/** auxt_device_exit() - be seen no more; no file is open */
void auxt_device_exit(void)
{
	misc_deregister(&device);
}
