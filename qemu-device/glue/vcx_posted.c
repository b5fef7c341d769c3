/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Head and tail count writes and are never masked; a slot belongs to the
 * consumer from the store of head on, to the producer from that of tail on.
 */
#include "vcx_posted.h"

bool vcx_posted_push(VcxPosted *posted, const VcxPostedWrite *write)
{
    uint32_t head = atomic_load_explicit(&posted->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&posted->tail, memory_order_acquire);

    if (head - tail == VCX_POSTED_MAX) {
        return false;
    }
    posted->writes[head % VCX_POSTED_MAX] = *write;
    atomic_store_explicit(&posted->head, head + 1, memory_order_release);
    return true;
}

bool vcx_posted_pop(VcxPosted *posted, VcxPostedWrite *write)
{
    uint32_t tail = atomic_load_explicit(&posted->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&posted->head, memory_order_acquire);

    if (head == tail) {
        return false;
    }
    *write = posted->writes[tail % VCX_POSTED_MAX];
    atomic_store_explicit(&posted->tail, tail + 1, memory_order_release);
    return true;
}

bool vcx_posted_is_empty(VcxPosted *posted)
{
    return atomic_load_explicit(&posted->head, memory_order_acquire) ==
           atomic_load_explicit(&posted->tail, memory_order_relaxed);
}
