/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// dispatch.h - opcode -> handler, with what can be checked without it.
#ifndef VCX_CORE_CMD_DISPATCH_H_
#define VCX_CORE_CMD_DISPATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "cmd/firmware.h"

namespace vcx {

// The largest input that any command can have: CREATE_MKEY with all the
// translations that a key may have.
size_t MaxInputBytes(const Limits& limits);

// The largest room for an output that is accepted, far above what any command
// fills.
inline constexpr size_t kMaxOutputBytes = 1u << 20;

// How many bytes of input the command can use; 0 when there is no such opcode.
// Its list decides for commands that have one.
size_t UsableInputBytes(uint16_t opcode, const Limits& limits);

// Runs one command. `in` is the whole input, at least struct vcx_cmd_in;
// `out`, at least struct vcx_cmd_out and zero, receives the output. Both are
// aligned to 16 bytes. Refused commands leave nothing but the header in it.
CmdVerdict Execute(Firmware& fw, std::span<const uint8_t> in,
                   std::span<uint8_t> out);

// "CREATE_QP"; "UNKNOWN" when there is no such opcode.
const char* OpcodeName(uint16_t opcode);

}  // namespace vcx

#endif  // VCX_CORE_CMD_DISPATCH_H_
