/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Posted writes alone, with the protocol of vcx_thread.c around them: a producer
 * that never waits for a consumer at work, a consumer that sleeps when there is
 * nothing, and no write that is lost, doubled or out of order.
 */
#include "../vcx_posted.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITES 200000

#define CHECK(what)                                                            \
    do {                                                                       \
        if (!(what)) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                 \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

struct device {
    VcxPosted posted;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic bool sleeping;
    uint64_t done; /* under the lock */
};

/* As smp_mb(); the thread sanitizer does not know fences. */
static void full_barrier(void)
{
    static _Atomic unsigned int word;

    atomic_fetch_add(&word, 1);
}

/* The lock is held. */
static void drain(struct device *device)
{
    VcxPostedWrite write;

    while (vcx_posted_pop(&device->posted, &write)) {
        CHECK(write.offset == device->done);
        CHECK(write.value == ~device->done);
        CHECK(write.size == 8);
        device->done++;
    }
}

static void *consume(void *opaque)
{
    struct device *device = opaque;

    pthread_mutex_lock(&device->lock);
    while (device->done < WRITES) {
        drain(device);
        atomic_store(&device->sleeping, true);
        full_barrier();
        if (vcx_posted_is_empty(&device->posted) && device->done < WRITES) {
            pthread_cond_wait(&device->wake, &device->lock);
        }
        atomic_store(&device->sleeping, false);
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

static void produce(struct device *device)
{
    unsigned int full = 0, posted = 0, waited = 0;
    uint64_t i;

    for (i = 0; i < WRITES; i++) {
        VcxPostedWrite write = { i, ~i, 8 };

        if (pthread_mutex_trylock(&device->lock) == 0) {
            drain(device);
            CHECK(device->done == i);
            device->done++;
            pthread_cond_signal(&device->wake);
            pthread_mutex_unlock(&device->lock);
            continue;
        }
        while (!vcx_posted_push(&device->posted, &write)) {
            full++;
            sched_yield();
        }
        posted++;
        full_barrier();
        if (atomic_load(&device->sleeping)) {
            waited++;
            pthread_mutex_lock(&device->lock);
            drain(device);
            pthread_cond_signal(&device->wake);
            pthread_mutex_unlock(&device->lock);
        }
    }
    printf("%u posted, %u met a sleeper, %u found it full\n", posted, waited,
           full);
}

static void test_bounds(void)
{
    VcxPosted posted;
    VcxPostedWrite write = { 0, 0, 4 };
    unsigned int lap, i;

    memset(&posted, 0, sizeof(posted));
    CHECK(vcx_posted_is_empty(&posted));
    CHECK(!vcx_posted_pop(&posted, &write));
    for (lap = 0; lap < 3; lap++) {
        for (i = 0; i < VCX_POSTED_MAX; i++) {
            write.offset = i;
            CHECK(vcx_posted_push(&posted, &write));
        }
        CHECK(!vcx_posted_push(&posted, &write));
        for (i = 0; i < VCX_POSTED_MAX; i++) {
            CHECK(!vcx_posted_is_empty(&posted));
            CHECK(vcx_posted_pop(&posted, &write) && write.offset == i);
        }
        CHECK(!vcx_posted_pop(&posted, &write));
        /* The next lap begins elsewhere in the ring. */
        CHECK(vcx_posted_push(&posted, &write));
        CHECK(vcx_posted_pop(&posted, &write));
    }
}

int main(void)
{
    static struct device device = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .wake = PTHREAD_COND_INITIALIZER,
    };
    pthread_t consumer;

    test_bounds();
    CHECK(pthread_create(&consumer, NULL, consume, &device) == 0);
    produce(&device);
    CHECK(pthread_join(consumer, NULL) == 0);
    CHECK(device.done == WRITES);
    return 0;
}
