/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// version.h - the firmware version that the device reports.
#ifndef VCX_CORE_VERSION_H_
#define VCX_CORE_VERSION_H_

#include <cstdint>

namespace vcx {

inline constexpr uint16_t kFirmwareMajor = 1;
inline constexpr uint16_t kFirmwareMinor = 0;
inline constexpr uint16_t kFirmwareSubminor = 0;

// In the health buffer, as one word.
inline constexpr uint32_t kFirmwareVersion = uint32_t{kFirmwareMajor} << 24 |
                                             uint32_t{kFirmwareMinor} << 16 |
                                             kFirmwareSubminor;

}  // namespace vcx

#endif  // VCX_CORE_VERSION_H_
