/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire: frames between the core and a QEMU -netdev backend.
 *
 * The core makes frames under the device lock, often in the device thread; a
 * backend wants to be called under the BQL. Between them is a ring of bytes
 * with one producer (whoever holds the device lock) and one consumer (whoever
 * holds the BQL, in vcx_deliver()). It is allocated once; when it is full the
 * core is told to wait, which stops its requesters without loss, and is called
 * back when half of the ring is free again. A slow backend fills it the same
 * way: it takes one frame into QEMU's own queue and answers when that is gone.
 *
 * A record is its length in 32 bits and the frame, padded to 4 bytes, in one
 * piece; where it would cross the end of the ring a VCX_NET_WRAP fills up.
 * head and tail run freely and are masked.
 */
#include "vcx_pci.h"
#include "qemu/error-report.h"

#define VCX_NET_MASK (VCX_NET_RING_BYTES - 1)
#define VCX_NET_WRAP UINT32_MAX
#define VCX_NET_RECORD(len) (4 + ROUND_UP((uint32_t)(len), 4))

QEMU_BUILD_BUG_ON(VCX_NET_RING_BYTES & VCX_NET_MASK);
/* An empty ring takes any frame, wherever head is. */
QEMU_BUILD_BUG_ON(VCX_NET_RING_BYTES < 2 * VCX_NET_RECORD(NET_BUFSIZE));

static uint32_t *vcx_net_word(VcxNet *net, uint32_t at)
{
    return (uint32_t *)(net->ring + (at & VCX_NET_MASK));
}

/* Bytes from here to the end of the ring. */
static uint32_t vcx_net_to_end(uint32_t at)
{
    return VCX_NET_RING_BYTES - (at & VCX_NET_MASK);
}

static bool vcx_net_has_room(VcxNet *net, uint32_t need)
{
    /* Pairs with the release in vcx_net_consume(). */
    uint32_t used = net->head - qatomic_load_acquire(&net->tail);

    return VCX_NET_RING_BYTES - used >= need;
}

/* Both locks as the core's callbacks have them: the device lock, maybe BQL. */
bool vcx_net_push(VcxState *s, const void *frame, size_t len)
{
    VcxNet *net = &s->net;
    uint32_t record, skip = 0;

    if (!net->nic || len > NET_BUFSIZE) {
        warn_report_once("vcx: the wire cannot carry a frame of %zu bytes",
                         len);
        return true; /* as lost: waiting would not help */
    }
    record = VCX_NET_RECORD(len);
    if (vcx_net_to_end(net->head) < record) {
        skip = vcx_net_to_end(net->head);
    }
    if (!vcx_net_has_room(net, skip + record)) {
        qatomic_set(&net->blocked, true);
        smp_mb(); /* pairs with the one in vcx_net_flush(): no lost wakeup */
        if (!vcx_net_has_room(net, skip + record)) {
            return false;
        }
        qatomic_set(&net->blocked, false);
    }
    if (skip > 0) {
        *vcx_net_word(net, net->head) = VCX_NET_WRAP;
    }
    *vcx_net_word(net, net->head + skip) = len;
    memcpy(vcx_net_word(net, net->head + skip) + 1, frame, len);
    qatomic_store_release(&net->head, net->head + skip + record);
    vcx_output_pending(s);
    return true;
}

static void vcx_net_consume(VcxNet *net, uint32_t bytes)
{
    qatomic_store_release(&net->tail, net->tail + bytes);
}

/* The backend has taken the frame that it had queued. */
static void vcx_net_sent(NetClientState *nc, ssize_t len)
{
    VcxState *s = qemu_get_nic_opaque(nc);

    s->net.backend_busy = false;
    qatomic_set(&s->output, true);
    qemu_bh_schedule(s->deliver_bh);
}

static void vcx_net_send_next(VcxState *s)
{
    VcxNet *net = &s->net;
    uint32_t *record = vcx_net_word(net, net->tail);

    if (*record == VCX_NET_WRAP) {
        vcx_net_consume(net, vcx_net_to_end(net->tail));
        return;
    }
    /*
     * Zero means queued: QEMU has a copy and calls vcx_net_sent() later. An
     * error is a frame lost on the wire, which the transport repairs.
     */
    if (qemu_send_packet_async(qemu_get_queue(net->nic),
                               (uint8_t *)(record + 1), *record,
                               vcx_net_sent) == 0) {
        net->backend_busy = true;
    }
    vcx_net_consume(net, VCX_NET_RECORD(*record));
}

static bool vcx_net_is_empty(VcxNet *net)
{
    return net->tail == qatomic_load_acquire(&net->head);
}

static void vcx_net_unblock(VcxState *s)
{
    VcxNet *net = &s->net;

    smp_mb(); /* tail is visible before blocked is looked at */
    if (!qatomic_read(&net->blocked) ||
        qatomic_read(&net->head) - net->tail > VCX_NET_RING_BYTES / 2) {
        return;
    }
    vcx_lock(s);
    qatomic_set(&net->blocked, false);
    vcx_core_wire_ready(s->core);
    vcx_unlock(s);
}

/*
 * Gives frames to the backend; the BQL is held, the device lock is not. True
 * when frames remain that the backend would take.
 */
bool vcx_net_flush(VcxState *s, unsigned int max_frames)
{
    VcxNet *net = &s->net;

    if (!net->nic) {
        return false;
    }
    while (max_frames-- > 0 && !net->backend_busy && !vcx_net_is_empty(net)) {
        vcx_net_send_next(s);
    }
    vcx_net_unblock(s);
    return !net->backend_busy && !vcx_net_is_empty(net);
}

static ssize_t vcx_net_receive(NetClientState *nc, const uint8_t *frame,
                               size_t len)
{
    VcxState *s = qemu_get_nic_opaque(nc);

    vcx_lock(s);
    vcx_core_receive(s->core, frame, len);
    vcx_unlock(s);
    return len;
}

/* A stopped machine must not see its memory change: frames wait in QEMU. */
static bool vcx_net_can_receive(NetClientState *nc)
{
    VcxState *s = qemu_get_nic_opaque(nc);

    return s->running;
}

/* set_link from the monitor, or the backend was deleted. */
static void vcx_net_link_status_changed(NetClientState *nc)
{
    VcxState *s = qemu_get_nic_opaque(nc);

    vcx_lock(s);
    vcx_core_set_link(s->core, !nc->link_down);
    vcx_unlock(s);
}

static NetClientInfo vcx_net_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = vcx_net_can_receive,
    .receive = vcx_net_receive,
    .link_status_changed = vcx_net_link_status_changed,
};

void vcx_net_init(VcxState *s)
{
    VcxNet *net = &s->net;
    NetClientState *nc;

    if (!s->config.has_wire) {
        return;
    }
    net->ring = g_malloc(VCX_NET_RING_BYTES);
    net->head = 0;
    net->tail = 0;
    net->blocked = false;
    net->backend_busy = false;
    net->nic = qemu_new_nic(&vcx_net_info, &net->conf,
                            object_get_typename(OBJECT(s)), DEVICE(s)->id,
                            VCX_NIC_GUARD(DEVICE(s)) s);
    nc = qemu_get_queue(net->nic);
    qemu_format_nic_info_str(nc, net->conf.macaddr.a);
}

/* Tells the core the state of the link, after power-on and after a reset. */
void vcx_net_report_link(VcxState *s)
{
    if (s->net.nic) {
        vcx_core_set_link(s->core, !qemu_get_queue(s->net.nic)->link_down);
    }
}

/* The machine runs again: what QEMU held back may come in. */
void vcx_net_resume(VcxState *s)
{
    if (s->net.nic) {
        qemu_flush_queued_packets(qemu_get_queue(s->net.nic));
    }
}

/* Drops frames made before a reset. Both locks are held. */
void vcx_net_forget(VcxState *s)
{
    qatomic_set(&s->net.tail, s->net.head);
    qatomic_set(&s->net.blocked, false);
}

/* The device thread does not run any more. */
void vcx_net_exit(VcxState *s)
{
    VcxNet *net = &s->net;

    if (!net->nic) {
        return;
    }
    qemu_purge_queued_packets(qemu_get_queue(net->nic));
    qemu_del_nic(net->nic);
    net->nic = NULL;
    g_free(net->ring);
    net->ring = NULL;
}
