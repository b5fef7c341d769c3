/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame ring alone: two threads, frames of all sizes with their number and
 * a pattern, a producer that really waits when it is told to.
 */
#include "../vcx_ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 20000
#define BIGGEST 70000

#define CHECK(what)                                                            \
    do {                                                                       \
        if (!(what)) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                 \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

struct wire {
    VcxRing ring;
    pthread_mutex_t lock;
    pthread_cond_t ready;
    bool woken;
    unsigned int waits;
};

/* Mostly packets, some as large as the wire takes, some empty. */
static size_t size_of(uint32_t number)
{
    uint32_t hash = number * 2654435761u;

    switch (hash >> 28) {
    case 0:
        return hash % BIGGEST;
    case 1:
        return hash % 4;
    default:
        return hash % 4300;
    }
}

static void fill(uint8_t *frame, uint32_t number, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        frame[i] = number + i;
    }
}

static void *produce(void *opaque)
{
    struct wire *wire = opaque;
    uint8_t *frame = malloc(BIGGEST);
    uint32_t number;

    for (number = 0; number < FRAMES; number++) {
        fill(frame, number, size_of(number));
        pthread_mutex_lock(&wire->lock);
        while (!vcx_ring_push(&wire->ring, frame, size_of(number))) {
            wire->waits++;
            wire->woken = false;
            while (!wire->woken) {
                pthread_cond_wait(&wire->ready, &wire->lock);
            }
        }
        pthread_mutex_unlock(&wire->lock);
    }
    free(frame);
    return NULL;
}

/* What vcx_net.c does: without the lock, but to wake. */
static void consume(struct wire *wire)
{
    uint8_t *expected = malloc(BIGGEST);
    uint32_t number = 0;

    while (number < FRAMES) {
        size_t len;
        const uint8_t *frame = vcx_ring_peek(&wire->ring, &len);

        if (frame) {
            CHECK(len == size_of(number));
            fill(expected, number, len);
            CHECK(memcmp(frame, expected, len) == 0);
            vcx_ring_drop(&wire->ring);
            number++;
        }
        if (vcx_ring_must_wake(&wire->ring)) {
            pthread_mutex_lock(&wire->lock);
            vcx_ring_wake(&wire->ring);
            wire->woken = true;
            pthread_cond_signal(&wire->ready);
            pthread_mutex_unlock(&wire->lock);
        }
    }
    free(expected);
}

/* However the threads are scheduled, the ring is full once. */
static void await_full(struct wire *wire)
{
    bool full = false;

    while (!full) {
        sched_yield();
        pthread_mutex_lock(&wire->lock);
        full = wire->waits > 0;
        pthread_mutex_unlock(&wire->lock);
    }
}

static void frames_arrive_whole_and_in_order(void)
{
    struct wire wire = { .waits = 0 };
    pthread_t producer;

    vcx_ring_init(&wire.ring);
    pthread_mutex_init(&wire.lock, NULL);
    pthread_cond_init(&wire.ready, NULL);
    CHECK(pthread_create(&producer, NULL, produce, &wire) == 0);
    await_full(&wire);
    consume(&wire);
    CHECK(pthread_join(producer, NULL) == 0);
    CHECK(vcx_ring_is_empty(&wire.ring));
    CHECK(!vcx_ring_must_wake(&wire.ring));
    printf("the producer waited %u times\n", wire.waits);
    vcx_ring_free(&wire.ring);
}

static void full_ring_refuses_until_half_is_free(void)
{
    static uint8_t frame[4096];
    VcxRing ring;
    size_t len;
    unsigned int pushed = 0, dropped = 0;

    vcx_ring_init(&ring);
    while (vcx_ring_push(&ring, frame, sizeof(frame))) {
        pushed++;
    }
    CHECK(pushed == VCX_RING_BYTES / (sizeof(frame) + 4));
    while (!vcx_ring_must_wake(&ring)) {
        CHECK(vcx_ring_peek(&ring, &len) && len == sizeof(frame));
        vcx_ring_drop(&ring);
        dropped++;
    }
    CHECK(dropped >= pushed / 2 - 1 && dropped <= pushed / 2 + 1);
    vcx_ring_wake(&ring);
    CHECK(!vcx_ring_must_wake(&ring));
    CHECK(vcx_ring_push(&ring, frame, sizeof(frame)));
    vcx_ring_free(&ring);
}

static void biggest_frame_fits_into_an_empty_ring_anywhere(void)
{
    uint8_t *frame = calloc(1, VCX_RING_MAX_FRAME);
    VcxRing ring;
    size_t len, step;

    vcx_ring_init(&ring);
    for (step = 0; step < 200; step++) {
        CHECK(vcx_ring_push(&ring, frame, VCX_RING_MAX_FRAME));
        CHECK(vcx_ring_peek(&ring, &len) && len == VCX_RING_MAX_FRAME);
        vcx_ring_drop(&ring);
        CHECK(vcx_ring_push(&ring, frame, step * 7));
        CHECK(vcx_ring_peek(&ring, &len) && len == step * 7);
        vcx_ring_drop(&ring);
    }
    vcx_ring_free(&ring);
    free(frame);
}

int main(void)
{
    frames_arrive_whole_and_in_order();
    full_ring_refuses_until_half_is_free();
    biggest_frame_fits_into_an_empty_ring_anywhere();
    return 0;
}
