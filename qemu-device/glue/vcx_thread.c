/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device lock and the device thread. vcx_pci.h has the rules.
 */
#include "vcx_pci.h"

/*
 * Work units of the engine for one hold of the device lock: a unit is about a
 * packet or 4 KiB copied, well below a microsecond, so a register access waits
 * some tens of microseconds at most.
 */
#define VCX_STEP_UNITS 32

/* Frames that a vCPU sends itself before it leaves the rest to the main loop. */
#define VCX_VCPU_FRAMES 8

/* Register writes that did not wait. The device lock is held. */
static void vcx_carry_out_posted(VcxState *s)
{
    VcxPostedWrite write;

    while (vcx_posted_pop(&s->thread.posted, &write)) {
        vcx_core_bar_write(s->core, write.offset, write.value, write.size);
    }
}

/* The device lock was taken, and the BQL is held. */
static void vcx_locked(VcxState *s)
{
    s->bql_section = true;
    rcu_read_lock();
    vcx_carry_out_posted(s);
}

/* The BQL is held. */
void vcx_lock(VcxState *s)
{
    qatomic_inc(&s->thread.waiters);
    qemu_mutex_lock(&s->lock);
    qatomic_dec(&s->thread.waiters);
    vcx_locked(s);
}

/* Mirror of vcx_lock(); then hands out the interrupts and frames made since. */
void vcx_unlock(VcxState *s)
{
    rcu_read_unlock();
    s->bql_section = false;
    if (s->thread.yielding) {
        qemu_cond_signal(&s->thread.turn);
    }
    qemu_mutex_unlock(&s->lock);
    vcx_deliver(s, VCX_VCPU_FRAMES);
}

/*
 * A register write of a vCPU; the BQL is held. With nobody else at work it is
 * carried out at once. Otherwise that is the device thread, which is going to
 * look for posted writes, unless it is just about to sleep. Behind a vIOMMU the
 * device thread must not do DMA, and nothing is left to it.
 */
void vcx_write_register(VcxState *s, uint64_t offset, uint64_t value,
                        unsigned int size)
{
    const VcxPostedWrite write = { offset, value, size };

    if (qemu_mutex_trylock(&s->lock) == 0) {
        vcx_locked(s);
    } else if (!s->thread.in_main_loop &&
               vcx_posted_push(&s->thread.posted, &write)) {
        smp_mb(); /* pairs with vcx_thread_sleep(): one sees the other */
        if (qatomic_read(&s->thread.sleeping)) {
            vcx_lock(s);
            vcx_unlock(s);
        }
        return;
    } else {
        vcx_lock(s);
    }
    vcx_core_bar_write(s->core, offset, value, size);
    vcx_unlock(s);
}

/*
 * A mutex is not fair: a thread that unlocks and locks again in a loop would
 * keep a vCPU waiting for as long as it has work. So the device thread lets
 * one waiter pass between two steps. One, not all: vCPUs that ring doorbells
 * without a pause must not stop the engine either.
 */
static void vcx_thread_yield(VcxState *s)
{
    if (qatomic_read(&s->thread.waiters) == 0) {
        return;
    }
    s->thread.yielding = true;
    qemu_cond_wait(&s->thread.turn, &s->lock);
    s->thread.yielding = false;
}

static bool vcx_thread_has_work(VcxState *s)
{
    return s->thread.work && s->running && !s->thread.in_main_loop;
}

static void vcx_step(VcxState *s)
{
    /* Cleared first: the core may call kick() from within the step. */
    s->thread.work = false;
    rcu_read_lock();
    if (vcx_core_run(s->core, VCX_STEP_UNITS)) {
        s->thread.work = true;
    }
    rcu_read_unlock();
}

/* Until there is work. What is posted from now on finds `sleeping` set. */
static void vcx_thread_sleep(VcxState *s)
{
    qatomic_set(&s->thread.sleeping, true);
    smp_mb(); /* pairs with vcx_write_register() */
    if (vcx_posted_is_empty(&s->thread.posted)) {
        qemu_cond_wait(&s->thread.wake, &s->lock);
    }
    qatomic_set(&s->thread.sleeping, false);
}

static void *vcx_thread_main(void *opaque)
{
    VcxState *s = opaque;

    rcu_register_thread();
    qemu_mutex_lock(&s->lock);
    while (!s->thread.quit) {
        rcu_read_lock();
        vcx_carry_out_posted(s);
        rcu_read_unlock();
        if (vcx_thread_has_work(s)) {
            vcx_step(s);
            vcx_thread_yield(s);
        } else {
            vcx_thread_sleep(s);
        }
    }
    qemu_mutex_unlock(&s->lock);
    rcu_unregister_thread();
    return NULL;
}

/* The engine under the BQL: one step for each turn of the main loop. */
static void vcx_thread_bh(void *opaque)
{
    VcxState *s = opaque;

    vcx_lock(s);
    if (s->thread.work && s->running && s->thread.in_main_loop) {
        vcx_step(s);
        if (s->thread.work) {
            qemu_bh_schedule(s->thread.bh);
        }
    }
    vcx_unlock(s);
}

/* The device lock is held. */
void vcx_thread_kick(VcxState *s)
{
    s->thread.work = true;
    if (!s->running) {
        return; /* vcx_thread_kick() is called again when it runs */
    }
    if (s->thread.in_main_loop) {
        qemu_bh_schedule(s->thread.bh);
    } else if (s->thread.sleeping) {
        qemu_cond_signal(&s->thread.wake);
    }
}

/*
 * Called whenever the guest enables bus mastering, which comes before any DMA:
 * at realize time the vIOMMU of the machine may not exist yet.
 */
void vcx_thread_choose_place(VcxState *s)
{
    AddressSpace *as = pci_device_iommu_address_space(PCI_DEVICE(s));

    s->thread.in_main_loop = as != &address_space_memory;
    if (s->thread.work) {
        vcx_thread_kick(s);
    }
}

void vcx_thread_init(VcxState *s)
{
    qemu_mutex_init(&s->lock);
    qemu_cond_init(&s->thread.wake);
    qemu_cond_init(&s->thread.turn);
}

void vcx_thread_start(VcxState *s)
{
    s->thread.quit = false;
    s->thread.bh = qemu_bh_new(vcx_thread_bh, s);
    qemu_thread_create(&s->thread.thread, "vcx", vcx_thread_main, s,
                       QEMU_THREAD_JOINABLE);
    s->thread.started = true;
}

void vcx_thread_stop(VcxState *s)
{
    if (!s->thread.started) {
        return;
    }
    vcx_lock(s);
    s->thread.quit = true;
    qemu_cond_signal(&s->thread.wake);
    vcx_unlock(s);
    qemu_thread_join(&s->thread.thread);
    qemu_bh_delete(s->thread.bh);
    s->thread.started = false;
}

void vcx_thread_destroy(VcxState *s)
{
    qemu_cond_destroy(&s->thread.turn);
    qemu_cond_destroy(&s->thread.wake);
    qemu_mutex_destroy(&s->lock);
}
