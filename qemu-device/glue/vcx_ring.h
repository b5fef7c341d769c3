/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of frames between one producer and one consumer, without a lock.
 *
 * The core makes frames under the device lock, often in the device thread; a
 * backend is called under the BQL. Memory is allocated once. When the ring is
 * full the producer is told so, and the consumer learns that it must call the
 * producer back. Uses nothing of QEMU: tests/ring_test.c runs it alone.
 */
#ifndef VCX_RING_H
#define VCX_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VCX_RING_BYTES (1u << 20)

/* An empty ring takes a frame of this size wherever its head is. */
#define VCX_RING_MAX_FRAME (VCX_RING_BYTES / 2 - 8)

typedef struct VcxRing {
    uint8_t *bytes;
    _Atomic uint32_t head;  /* written by the producer */
    _Atomic uint32_t tail;  /* written by the consumer */
    atomic_bool blocked;    /* the producer waits */
} VcxRing;

void vcx_ring_init(VcxRing *ring);
void vcx_ring_free(VcxRing *ring);

/* Copies a frame in. False: no room, vcx_ring_must_wake() will be true. */
bool vcx_ring_push(VcxRing *ring, const void *frame, size_t len);

/* The oldest frame, in place until vcx_ring_drop(); NULL when there is none. */
const uint8_t *vcx_ring_peek(VcxRing *ring, size_t *len);
void vcx_ring_drop(VcxRing *ring);
bool vcx_ring_is_empty(VcxRing *ring);

/* A producer waits and half of the ring is free. Asked by the consumer. */
bool vcx_ring_must_wake(VcxRing *ring);

/* Before the producer is called back; nobody pushes meanwhile. */
void vcx_ring_wake(VcxRing *ring);

/* Empties the ring; neither side is at work. */
void vcx_ring_clear(VcxRing *ring);

#endif /* VCX_RING_H */
