/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire: frames between the core and a QEMU -netdev backend.
 *
 * Frames of the core go through a ring (vcx_ring.h) to vcx_deliver(), which
 * gives them to the backend under the BQL. When the ring is full the core is
 * told to wait, which stops its requesters without loss. A slow backend fills
 * it the same way: it takes one frame into QEMU's own queue and says when that
 * is gone.
 */
#include "vcx_pci.h"
#include "qemu/error-report.h"

QEMU_BUILD_BUG_ON(VCX_RING_MAX_FRAME < NET_BUFSIZE);

/* Frames that are closer together come from one read. */
#define VCX_BURST_NS 3000

/* What is done for a burst before the device thread goes on. */
#define VCX_BURST_UNITS 64

/* From the core: the device lock is held, the BQL perhaps. */
bool vcx_net_push(VcxState *s, const void *frame, size_t len)
{
    if (!s->net.nic || len > NET_BUFSIZE) {
        warn_report_once("vcx: the wire cannot carry a frame of %zu bytes",
                         len);
        return true; /* as lost: waiting would not help */
    }
    if (!vcx_ring_push(&s->net.ring, frame, len)) {
        return false;
    }
    vcx_output_pending(s);
    return true;
}

/* The backend has taken the frame that it had queued. */
static void vcx_net_sent(NetClientState *nc, ssize_t len)
{
    VcxState *s = qemu_get_nic_opaque(nc);

    s->net.backend_busy = false;
    qatomic_set(&s->output, true);
    qemu_bh_schedule(s->deliver_bh);
}

static void vcx_net_wake_core(VcxState *s)
{
    vcx_lock(s);
    vcx_ring_wake(&s->net.ring);
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
    const uint8_t *frame;
    size_t len;

    if (!net->nic) {
        return false;
    }
    while (max_frames-- > 0 && !net->backend_busy &&
           (frame = vcx_ring_peek(&net->ring, &len))) {
        /*
         * Zero means queued: QEMU has a copy and calls vcx_net_sent() later.
         * An error is a frame lost on the wire, which the transport repairs.
         */
        net->backend_busy = qemu_send_packet_async(qemu_get_queue(net->nic),
                                                   frame, len,
                                                   vcx_net_sent) == 0;
        vcx_ring_drop(&net->ring);
    }
    if (vcx_ring_must_wake(&net->ring)) {
        vcx_net_wake_core(s);
    }
    return !net->backend_busy && !vcx_ring_is_empty(&net->ring);
}

/* After the last of several frames: what they led to. */
static void vcx_net_burst_bh(void *opaque)
{
    VcxState *s = opaque;

    vcx_lock(s);
    if (!s->running || vcx_core_run(s->core, VCX_BURST_UNITS)) {
        vcx_thread_kick(s);
    }
    vcx_unlock(s);
}

/*
 * A backend that reads a stream delivers all the frames that were in it, one
 * after the other. The first is served at once, as if it were alone. One that
 * comes right behind another, sooner than the main loop could have asked the
 * backend again, waits for the bottom half, so that a burst is answered once.
 */
static ssize_t vcx_net_receive(NetClientState *nc, const uint8_t *frame,
                               size_t len)
{
    VcxState *s = qemu_get_nic_opaque(nc);
    VcxNet *net = &s->net;
    bool burst = qemu_clock_get_ns(QEMU_CLOCK_REALTIME) - net->received_ns <
                 VCX_BURST_NS;

    vcx_lock(s);
    if (burst) {
        vcx_core_receive_one_of(s->core, frame, len);
        qemu_bh_schedule(net->burst_bh);
    } else {
        vcx_core_receive(s->core, frame, len);
    }
    vcx_unlock(s);
    net->received_ns = qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
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
    vcx_ring_init(&net->ring);
    net->backend_busy = false;
    net->received_ns = 0;
    net->burst_bh = qemu_bh_new(vcx_net_burst_bh, s);
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
    if (s->net.nic) {
        vcx_ring_clear(&s->net.ring);
    }
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
    qemu_bh_delete(net->burst_bh);
    vcx_ring_free(&net->ring);
}
