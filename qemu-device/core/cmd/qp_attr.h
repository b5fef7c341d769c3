/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// qp_attr.h - the attributes of a QP that transitions set: which there are,
// where they stand in the context, what values they may have.
#ifndef VCX_CORE_CMD_QP_ATTR_H_
#define VCX_CORE_CMD_QP_ATTR_H_

#include <cstdint>
#include <optional>

#include "cmd/firmware.h"
#include "resource/qp.h"

namespace vcx {

using AttrMask = uint32_t;

inline constexpr AttrMask kAttrRre = 1u << 0;
inline constexpr AttrMask kAttrRwe = 1u << 1;
inline constexpr AttrMask kAttrRae = 1u << 2;
inline constexpr AttrMask kAttrPkeyIndex = 1u << 3;
inline constexpr AttrMask kAttrPort = 1u << 4;
inline constexpr AttrMask kAttrPath = 1u << 5;  // address vector
inline constexpr AttrMask kAttrMtu = 1u << 6;
inline constexpr AttrMask kAttrLogMsgMax = 1u << 7;
inline constexpr AttrMask kAttrRemoteQpn = 1u << 8;
inline constexpr AttrMask kAttrRcvPsn = 1u << 9;
inline constexpr AttrMask kAttrRraMax = 1u << 10;
inline constexpr AttrMask kAttrMinRnrNak = 1u << 11;
inline constexpr AttrMask kAttrSendPsn = 1u << 12;
inline constexpr AttrMask kAttrSraMax = 1u << 13;
inline constexpr AttrMask kAttrRetryCount = 1u << 14;
inline constexpr AttrMask kAttrRnrRetry = 1u << 15;
inline constexpr AttrMask kAttrAckTimeout = 1u << 16;
inline constexpr AttrMask kAttrPmState = 1u << 17;
// A driver may give these two with CREATE_QP, with RST2INIT, or with both; a
// zero leaves what is there.
inline constexpr AttrMask kAttrCounterSet = 1u << 18;
inline constexpr AttrMask kAttrDoorbellRecord = 1u << 19;

inline constexpr AttrMask kAttrAccess = kAttrRre | kAttrRwe | kAttrRae;
inline constexpr AttrMask kAttrAll = (1u << 20) - 1;

// What the bits of opt_param_mask select; nothing when there is a bit that no
// RC transition knows.
std::optional<AttrMask> AttrsFromOptParam(uint32_t opt_param_mask);

// Copies the fields of the attributes from one context to another.
void CopyAttrs(AttrMask attrs, const vcx_qpc& from, vcx_qpc& to);

// Whether the attributes have values that this device and port allow.
CmdVerdict CheckAttrs(const Firmware& fw, AttrMask attrs, const vcx_qpc& qpc);

// Sets the QP from its context; of the sequence numbers, counter set and
// doorbell record only those that are among the attributes. They were checked.
void LoadAttrs(const Firmware& fw, AttrMask attrs, Qp& qp);

}  // namespace vcx

#endif  // VCX_CORE_CMD_QP_ATTR_H_
