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

union arg {
	u32 size;
	struct auxtrace_info info;
	struct auxtrace_setup setup;
	struct auxtrace_start start;
	struct auxtrace_control control;
	struct auxtrace_status status;
	struct auxtrace_task task;
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

static int do_status(struct auxt_session *session, union arg *arg)
{
	return auxt_session_status(session, &arg->status);
}

static int do_task(struct auxt_session *session, union arg *arg)
{
	return auxt_task(&arg->task);
}

/**
 * struct command - an ioctl
 * @number: its number
 * @size: of its struct today
 * @min_size: of its struct when first published
 * @handler: does it
 * @answers: the struct has out_* members: it is written back
 */
struct command {
	unsigned int number;
	u32 size;
	u32 min_size;
	int (*handler)(struct auxt_session *session, union arg *arg);
	bool answers;
};

#define COMMAND(_name, _struct, _last_published, _handler, _answers) {	\
	.number = AUXTRACE_IOC_##_name,					\
	.size = sizeof(struct _struct),					\
	.min_size = offsetofend(struct _struct, _last_published),	\
	.handler = _handler,						\
	.answers = _answers,						\
}

static const struct command commands[] = {
	COMMAND(INFO, auxtrace_info, out_tsc_khz, do_info, true),
	COMMAND(SETUP, auxtrace_setup, aux_watermark, do_setup, false),
	COMMAND(START, auxtrace_start, flags, do_start, false),
	COMMAND(STOP, auxtrace_start, flags, do_stop, false),
	COMMAND(PAUSE, auxtrace_control, reserved, do_pause, true),
	COMMAND(RESUME, auxtrace_control, reserved, do_resume, true),
	COMMAND(STATUS, auxtrace_status, out_pmis, do_status, true),
	COMMAND(TASK, auxtrace_task, out_cr3_mask, do_task, true),
};

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
	if (command->answers && copy_to_user(user, &arg, size))
		return -EFAULT;
	err = command->handler(session, &arg);
	if (!err && command->answers && copy_to_user(user, &arg, size))
		err = -EFAULT;
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
