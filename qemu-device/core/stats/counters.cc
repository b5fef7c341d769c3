/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "stats/counters.h"

namespace vcx {

const char* CounterName(Counter counter) {
  switch (counter) {
    case Counter::kCommands: return "commands";
    case Counter::kCommandsFailed: return "commands_failed";
    case Counter::kCommandsUndeliverable: return "commands_undeliverable";
    case Counter::kMmioUnknown: return "mmio_unknown";
    case Counter::kDoorbells: return "doorbells";
    case Counter::kDoorbellsRefused: return "doorbells_refused";
    case Counter::kPacketsSent: return "packets_sent";
    case Counter::kPacketsReceived: return "packets_received";
    case Counter::kBytesSent: return "bytes_sent";
    case Counter::kBytesReceived: return "bytes_received";
    case Counter::kLoopbackPackets: return "loopback_packets";
    case Counter::kFramesSent: return "frames_sent";
    case Counter::kFramesReceived: return "frames_received";
    case Counter::kWireBusy: return "wire_busy";
    case Counter::kUnroutable: return "unroutable";
    case Counter::kFaultPackets: return "fault_packets";
    case Counter::kFaultDropped: return "fault_dropped";
    case Counter::kFaultDuplicated: return "fault_duplicated";
    case Counter::kFaultReordered: return "fault_reordered";
    case Counter::kFaultDelayed: return "fault_delayed";
    case Counter::kFaultCorrupted: return "fault_corrupted";
    case Counter::kFaultNotHeld: return "fault_not_held";
    case Counter::kDropNotOurs: return "drop_not_ours";
    case Counter::kDropTruncated: return "drop_truncated";
    case Counter::kDropLength: return "drop_length";
    case Counter::kDropVcrc: return "drop_vcrc";
    case Counter::kDropIcrc: return "drop_icrc";
    case Counter::kDropHeader: return "drop_header";
    case Counter::kDropLid: return "drop_lid";
    case Counter::kDropGid: return "drop_gid";
    case Counter::kDropPkey: return "drop_pkey";
    case Counter::kDropNoQp: return "drop_no_qp";
    case Counter::kDropQpState: return "drop_qp_state";
    case Counter::kDropServiceType: return "drop_service_type";
    case Counter::kDropSource: return "drop_source";
    case Counter::kDropPathMtu: return "drop_path_mtu";
    case Counter::kDropPortDown: return "drop_port_down";
    case Counter::kDropGhost: return "drop_ghost";
    case Counter::kDropNoResource: return "drop_no_resource";
    case Counter::kAcksSent: return "acks_sent";
    case Counter::kNaksSent: return "naks_sent";
    case Counter::kRnrNaksSent: return "rnr_naks_sent";
    case Counter::kDuplicateRequests: return "duplicate_requests";
    case Counter::kOutOfSequence: return "out_of_sequence";
    case Counter::kRetries: return "retries";
    case Counter::kTimeouts: return "timeouts";
    case Counter::kRnrRetries: return "rnr_retries";
    case Counter::kQpErrors: return "qp_errors";
    case Counter::kCompletions: return "completions";
    case Counter::kErrorCompletions: return "error_completions";
    case Counter::kFlushCompletions: return "flush_completions";
    case Counter::kCqOverflows: return "cq_overflows";
    case Counter::kCompletionsLost: return "completions_lost";
    case Counter::kEvents: return "events";
    case Counter::kEventsLost: return "events_lost";
    case Counter::kInterrupts: return "interrupts";
    case Counter::kDmaErrors: return "dma_errors";
    case Counter::kNum: break;
  }
  return "unknown";
}

}  // namespace vcx
