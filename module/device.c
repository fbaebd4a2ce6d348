// SPDX-License-Identifier: GPL-2.0-only
/* /dev/auxtrace: passes each system call to the function that carries it out. */

#include <linux/auxtrace.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>
#include "answer.h"
#include "device.h"
#include "info.h"
#include "session.h"
#include "verbs.h"

/* The structs of all ioctls. */
union device_arg {
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

/**
 * struct device_command - an ioctl
 * @number: AUXTRACE_IOC_*
 * @size: size of its struct in this version
 * @min_size: size of its struct in version 2, the first of this ABI
 * @run: carries the ioctl out; @data is the struct. Returns 0 or an errno of the ABI
 * @answer: offset of the first out_* member: the struct is written back from there on; 0: the
 *	struct has no such member
 */
struct device_command {
	unsigned int number;
	u32 size;
	u32 min_size;
	int (*run)(struct auxt_session *session, void *data);
	u32 answer;
};

#define COMMAND(_name, _struct, _last, _run, _answer) {	\
	.number = AUXTRACE_IOC_##_name,					\
	.size = sizeof(struct _struct) +				\
		BUILD_BUG_ON_ZERO(sizeof(struct _struct) > sizeof(union device_arg)), \
	.min_size = offsetofend(struct _struct, _last),	\
	.run = _run,							\
	.answer = _answer,						\
}

static const struct device_command device_commands[] = {
	COMMAND(INFO, auxtrace_info, out_time_shift, auxt_info,
		offsetof(struct auxtrace_info, out_caps_len)),
	COMMAND(SETUP, auxtrace_setup, slots, auxt_setup, 0),
	COMMAND(START, auxtrace_start, flags, auxt_start, 0),
	COMMAND(STOP, auxtrace_start, flags, auxt_stop, 0),
	COMMAND(PAUSE, auxtrace_control, reserved, auxt_pause, 0),
	COMMAND(RESUME, auxtrace_control, reserved, auxt_resume, 0),
	COMMAND(STATUS, auxtrace_status, out_data_lost, auxt_status,
		offsetof(struct auxtrace_status, out_state)),
	COMMAND(TASK, auxtrace_task, out_context_mask, auxt_task,
		offsetof(struct auxtrace_task, out_context)),
	COMMAND(SNAPSHOT, auxtrace_snapshot, out_slot, auxt_snapshot,
		offsetof(struct auxtrace_snapshot, out_count)),
	COMMAND(RELEASE, auxtrace_release, cpu, auxt_release, 0),
	COMMAND(PAUSE_OUTPUT, auxtrace_output, cpus, auxt_pause_output, 0),
	COMMAND(TRIGGER_ADD, auxtrace_trigger, reserved, auxt_add_trigger,
		offsetof(struct auxtrace_trigger, out_id)),
	COMMAND(TRIGGER_DEL, auxtrace_trigger_state, out_missed, auxt_del_trigger,
		offsetof(struct auxtrace_trigger_state, out_hits)),
	COMMAND(TRIGGER_READ, auxtrace_trigger_state, out_missed, auxt_read_trigger,
		offsetof(struct auxtrace_trigger_state, out_hits)),
};

static long device_run(const struct device_command *command, struct auxt_session *session,
		       void __user *user)
{
	struct auxt_answer answer;
	union device_arg arg;
	u32 size, len = 0;
	int err;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < command->min_size)
		return -EINVAL;
	/* No struct will be longer, and the check for zeroes below must end soon. */
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&arg, command->size, user, size);
	if (err)
		return err;
	/* Another thread may have changed the size between the two reads. */
	arg.size = size;
	size = min(size, command->size);
	if (command->answer)
		len = size - command->answer;
	err = auxt_answer_pin(&answer, (unsigned long)user + command->answer, len);
	if (err)
		return err;
	err = command->run(session, &arg);
	if (!err)
		auxt_answer_write(&answer, 0, (char *)&arg + command->answer, len);
	auxt_answer_unpin(&answer);
	return err;
}

static long device_ioctl(struct file *file, unsigned int number, unsigned long user)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(device_commands); i++)
		if (device_commands[i].number == number)
			return device_run(&device_commands[i], file->private_data,
					  (void __user *)user);
	return -ENOTTY;
}

static int device_open(struct inode *inode, struct file *file)
{
	struct auxt_session *session = auxt_session_new();

	if (!session)
		return -ENOMEM;
	auxt_poll_init(session);
	file->private_data = session;
	return stream_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	struct auxt_session *session = file->private_data;

	auxt_poll_end(session);
	auxt_stop_at_close(session);
	auxt_undo_setup(session);
	auxt_session_free(session);
	return 0;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	return auxt_session_mmap(file->private_data, vma);
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	return auxt_poll(file->private_data, file, wait);
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

static struct miscdevice device_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "auxtrace",
	.fops = &device_fops,
	.mode = 0600,
};

/**
 * auxt_device_init() - create /dev/auxtrace
 *
 * Return: 0 or the errno of misc_register().
 */
int auxt_device_init(void)
{
	return misc_register(&device_misc);
}

/** auxt_device_exit() - remove /dev/auxtrace, of which no file is open */
void auxt_device_exit(void)
{
	misc_deregister(&device_misc);
}
