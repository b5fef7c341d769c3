/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register writes on their way: a vCPU whose write meets an engine at work
 * leaves it here and goes on, as PCI lets writes be posted. The engine, or
 * whoever takes the device lock next, carries them out in order before anything
 * else.
 *
 * One producer at a time (the BQL), one consumer at a time (the device lock), no
 * lock of its own. Uses nothing of QEMU: tests/posted_test.c runs it alone.
 */
#ifndef VCX_POSTED_H
#define VCX_POSTED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Few: a reader has to wait until all are carried out. */
#define VCX_POSTED_MAX 16

typedef struct VcxPostedWrite {
    uint64_t offset;
    uint64_t value;
    uint32_t size;
} VcxPostedWrite;

typedef struct VcxPosted {
    VcxPostedWrite writes[VCX_POSTED_MAX];
    _Atomic uint32_t head; /* written by the producer */
    _Atomic uint32_t tail; /* written by the consumer */
} VcxPosted;

/* False: full. */
bool vcx_posted_push(VcxPosted *posted, const VcxPostedWrite *write);

/* The oldest. False: none. */
bool vcx_posted_pop(VcxPosted *posted, VcxPostedWrite *write);

bool vcx_posted_is_empty(VcxPosted *posted);

#endif /* VCX_POSTED_H */
