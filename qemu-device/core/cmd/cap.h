/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// cap.h - the general capabilities of this device, honest in every field.
#ifndef VCX_CORE_CMD_CAP_H_
#define VCX_CORE_CMD_CAP_H_

#include "config.h"
#include "vcx/cap.h"

namespace vcx {

vcx_hca_cap BuildCapabilities(const vcx_core_config& config,
                              const Limits& limits);

}  // namespace vcx

#endif  // VCX_CORE_CMD_CAP_H_
