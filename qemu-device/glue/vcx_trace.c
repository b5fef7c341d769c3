/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace points of the core as QEMU trace events (trace-events).
 */
#include "vcx_pci.h"
#include "trace.h"

static const char *vcx_reset_name(uint64_t reason)
{
    switch ((enum vcx_reset_reason)reason) {
    case VCX_RESET_POWER_ON:
        return "power on";
    case VCX_RESET_SYSTEM:
        return "system reset";
    case VCX_RESET_FUNCTION:
        return "function level reset";
    case VCX_RESET_UNPLUG:
        return "unplug";
    }
    return "unknown";
}

/* The device lock is held. No default: the compiler names a missing point. */
void vcx_trace_point(VcxState *s, enum vcx_trace_point point,
                     const uint64_t a[4])
{
    switch (point) {
    case VCX_TRACE_RESET:
        trace_vcx_reset(vcx_reset_name(a[0]));
        break;
    case VCX_TRACE_MMIO_UNKNOWN:
        trace_vcx_mmio_unknown(a[3] ? "write" : "read", a[0], a[1], a[2]);
        break;
    case VCX_TRACE_COMMAND:
        trace_vcx_command(vcx_core_opcode_name(a[0]), a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_COMMAND_DELIVERY:
        trace_vcx_command_delivery(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_DOORBELL:
        trace_vcx_doorbell(a[0], a[1], a[2]);
        break;
    case VCX_TRACE_DOORBELL_REFUSED:
        trace_vcx_doorbell_refused(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_SCHEDULER:
        trace_vcx_scheduler(a[0], a[1]);
        break;
    case VCX_TRACE_SEND_QUEUE:
        trace_vcx_send_queue(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_SEND_QUEUE_REFUSED:
        trace_vcx_send_queue_refused(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_REQUESTER:
        trace_vcx_requester(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_RETRY:
        trace_vcx_retry(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_INGRESS:
        trace_vcx_ingress(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_INGRESS_DROPPED:
        trace_vcx_ingress_dropped(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_RESPONDER:
        trace_vcx_responder(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_COMPLETER:
        trace_vcx_completer(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_COMPLETION:
        trace_vcx_completion(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_COMPLETION_REFUSED:
        trace_vcx_completion_refused(a[0], a[1], a[2]);
        break;
    case VCX_TRACE_EVENT:
        trace_vcx_event(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_EVENT_LOST:
        trace_vcx_event_lost(a[0], a[1], a[2]);
        break;
    case VCX_TRACE_INTERRUPT:
        trace_vcx_interrupt(a[0], a[1]);
        break;
    case VCX_TRACE_QP_STATE:
        trace_vcx_qp_state(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_FAULT:
        trace_vcx_fault(a[0], a[1], a[2], a[3]);
        break;
    case VCX_TRACE_NUM:
        break;
    }
}

static uint64_t vcx_trace_bit(enum vcx_trace_point point, bool enabled)
{
    return (uint64_t)enabled << point;
}

#define VCX_POINT(point, event) \
    vcx_trace_bit(point, trace_event_get_state(event))

static uint64_t vcx_trace_wanted(void)
{
    return VCX_POINT(VCX_TRACE_RESET, TRACE_VCX_RESET) |
           VCX_POINT(VCX_TRACE_MMIO_UNKNOWN, TRACE_VCX_MMIO_UNKNOWN) |
           VCX_POINT(VCX_TRACE_COMMAND, TRACE_VCX_COMMAND) |
           VCX_POINT(VCX_TRACE_COMMAND_DELIVERY, TRACE_VCX_COMMAND_DELIVERY) |
           VCX_POINT(VCX_TRACE_DOORBELL, TRACE_VCX_DOORBELL) |
           VCX_POINT(VCX_TRACE_DOORBELL_REFUSED, TRACE_VCX_DOORBELL_REFUSED) |
           VCX_POINT(VCX_TRACE_SCHEDULER, TRACE_VCX_SCHEDULER) |
           VCX_POINT(VCX_TRACE_SEND_QUEUE, TRACE_VCX_SEND_QUEUE) |
           VCX_POINT(VCX_TRACE_SEND_QUEUE_REFUSED,
                     TRACE_VCX_SEND_QUEUE_REFUSED) |
           VCX_POINT(VCX_TRACE_REQUESTER, TRACE_VCX_REQUESTER) |
           VCX_POINT(VCX_TRACE_RETRY, TRACE_VCX_RETRY) |
           VCX_POINT(VCX_TRACE_INGRESS, TRACE_VCX_INGRESS) |
           VCX_POINT(VCX_TRACE_INGRESS_DROPPED, TRACE_VCX_INGRESS_DROPPED) |
           VCX_POINT(VCX_TRACE_RESPONDER, TRACE_VCX_RESPONDER) |
           VCX_POINT(VCX_TRACE_COMPLETER, TRACE_VCX_COMPLETER) |
           VCX_POINT(VCX_TRACE_COMPLETION, TRACE_VCX_COMPLETION) |
           VCX_POINT(VCX_TRACE_COMPLETION_REFUSED,
                     TRACE_VCX_COMPLETION_REFUSED) |
           VCX_POINT(VCX_TRACE_EVENT, TRACE_VCX_EVENT) |
           VCX_POINT(VCX_TRACE_EVENT_LOST, TRACE_VCX_EVENT_LOST) |
           VCX_POINT(VCX_TRACE_INTERRUPT, TRACE_VCX_INTERRUPT) |
           VCX_POINT(VCX_TRACE_QP_STATE, TRACE_VCX_QP_STATE) |
           VCX_POINT(VCX_TRACE_FAULT, TRACE_VCX_FAULT);
}

/* Tells the core which points to report. The BQL is held. */
void vcx_trace_refresh(VcxState *s)
{
    uint64_t wanted = vcx_trace_wanted();

    if (!s->core || wanted == s->trace_mask) {
        return;
    }
    vcx_lock(s);
    s->trace_mask = wanted;
    vcx_core_set_trace(s->core, wanted);
    vcx_unlock(s);
}
