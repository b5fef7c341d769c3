/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/qp_attr.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace vcx {
namespace {

constexpr uint32_t kPort = 1;
constexpr uint32_t kLastUnicastLid = 0xbfff;
constexpr uint32_t kDoorbellRecordBytes = 8;
constexpr uint32_t kLogMtuBase = 7;  // code 1 is 256 bytes
constexpr uint32_t kMaxMtuCode = 5;
constexpr uint8_t kLogMaxMtu = kLogMtuBase + kMaxMtuCode;

struct OptParam {
  uint32_t bit;
  AttrMask attrs;
};

constexpr OptParam kOptParams[] = {
    {VCX_QP_OPT_RRE, kAttrRre},
    {VCX_QP_OPT_RAE, kAttrRae},
    {VCX_QP_OPT_RWE, kAttrRwe},
    {VCX_QP_OPT_PKEY_INDEX, kAttrPkeyIndex},
    {VCX_QP_OPT_MIN_RNR_NAK, kAttrMinRnrNak},
    {VCX_QP_OPT_PRIMARY_PATH, kAttrPath},
    {VCX_QP_OPT_SRA_MAX, kAttrSraMax},
    {VCX_QP_OPT_RRA_MAX, kAttrRraMax},
    {VCX_QP_OPT_PM_STATE, kAttrPmState},
    {VCX_QP_OPT_RETRY_COUNT, kAttrRetryCount},
    {VCX_QP_OPT_RNR_RETRY, kAttrRnrRetry},
    {VCX_QP_OPT_ACK_TIMEOUT, kAttrAckTimeout},
    // Stock drivers set it when a port comes with an INIT2INIT; the port is also
    // in the address vector, so nothing but its presence is new.
    {VCX_QP_OPT_PRIMARY_PORT, kAttrPort},
    {VCX_QP_OPT_COUNTER_SET, kAttrCounterSet},
};

// Where an attribute stands, outside the address vector.
struct AttrField {
  AttrMask attr;
  const vcx_qpc* structure;
  unsigned byte, high, low;
};

constexpr AttrField kAttrFields[] = {
    {kAttrRre, VCX_QPC_RRE},
    {kAttrRwe, VCX_QPC_RWE},
    {kAttrRae, VCX_QPC_RAE},
    {kAttrRae, VCX_QPC_ATOMIC_MODE},
    {kAttrMtu, VCX_QPC_MTU},
    {kAttrLogMsgMax, VCX_QPC_LOG_MSG_MAX},
    {kAttrRemoteQpn, VCX_QPC_REMOTE_QPN},
    {kAttrRcvPsn, VCX_QPC_NEXT_RCV_PSN},
    {kAttrRraMax, VCX_QPC_LOG_RRA_MAX},
    {kAttrMinRnrNak, VCX_QPC_MIN_RNR_NAK},
    {kAttrSendPsn, VCX_QPC_NEXT_SEND_PSN},
    {kAttrSraMax, VCX_QPC_LOG_SRA_MAX},
    {kAttrRetryCount, VCX_QPC_RETRY_COUNT},
    {kAttrRnrRetry, VCX_QPC_RNR_RETRY},
    {kAttrPmState, VCX_QPC_PM_STATE},
    {kAttrCounterSet, VCX_QPC_COUNTER_SET_ID},
};

vcx_ads PrimaryPath(const vcx_qpc& qpc) {
  vcx_ads ads;
  std::copy_n(&qpc.dw[VCX_QPC_PRIMARY_PATH_DW], std::size(ads.dw), ads.dw);
  return ads;
}

void SetPrimaryPath(vcx_qpc& qpc, const vcx_ads& ads) {
  std::copy(std::begin(ads.dw), std::end(ads.dw),
            &qpc.dw[VCX_QPC_PRIMARY_PATH_DW]);
}

// The address vector shares its structure with attributes that come at other
// times.
void CopyPathAttrs(AttrMask attrs, const vcx_qpc& from_qpc, vcx_qpc& to_qpc) {
  const vcx_ads from = PrimaryPath(from_qpc);
  vcx_ads to = PrimaryPath(to_qpc);
  if ((attrs & kAttrPath) != 0) {
    const uint32_t pkey_index = VCX_GET(&to, VCX_ADS_PKEY_INDEX);
    const uint32_t ack_timeout = VCX_GET(&to, VCX_ADS_ACK_TIMEOUT);
    to = from;
    VCX_SET(&to, VCX_ADS_PKEY_INDEX, pkey_index);
    VCX_SET(&to, VCX_ADS_ACK_TIMEOUT, ack_timeout);
  }
  if ((attrs & kAttrPkeyIndex) != 0)
    VCX_SET(&to, VCX_ADS_PKEY_INDEX, VCX_GET(&from, VCX_ADS_PKEY_INDEX));
  if ((attrs & kAttrPort) != 0)
    VCX_SET(&to, VCX_ADS_PORT, VCX_GET(&from, VCX_ADS_PORT));
  if ((attrs & kAttrAckTimeout) != 0)
    VCX_SET(&to, VCX_ADS_ACK_TIMEOUT, VCX_GET(&from, VCX_ADS_ACK_TIMEOUT));
  SetPrimaryPath(to_qpc, to);
}

CmdVerdict CheckPathAttrs(AttrMask attrs, const vcx_ads& ads) {
  if ((attrs & (kAttrPort | kAttrPath)) != 0) {
    const uint32_t port = VCX_GET(&ads, VCX_ADS_PORT);
    if (port != 0 && port != kPort) return VCX_REFUSED_QP_PORT;
  }
  if ((attrs & kAttrPkeyIndex) != 0 &&
      VCX_GET(&ads, VCX_ADS_PKEY_INDEX) >= Port::kPkeys)
    return VCX_REFUSED_QP_PKEY_INDEX;
  if ((attrs & kAttrPath) == 0) return VCX_CMD_ACCEPTED;
  if (VCX_GET(&ads, VCX_ADS_GRH) != 0 &&
      VCX_GET(&ads, VCX_ADS_SRC_ADDR_INDEX) >= Port::kGids)
    return VCX_REFUSED_QP_GID_INDEX;
  const uint32_t lid = VCX_GET(&ads, VCX_ADS_RLID);
  if ((lid == 0 || lid > kLastUnicastLid) && VCX_GET(&ads, VCX_ADS_FL) == 0)
    return VCX_REFUSED_QP_LID;
  return VCX_CMD_ACCEPTED;
}

AddressPath PathFrom(const vcx_ads& ads) {
  AddressPath path;
  path.dlid = static_cast<uint16_t>(VCX_GET(&ads, VCX_ADS_RLID));
  path.pkey_index = static_cast<uint16_t>(VCX_GET(&ads, VCX_ADS_PKEY_INDEX));
  path.path_bits = static_cast<uint8_t>(VCX_GET(&ads, VCX_ADS_MLID));
  path.sl = static_cast<uint8_t>(VCX_GET(&ads, VCX_ADS_SL));
  path.sgid_index = static_cast<uint8_t>(VCX_GET(&ads, VCX_ADS_SRC_ADDR_INDEX));
  path.hop_limit = static_cast<uint8_t>(VCX_GET(&ads, VCX_ADS_HOP_LIMIT));
  path.tclass = static_cast<uint8_t>(VCX_GET(&ads, VCX_ADS_TCLASS));
  path.ack_timeout = static_cast<uint8_t>(VCX_GET(&ads, VCX_ADS_ACK_TIMEOUT));
  path.force_loopback = VCX_GET(&ads, VCX_ADS_FL) != 0;
  path.has_grh = VCX_GET(&ads, VCX_ADS_GRH) != 0;
  path.flow_label = VCX_GET(&ads, VCX_ADS_FLOW_LABEL);
  std::memcpy(path.dgid.data(), &ads.dw[VCX_ADS_RGID_DW], path.dgid.size());
  return path;
}

void SwapCounterSet(const Firmware& fw, Qp& qp) {
  CounterSet* set = fw.objects.counter_sets.Find(
      VCX_GET(&qp.context, VCX_QPC_COUNTER_SET_ID));
  if (set != nullptr) ++set->references;
  if (qp.counters != nullptr) --qp.counters->references;
  qp.counters = set;
}

}  // namespace

std::optional<AttrMask> AttrsFromOptParam(uint32_t opt_param_mask) {
  AttrMask attrs = 0;
  for (const OptParam& param : kOptParams) {
    if ((opt_param_mask & param.bit) != 0) attrs |= param.attrs;
    opt_param_mask &= ~param.bit;
  }
  if (opt_param_mask != 0) return std::nullopt;
  return attrs;
}

void CopyAttrs(AttrMask attrs, const vcx_qpc& from, vcx_qpc& to) {
  for (const AttrField& field : kAttrFields)
    if ((attrs & field.attr) != 0)
      vcx_field_set(to.dw, field.byte, field.high, field.low,
                    vcx_field_get(from.dw, field.byte, field.high, field.low));
  if ((attrs & kAttrDoorbellRecord) != 0)
    VCX_SET64(&to, VCX_QPC_DBR_ADDR, VCX_GET64(&from, VCX_QPC_DBR_ADDR));
  CopyPathAttrs(attrs, from, to);
}

CmdVerdict CheckAttrs(const Firmware& fw, AttrMask attrs, const vcx_qpc& qpc) {
  if (const CmdVerdict v = CheckPathAttrs(attrs, PrimaryPath(qpc));
      v != VCX_CMD_ACCEPTED)
    return v;
  if ((attrs & kAttrMtu) != 0) {
    const uint32_t code = VCX_GET(&qpc, VCX_QPC_MTU);
    if (code == 0 || code > kMaxMtuCode ||
        1u << (kLogMtuBase + code) > fw.port.mtu_bytes())
      return VCX_REFUSED_QP_MTU;
  }
  if ((attrs & kAttrLogMsgMax) != 0 &&
      VCX_GET(&qpc, VCX_QPC_LOG_MSG_MAX) > fw.limits.log_max_msg)
    return VCX_REFUSED_QP_LOG_MSG_MAX;
  if ((attrs & kAttrSraMax) != 0 &&
      VCX_GET(&qpc, VCX_QPC_LOG_SRA_MAX) > fw.limits.log_max_ra_req)
    return VCX_REFUSED_QP_LOG_SRA_MAX;
  if ((attrs & kAttrRraMax) != 0 &&
      VCX_GET(&qpc, VCX_QPC_LOG_RRA_MAX) > fw.limits.log_max_ra_res)
    return VCX_REFUSED_QP_LOG_RRA_MAX;
  if ((attrs & kAttrPmState) != 0 &&
      VCX_GET(&qpc, VCX_QPC_PM_STATE) != VCX_QP_PM_MIGRATED)
    return VCX_REFUSED_QP_PM_STATE;
  if ((attrs & kAttrCounterSet) != 0) {
    const uint32_t id = VCX_GET(&qpc, VCX_QPC_COUNTER_SET_ID);
    if (id != 0 && fw.objects.counter_sets.Find(id) == nullptr)
      return VCX_REFUSED_QP_COUNTER_SET;
  }
  if ((attrs & kAttrDoorbellRecord) != 0 &&
      VCX_GET64(&qpc, VCX_QPC_DBR_ADDR) % kDoorbellRecordBytes != 0)
    return VCX_REFUSED_DOORBELL_RECORD;
  return VCX_CMD_ACCEPTED;
}

void LoadAttrs(const Firmware& fw, AttrMask attrs, Qp& qp) {
  const vcx_qpc* c = &qp.context;
  const uint32_t mtu = VCX_GET(c, VCX_QPC_MTU);
  qp.path = PathFrom(PrimaryPath(*c));
  qp.remote_qpn = VCX_GET(c, VCX_QPC_REMOTE_QPN);
  qp.log_mtu = mtu != 0 ? static_cast<uint8_t>(kLogMtuBase + mtu) : kLogMaxMtu;
  qp.log_msg_max = static_cast<uint8_t>(VCX_GET(c, VCX_QPC_LOG_MSG_MAX));
  qp.log_sra_max = static_cast<uint8_t>(VCX_GET(c, VCX_QPC_LOG_SRA_MAX));
  qp.log_rra_max = static_cast<uint8_t>(VCX_GET(c, VCX_QPC_LOG_RRA_MAX));
  qp.remote_read = VCX_GET(c, VCX_QPC_RRE) != 0;
  qp.remote_write = VCX_GET(c, VCX_QPC_RWE) != 0;
  qp.remote_atomic = VCX_GET(c, VCX_QPC_RAE) != 0;
  qp.min_rnr_nak = static_cast<uint8_t>(VCX_GET(c, VCX_QPC_MIN_RNR_NAK));
  qp.retry_count = static_cast<uint8_t>(VCX_GET(c, VCX_QPC_RETRY_COUNT));
  qp.rnr_retry = static_cast<uint8_t>(VCX_GET(c, VCX_QPC_RNR_RETRY));
  if ((attrs & kAttrRcvPsn) != 0)
    qp.responder.expected = Psn(VCX_GET(c, VCX_QPC_NEXT_RCV_PSN));
  if ((attrs & kAttrSendPsn) != 0)
    qp.requester.next_psn = Psn(VCX_GET(c, VCX_QPC_NEXT_SEND_PSN));
  if ((attrs & kAttrCounterSet) != 0) SwapCounterSet(fw, qp);
  if ((attrs & kAttrDoorbellRecord) != 0)
    qp.doorbell_record = VCX_GET64(c, VCX_QPC_DBR_ADDR);
}

}  // namespace vcx
