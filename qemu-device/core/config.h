/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// config.h - what this device can do: the limits that commands check against
// and that QUERY_HCA_CAP reports. Made once from vcx_core_config.
#ifndef VCX_CORE_CONFIG_H_
#define VCX_CORE_CONFIG_H_

#include <cstddef>
#include <cstdint>

#include "vcx_core.h"

namespace vcx {

struct Limits {
  // Objects at the same time, binary logarithms.
  uint8_t log_max_qp;
  uint8_t log_max_cq;
  uint8_t log_max_srq;
  uint8_t log_max_mkey;
  uint8_t log_max_pd;
  uint8_t log_max_eq;
  uint8_t log_max_uar;

  // Sizes of one object.
  uint8_t log_max_qp_sz = 15;   // 64-byte blocks of a send queue; receive WQEs
  uint8_t log_max_cq_sz = 22;   // entries
  uint8_t log_max_eq_sz = 22;   // entries
  uint8_t log_max_msg = 30;     // bytes of a message
  uint8_t log_max_ra_req = 4;   // outstanding reads of a requester
  uint8_t log_max_ra_res = 4;   // outstanding reads of a responder
  uint16_t max_sq_wqe_bytes = 1008;
  uint16_t max_rq_wqe_bytes = 512;
  uint32_t max_mkey_pages = 1u << 22;  // entries of one translation list
  uint16_t max_counter_sets = 64;
};

// The configuration's defaults. The GUID is for the caller to set.
void InitConfig(vcx_core_config* config);

// False when a member is out of its limits; error[] then has the sentence.
bool CheckConfig(const vcx_core_config& config, char* error, size_t error_len);

// From the counts of a checked configuration.
Limits LimitsFromConfig(const vcx_core_config& config);

}  // namespace vcx

#endif  // VCX_CORE_CONFIG_H_
