/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/dispatch.h"

#include <algorithm>
#include <iterator>

#include "cmd/handlers.h"
#include "vcx/cmd_layout.h"

namespace vcx {
namespace {

// In which states of the HCA a command is accepted.
using States = uint8_t;
constexpr States In(HcaState state) {
  return static_cast<States>(1u << static_cast<unsigned>(state));
}
constexpr States kBeforeEnable = In(HcaState::kDisabled);
constexpr States kBeforeInit = In(HcaState::kEnabled);
constexpr States kAfterInit = In(HcaState::kInitialized);
constexpr States kAfterEnable = kBeforeInit | kAfterInit;

enum class OpMod : uint8_t { kZero, kHandler };  // who checks op_mod
enum class List : uint8_t { kNone, kAllowed };   // after the input's structure

struct Command {
  uint16_t opcode;
  const char* name;
  States states;
  OpMod op_mod;
  List list;
  size_t in_bytes;  // the structures that the handler takes
  size_t out_bytes;
  CmdVerdict (*run)(Firmware& fw, std::span<const uint8_t> in,
                    std::span<uint8_t> out, Call& call);
};

// Makes the entry of a handler; the lengths follow from its parameters, so no
// handler can see a structure that is not there.
template <auto kHandler>
struct Entry;

template <class In, class Out,
          CmdVerdict (*kHandler)(Firmware&, const In&, const Call&, Out&)>
struct Entry<kHandler> {
  static CmdVerdict Run(Firmware& fw, std::span<const uint8_t> in,
                        std::span<uint8_t> out, Call& call) {
    call.list = in.subspan(sizeof(In));
    call.room = out.subspan(sizeof(Out));
    return kHandler(fw, *reinterpret_cast<const In*>(in.data()), call,
                    *reinterpret_cast<Out*>(out.data()));
  }

  static constexpr Command Make(uint16_t opcode, const char* name,
                                States states, OpMod op_mod = OpMod::kZero,
                                List list = List::kNone) {
    return {opcode, name, states, op_mod, list, sizeof(In), sizeof(Out), Run};
  }
};

constexpr Command kCommands[] = {
    Entry<QueryHcaCap>::Make(VCX_CMD_QUERY_HCA_CAP, "QUERY_HCA_CAP",
                             kAfterEnable, OpMod::kHandler),
    Entry<QueryAdapter>::Make(VCX_CMD_QUERY_ADAPTER, "QUERY_ADAPTER",
                              kAfterEnable),
    Entry<InitHca>::Make(VCX_CMD_INIT_HCA, "INIT_HCA", kBeforeInit),
    Entry<TeardownHca>::Make(VCX_CMD_TEARDOWN_HCA, "TEARDOWN_HCA", kAfterInit),
    Entry<EnableHca>::Make(VCX_CMD_ENABLE_HCA, "ENABLE_HCA", kBeforeEnable),
    Entry<DisableHca>::Make(VCX_CMD_DISABLE_HCA, "DISABLE_HCA", kBeforeInit),
    Entry<QueryPages>::Make(VCX_CMD_QUERY_PAGES, "QUERY_PAGES", kAfterEnable,
                            OpMod::kHandler),
    Entry<ManagePages>::Make(VCX_CMD_MANAGE_PAGES, "MANAGE_PAGES", kAfterEnable,
                             OpMod::kHandler, List::kAllowed),
    Entry<SetHcaCap>::Make(VCX_CMD_SET_HCA_CAP, "SET_HCA_CAP", kBeforeInit,
                           OpMod::kHandler),
    Entry<QueryIssi>::Make(VCX_CMD_QUERY_ISSI, "QUERY_ISSI", kAfterEnable),
    Entry<SetIssi>::Make(VCX_CMD_SET_ISSI, "SET_ISSI", kBeforeInit),
    Entry<CreateMkey>::Make(VCX_CMD_CREATE_MKEY, "CREATE_MKEY", kAfterInit,
                            OpMod::kZero, List::kAllowed),
    Entry<QueryMkey>::Make(VCX_CMD_QUERY_MKEY, "QUERY_MKEY", kAfterInit),
    Entry<DestroyMkey>::Make(VCX_CMD_DESTROY_MKEY, "DESTROY_MKEY", kAfterInit),
    Entry<CreateEq>::Make(VCX_CMD_CREATE_EQ, "CREATE_EQ", kAfterInit,
                          OpMod::kZero, List::kAllowed),
    Entry<DestroyEq>::Make(VCX_CMD_DESTROY_EQ, "DESTROY_EQ", kAfterInit),
    Entry<QueryEq>::Make(VCX_CMD_QUERY_EQ, "QUERY_EQ", kAfterInit),
    Entry<CreateCq>::Make(VCX_CMD_CREATE_CQ, "CREATE_CQ", kAfterInit,
                          OpMod::kZero, List::kAllowed),
    Entry<DestroyCq>::Make(VCX_CMD_DESTROY_CQ, "DESTROY_CQ", kAfterInit),
    Entry<QueryCq>::Make(VCX_CMD_QUERY_CQ, "QUERY_CQ", kAfterInit),
    Entry<ModifyCq>::Make(VCX_CMD_MODIFY_CQ, "MODIFY_CQ", kAfterInit,
                          OpMod::kHandler, List::kAllowed),
    Entry<CreateQp>::Make(VCX_CMD_CREATE_QP, "CREATE_QP", kAfterInit,
                          OpMod::kZero, List::kAllowed),
    Entry<DestroyQp>::Make(VCX_CMD_DESTROY_QP, "DESTROY_QP", kAfterInit),
    Entry<Rst2Init>::Make(VCX_CMD_RST2INIT_QP, "RST2INIT_QP", kAfterInit),
    Entry<Init2Rtr>::Make(VCX_CMD_INIT2RTR_QP, "INIT2RTR_QP", kAfterInit),
    Entry<Rtr2Rts>::Make(VCX_CMD_RTR2RTS_QP, "RTR2RTS_QP", kAfterInit),
    Entry<Rts2Rts>::Make(VCX_CMD_RTS2RTS_QP, "RTS2RTS_QP", kAfterInit),
    Entry<SqErr2Rts>::Make(VCX_CMD_SQERR2RTS_QP, "SQERR2RTS_QP", kAfterInit),
    Entry<ToErr>::Make(VCX_CMD_2ERR_QP, "2ERR_QP", kAfterInit),
    Entry<Rts2Sqd>::Make(VCX_CMD_RTS2SQD_QP, "RTS2SQD_QP", kAfterInit,
                         OpMod::kHandler),
    Entry<ToRst>::Make(VCX_CMD_2RST_QP, "2RST_QP", kAfterInit),
    Entry<QueryQp>::Make(VCX_CMD_QUERY_QP, "QUERY_QP", kAfterInit),
    Entry<Sqd2Rts>::Make(VCX_CMD_SQD2RTS_QP, "SQD2RTS_QP", kAfterInit),
    Entry<Init2Init>::Make(VCX_CMD_INIT2INIT_QP, "INIT2INIT_QP", kAfterInit),
    Entry<QueryVportContext>::Make(VCX_CMD_QUERY_HCA_VPORT_CONTEXT,
                                   "QUERY_HCA_VPORT_CONTEXT", kAfterInit),
    Entry<QueryVportGid>::Make(VCX_CMD_QUERY_HCA_VPORT_GID,
                               "QUERY_HCA_VPORT_GID", kAfterInit),
    Entry<QueryVportPkey>::Make(VCX_CMD_QUERY_HCA_VPORT_PKEY,
                                "QUERY_HCA_VPORT_PKEY", kAfterInit),
    Entry<AllocQCounter>::Make(VCX_CMD_ALLOC_Q_COUNTER, "ALLOC_Q_COUNTER",
                               kAfterInit),
    Entry<DeallocQCounter>::Make(VCX_CMD_DEALLOC_Q_COUNTER, "DEALLOC_Q_COUNTER",
                                 kAfterInit),
    Entry<QueryQCounter>::Make(VCX_CMD_QUERY_Q_COUNTER, "QUERY_Q_COUNTER",
                               kAfterInit),
    Entry<AllocPd>::Make(VCX_CMD_ALLOC_PD, "ALLOC_PD", kAfterInit),
    Entry<DeallocPd>::Make(VCX_CMD_DEALLOC_PD, "DEALLOC_PD", kAfterInit),
    Entry<AllocUar>::Make(VCX_CMD_ALLOC_UAR, "ALLOC_UAR", kAfterInit),
    Entry<DeallocUar>::Make(VCX_CMD_DEALLOC_UAR, "DEALLOC_UAR", kAfterInit),
    Entry<AccessRegister>::Make(VCX_CMD_ACCESS_REG, "ACCESS_REG", kAfterEnable,
                                OpMod::kHandler, List::kAllowed),
};

constexpr bool IsSortedAndUnique() {
  for (size_t i = 1; i < std::size(kCommands); ++i)
    if (kCommands[i - 1].opcode >= kCommands[i].opcode) return false;
  return true;
}
static_assert(IsSortedAndUnique(), "kCommands must be in order of opcodes");

// Stock drivers know longer structures for some commands than are defined
// here; so much more is accepted and ignored.
constexpr size_t kFutureBytes = 4096;

const Command* FindCommand(uint16_t opcode) {
  const auto* found = std::lower_bound(
      std::begin(kCommands), std::end(kCommands), opcode,
      [](const Command& c, uint16_t value) { return c.opcode < value; });
  const bool exists = found != std::end(kCommands) && found->opcode == opcode;
  return exists ? found : nullptr;
}

CmdVerdict Check(const Firmware& fw, const Command* command,
                 const vcx_cmd_in& header, size_t in_bytes, size_t out_bytes) {
  if (command == nullptr) return VCX_REFUSED_OPCODE;
  if (in_bytes < command->in_bytes ||
      in_bytes > UsableInputBytes(command->opcode, fw.limits))
    return VCX_REFUSED_IN_LENGTH;
  if (out_bytes < command->out_bytes) return VCX_REFUSED_OUT_LENGTH;
  if ((command->states & In(fw.state)) == 0) return VCX_REFUSED_HCA_STATE;
  if (header.uid.get() != 0) return VCX_REFUSED_UID;
  if (command->op_mod == OpMod::kZero && header.op_mod.get() != 0)
    return VCX_REFUSED_OP_MOD;
  return VCX_CMD_ACCEPTED;
}

bool IsToFail(Firmware& fw) {
  return fw.commands_to_fault != 0 && --fw.commands_to_fault == 0;
}

}  // namespace

size_t MaxInputBytes(const Limits& limits) {
  return sizeof(vcx_create_mkey_in) +
         size_t{limits.max_mkey_pages} * sizeof(vcx_be64) + kFutureBytes;
}

size_t UsableInputBytes(uint16_t opcode, const Limits& limits) {
  const Command* command = FindCommand(opcode);
  if (command == nullptr) return 0;
  if (command->list == List::kAllowed) return MaxInputBytes(limits);
  return command->in_bytes + kFutureBytes;
}

CmdVerdict Execute(Firmware& fw, std::span<const uint8_t> in,
                   std::span<uint8_t> out) {
  const auto& header = *reinterpret_cast<const vcx_cmd_in*>(in.data());
  const Command* command = FindCommand(header.opcode.get());
  CmdVerdict verdict = Check(fw, command, header, in.size(), out.size());
  if (verdict == VCX_CMD_ACCEPTED && IsToFail(fw))
    verdict = VCX_REFUSED_FOR_TEST;
  if (verdict == VCX_CMD_ACCEPTED) {
    Call call;
    call.op_mod = header.op_mod.get();
    verdict = command->run(fw, in, out, call);
  }
  if (verdict != VCX_CMD_ACCEPTED) std::fill(out.begin(), out.end(), 0);
  auto& reply = *reinterpret_cast<vcx_cmd_out*>(out.data());
  reply.status = static_cast<uint8_t>(VCX_REFUSAL_STATUS(verdict));
  reply.syndrome = static_cast<uint32_t>(verdict);
  return verdict;
}

const char* OpcodeName(uint16_t opcode) {
  const Command* command = FindCommand(opcode);
  return command != nullptr ? command->name : "UNKNOWN";
}

}  // namespace vcx
