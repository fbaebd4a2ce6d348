# SPDX-License-Identifier: GPL-2.0-only
# Finds out which interfaces the kernel's headers have, by searching them: stable trees and
# distributions backport interface changes, so the version is no answer. A pattern must not contain
# a comma or a parenthesis, which make would interpret: write "." instead.

auxt_has = $(if $(shell grep -m1 -E '$(2)' $(srctree)/$(1) 2>/dev/null),y)

# All kernels have this one. If it is not found, the search itself is broken.
ifneq ($(call auxt_has,include/linux/mm.h,vm_insert_page),y)
$(error auxtrace: cannot read $(srctree)/include/linux/mm.h)
endif

ccflags-$(call auxt_has,include/linux/mm.h,vma_set_file) += -DAUXT_HAVE_VMA_SET_FILE
ccflags-$(call auxt_has,include/linux/mm.h,vm_flags_set.struct) += -DAUXT_HAVE_VM_FLAGS_SET
ccflags-$(call auxt_has,include/linux/panic_notifier.h,panic_notifier_list) += \
	-DAUXT_HAVE_PANIC_NOTIFIER
ccflags-$(call auxt_has,include/linux/hrtimer.h,hrtimer_setup.struct) += -DAUXT_HAVE_HRTIMER_SETUP
ccflags-$(call auxt_has,arch/x86/include/asm/cpuid/api.h,cpuid_count) += -DAUXT_HAVE_CPUID_API
ccflags-$(call auxt_has,arch/x86/include/asm/mmu.h,lam_cr3_mask;) += -DAUXT_HAVE_LAM
ccflags-$(call auxt_has,include/linux/irq_work.h,IRQ_WORK_INIT_HARD) += \
	-DAUXT_HAVE_IRQ_WORK_INIT_HARD
ccflags-$(call auxt_has,include/linux/workqueue.h,system_dfl_wq;) += -DAUXT_HAVE_SYSTEM_DFL_WQ
ccflags-$(call auxt_has,include/linux/memcontrol.h,MEMCG_DATA_KMEM) += -DAUXT_HAVE_MAPPED_KMEM
ccflags-$(call auxt_has,include/linux/fs.h,path_permission.const) += -DAUXT_HAVE_PATH_PERMISSION
ccflags-$(call auxt_has,include/linux/kprobes.h,get_kretprobe) += -DAUXT_HAVE_GET_KRETPROBE
ccflags-$(call auxt_has,include/linux/uprobes.h,uprobe_unregister_sync) += -DAUXT_HAVE_UPROBE_OBJECT
ccflags-$(call auxt_has,include/linux/uprobes.h,handler.*__u64 .data) += -DAUXT_HAVE_UPROBE_SESSION
ccflags-$(call auxt_has,include/linux/uprobes.h,enum uprobe_filter_ctx) += \
	-DAUXT_HAVE_UPROBE_FILTER_CTX
ccflags-$(call auxt_has,include/trace/events/sched.h,bool group_dead) += -DAUXT_HAVE_EXIT_GROUP_DEAD
ccflags-$(call auxt_has,include/trace/events/sched.h,unsigned int prev_state..$$) += \
	-DAUXT_HAVE_SWITCH_PREV_STATE
ccflags-$(call auxt_has,include/trace/events/task.h,u64 clone_flags) += -DAUXT_HAVE_NEWTASK_U64
ccflags-$(call auxt_has,include/linux/sched.h,define TASK_FREEZABLE) += -DAUXT_HAVE_TASK_FREEZABLE
ccflags-$(call auxt_has,include/linux/sched.h,sched_delayed;) += -DAUXT_HAVE_DELAYED_DEQUEUE
ccflags-$(call auxt_has,include/linux/sched/exec_state.h,struct task_exec_state .$$) += \
	-DAUXT_HAVE_EXEC_STATE
ccflags-$(call auxt_has,include/uapi/linux/perf_event.h,__u64.config3;) += -DAUXT_HAVE_PERF_CONFIG3
ccflags-$(call auxt_has,include/uapi/linux/perf_event.h,__u64.config4;) += -DAUXT_HAVE_PERF_CONFIG4
