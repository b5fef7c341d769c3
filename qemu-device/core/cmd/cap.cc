/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// QUERY_HCA_CAP, SET_HCA_CAP, and what they report.
#include "cmd/cap.h"

#include <bit>
#include <cstring>

#include "cmd/handlers.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint32_t kLogMaxMrwSize = 64;  // a key may span the address space
// 4.096 us * 2^n from a packet's arrival to its acknowledgement, at most.
constexpr uint32_t kLocalCaAckDelay = 16;
constexpr uint32_t kNumPorts = 1;
constexpr uint32_t kCqeVersion = 1;  // entries carry the user index

uint32_t LogBarMegabytes(const Limits& limits) {
  const uint32_t pages = VCX_UAR_FIRST_PAGE + (1u << limits.log_max_uar);
  const uint32_t log_bytes =
      static_cast<uint32_t>(std::bit_width(pages - 1)) + VCX_LOG_PAGE_BYTES;
  return log_bytes > 20 ? log_bytes - 20 : 0;
}

void SetCounts(vcx_hca_cap& cap, const Limits& limits) {
  VCX_SET(&cap, VCX_CAP_LOG_MAX_QP, limits.log_max_qp);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_CQ, limits.log_max_cq);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_MKEY, limits.log_max_mkey);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_PD, limits.log_max_pd);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_EQ, limits.log_max_eq);
  VCX_SET(&cap, VCX_CAP_MAX_QP_CNT, limits.max_counter_sets);
}

void SetSizes(vcx_hca_cap& cap, const Limits& limits) {
  VCX_SET(&cap, VCX_CAP_LOG_MAX_QP_SZ, limits.log_max_qp_sz);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_CQ_SZ, limits.log_max_cq_sz);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_EQ_SZ, limits.log_max_eq_sz);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_MRW_SZ, kLogMaxMrwSize);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_RA_REQ_QP, limits.log_max_ra_req);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_RA_RES_QP, limits.log_max_ra_res);
  VCX_SET(&cap, VCX_CAP_LOG_MAX_MSG, limits.log_max_msg);
  VCX_SET(&cap, VCX_CAP_MAX_WQE_SZ_SQ, limits.max_sq_wqe_bytes);
  VCX_SET(&cap, VCX_CAP_MAX_WQE_SZ_RQ, limits.max_rq_wqe_bytes);
  VCX_SET(&cap, VCX_CAP_LOG_PG_SZ, VCX_LOG_PAGE_BYTES);
  VCX_SET(&cap, VCX_CAP_UAR_SZ, LogBarMegabytes(limits));
  // Doorbell registers lie this far apart even without BlueFlame.
  VCX_SET(&cap, VCX_CAP_LOG_BF_REG_SIZE, VCX_UAR_SQ_LOG_BYTES);
}

void SetPort(vcx_hca_cap& cap, const vcx_core_config& config) {
  static_assert(VCX_CAP_GIDS(0) == Port::kGids);
  static_assert(VCX_CAP_PKEYS(0) == Port::kPkeys);
  VCX_SET(&cap, VCX_CAP_GID_TABLE_SIZE, 0);
  VCX_SET(&cap, VCX_CAP_PKEY_TABLE_SIZE, 0);
  VCX_SET(&cap, VCX_CAP_NUM_PORTS, kNumPorts);
  VCX_SET(&cap, VCX_CAP_PORT_TYPE,
          config.link == VCX_LINK_IB ? VCX_CAP_PORT_TYPE_IB
                                     : VCX_CAP_PORT_TYPE_ETH);
  VCX_SET(&cap, VCX_CAP_IB_VIRT, 1);
  VCX_SET(&cap, VCX_CAP_LOCAL_CA_ACK_DELAY, kLocalCaAckDelay);
}

void SetFeatures(vcx_hca_cap& cap) {
  VCX_SET(&cap, VCX_CAP_RC, 1);
  VCX_SET(&cap, VCX_CAP_CQ_OI, 1);
  VCX_SET(&cap, VCX_CAP_CQ_RESIZE, 1);
  VCX_SET(&cap, VCX_CAP_CQ_MODERATION, 1);
  VCX_SET(&cap, VCX_CAP_CQE_VERSION, kCqeVersion);
  VCX_SET(&cap, VCX_CAP_MKEY_BY_NAME, 1);
  VCX_SET(&cap, VCX_CAP_UMR_SIZE_DISABLED, 1);
  VCX_SET(&cap, VCX_CAP_OUT_OF_SEQ_CNT, 1);
  VCX_SET(&cap, VCX_CAP_RETRANS_COUNTERS, 1);
  VCX_SET(&cap, VCX_CAP_ENHANCED_ERR_COUNTERS, 1);
}

bool Same(const vcx_hca_cap& a, const vcx_hca_cap& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

}  // namespace

vcx_hca_cap BuildCapabilities(const vcx_core_config& config,
                              const Limits& limits) {
  vcx_hca_cap cap{};
  SetCounts(cap, limits);
  SetSizes(cap, limits);
  SetPort(cap, config);
  SetFeatures(cap);
  return cap;
}

CmdVerdict QueryHcaCap(Firmware& fw, const vcx_number_in&, const Call& call,
                       vcx_query_hca_cap_out& out) {
  switch (call.op_mod) {
    case VCX_CAP_OP_MOD(VCX_CAP_GENERAL, VCX_CAP_MODE_CURRENT):
      out.cap = fw.cap_current;
      return VCX_CMD_ACCEPTED;
    case VCX_CAP_OP_MOD(VCX_CAP_GENERAL, VCX_CAP_MODE_MAX):
      out.cap = fw.cap_max;
      return VCX_CMD_ACCEPTED;
    default: return VCX_REFUSED_CAP_TYPE;
  }
}

// A driver sends the current capabilities back with what it wants otherwise.
// That can only be fewer QPs; everything else must be as it is.
CmdVerdict SetHcaCap(Firmware& fw, const vcx_set_hca_cap_in& in,
                     const Call& call, vcx_number_out&) {
  if ((call.op_mod & 1) != 0) return VCX_REFUSED_CAP_MODE;
  if (call.op_mod >> 1 != VCX_CAP_GENERAL) return VCX_REFUSED_CAP_TYPE;

  const uint32_t log_max_qp = VCX_GET(&in.cap, VCX_CAP_LOG_MAX_QP);
  if (log_max_qp > fw.limits.log_max_qp) return VCX_REFUSED_CAP_LOG_MAX_QP;
  vcx_hca_cap wanted = fw.cap_max;
  VCX_SET(&wanted, VCX_CAP_LOG_MAX_QP, log_max_qp);
  if (!Same(wanted, in.cap)) return VCX_REFUSED_CAP_READ_ONLY;

  fw.cap_current = wanted;
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
