/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record is the frame's length in 32 bits and the frame, padded to 4 bytes,
 * in one piece; where it would cross the end of the memory, WRAP fills up. head
 * and tail run freely and are masked.
 */
#include "vcx_ring.h"

#include <stdlib.h>
#include <string.h>

#define VCX_RING_WRAP UINT32_MAX

_Static_assert((VCX_RING_BYTES & (VCX_RING_BYTES - 1)) == 0,
               "positions are masked");

static uint32_t vcx_ring_record(size_t len)
{
    return 4 + (((uint32_t)len + 3) & ~3u);
}

static uint32_t *vcx_ring_word(VcxRing *ring, uint32_t at)
{
    return (uint32_t *)(ring->bytes + (at & (VCX_RING_BYTES - 1)));
}

/* Bytes from here to the end of the memory. */
static uint32_t vcx_ring_to_end(uint32_t at)
{
    return VCX_RING_BYTES - (at & (VCX_RING_BYTES - 1));
}

void vcx_ring_init(VcxRing *ring)
{
    ring->bytes = malloc(VCX_RING_BYTES);
    if (!ring->bytes) {
        abort(); /* as glib does, which QEMU relies on */
    }
    vcx_ring_clear(ring);
}

void vcx_ring_free(VcxRing *ring)
{
    free(ring->bytes);
    ring->bytes = NULL;
}

void vcx_ring_clear(VcxRing *ring)
{
    atomic_store(&ring->head, 0);
    atomic_store(&ring->tail, 0);
    atomic_store(&ring->blocked, false);
}

/*
 * Room for so many bytes. When there is none, blocked is set before the second
 * look: either that look sees what the consumer has freed since, or the
 * consumer, which frees first and then looks at blocked, sees that we wait.
 */
static bool vcx_ring_reserve(VcxRing *ring, uint32_t head, uint32_t need)
{
    if (VCX_RING_BYTES - (head - atomic_load(&ring->tail)) >= need) {
        return true;
    }
    atomic_store(&ring->blocked, true);
    if (VCX_RING_BYTES - (head - atomic_load(&ring->tail)) >= need) {
        atomic_store(&ring->blocked, false);
        return true;
    }
    return false;
}

bool vcx_ring_push(VcxRing *ring, const void *frame, size_t len)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t record = vcx_ring_record(len);
    uint32_t skip = 0;

    if (vcx_ring_to_end(head) < record) {
        skip = vcx_ring_to_end(head);
    }
    if (!vcx_ring_reserve(ring, head, skip + record)) {
        return false;
    }
    if (skip > 0) {
        *vcx_ring_word(ring, head) = VCX_RING_WRAP;
    }
    *vcx_ring_word(ring, head + skip) = len;
    memcpy(vcx_ring_word(ring, head + skip) + 1, frame, len);
    /* Pairs with the acquire in vcx_ring_peek(). */
    atomic_store_explicit(&ring->head, head + skip + record,
                          memory_order_release);
    return true;
}

bool vcx_ring_is_empty(VcxRing *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_relaxed) ==
           atomic_load_explicit(&ring->head, memory_order_acquire);
}

const uint8_t *vcx_ring_peek(VcxRing *ring, size_t *len)
{
    uint32_t tail, *record;

    if (vcx_ring_is_empty(ring)) {
        return NULL;
    }
    tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    record = vcx_ring_word(ring, tail);
    if (*record == VCX_RING_WRAP) {
        /* A record follows: both were published with one store of head. */
        tail += vcx_ring_to_end(tail);
        atomic_store(&ring->tail, tail);
        record = vcx_ring_word(ring, tail);
    }
    *len = *record;
    return (const uint8_t *)(record + 1);
}

void vcx_ring_drop(VcxRing *ring)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    atomic_store(&ring->tail,
                 tail + vcx_ring_record(*vcx_ring_word(ring, tail)));
}

bool vcx_ring_must_wake(VcxRing *ring)
{
    return atomic_load(&ring->blocked) &&
           atomic_load(&ring->head) - atomic_load(&ring->tail) <=
               VCX_RING_BYTES / 2;
}

void vcx_ring_wake(VcxRing *ring)
{
    atomic_store(&ring->blocked, false);
}
