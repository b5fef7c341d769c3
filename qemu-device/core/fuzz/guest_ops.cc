/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Operations of hostile guests: registers, commands, work queues.
#include <cstring>
#include <iterator>

#include "fuzz/machine.h"
#include "vcx/regs.h"

namespace vcx::fuzz {
namespace {

constexpr uint16_t kOpcodes[] = {
    VCX_CMD_QUERY_HCA_CAP,
    VCX_CMD_QUERY_ADAPTER,
    VCX_CMD_INIT_HCA,
    VCX_CMD_TEARDOWN_HCA,
    VCX_CMD_ENABLE_HCA,
    VCX_CMD_DISABLE_HCA,
    VCX_CMD_QUERY_PAGES,
    VCX_CMD_MANAGE_PAGES,
    VCX_CMD_SET_HCA_CAP,
    VCX_CMD_QUERY_ISSI,
    VCX_CMD_SET_ISSI,
    VCX_CMD_QUERY_MKEY,
    VCX_CMD_DESTROY_MKEY,
    VCX_CMD_DESTROY_EQ,
    VCX_CMD_QUERY_EQ,
    VCX_CMD_DESTROY_CQ,
    VCX_CMD_QUERY_CQ,
    VCX_CMD_MODIFY_CQ,
    VCX_CMD_DESTROY_QP,
    VCX_CMD_RTS2RTS_QP,
    VCX_CMD_SQERR2RTS_QP,
    VCX_CMD_2ERR_QP,
    VCX_CMD_RTS2SQD_QP,
    VCX_CMD_2RST_QP,
    VCX_CMD_QUERY_QP,
    VCX_CMD_SQD2RTS_QP,
    VCX_CMD_INIT2INIT_QP,
    VCX_CMD_QUERY_HCA_VPORT_CONTEXT,
    VCX_CMD_QUERY_HCA_VPORT_GID,
    VCX_CMD_QUERY_HCA_VPORT_PKEY,
    VCX_CMD_ALLOC_Q_COUNTER,
    VCX_CMD_DEALLOC_Q_COUNTER,
    VCX_CMD_QUERY_Q_COUNTER,
    VCX_CMD_ALLOC_PD,
    VCX_CMD_DEALLOC_PD,
    VCX_CMD_ALLOC_UAR,
    VCX_CMD_DEALLOC_UAR,
    VCX_CMD_ACCESS_REG,
};

// Of an object that exists, or any number.
uint32_t Number(Script& script, const Process& process) {
  FakeDriver& driver = process.machine->driver;
  switch (script.Below(10)) {
    case 0: return process.qp.number;
    case 1: return process.send_cq.number;
    case 2: return process.recv_cq.number;
    case 3: return process.mr.index;
    case 4: return driver.pd();
    case 5: return driver.uar();
    case 6: return driver.completion_eq().number;
    case 7: return driver.async_eq().number;
    case 8: return script.U8();
    default: return script.U32();
  }
}

std::vector<uint8_t> CommandBody(Script& script, Process& process) {
  FakeDriver& driver = process.machine->driver;
  switch (script.Below(12)) {
    case 0: return driver.EqInput(driver.PrepareEq({.log_size = 4})).Bytes();
    case 1: return driver.CqInput(driver.PrepareCq({.log_size = 3})).Bytes();
    case 2: return driver.MrInput(driver.PrepareMr({.bytes = 8192})).Bytes();
    case 3: return driver.PhysicalInput().Bytes();
    case 4: return driver.QpInput(driver.PrepareQp(process.qp.options)).Bytes();
    case 5: return driver.InitInput(process.qp).Bytes();
    case 6: return driver.RtrInput(process.qp, process.peer).Bytes();
    case 7: return driver.RtsInput(process.qp, process.peer).Bytes();
    case 8: {
      auto give = MakeInput<vcx_manage_pages_in>(VCX_CMD_MANAGE_PAGES,
                                                 VCX_MANAGE_PAGES_GIVE);
      give.fixed.num_pages = script.Below(4);
      for (uint32_t i = 0; i < give.fixed.num_pages.get(); ++i)
        give.list.push_back(driver.host().Alloc(VCX_PAGE_BYTES));
      return give.Bytes();
    }
    default: {
      auto in = MakeInput<vcx_number_in>(
          kOpcodes[script.Below(std::size(kOpcodes))], script.Below(4));
      in.fixed.number = Number(script, process);
      std::vector<uint8_t> bytes = in.Bytes();
      bytes.resize(bytes.size() + 8u * script.U8());
      return bytes;
    }
  }
}

// Changes a few bytes, words or the length.
void Spoil(Script& script, const Process& process,
           std::vector<uint8_t>* bytes) {
  for (uint32_t n = script.Below(6); n > 0 && !bytes->empty(); --n) {
    const size_t at = script.U16() % bytes->size();
    switch (script.Below(4)) {
      case 0: (*bytes)[at] = script.U8(); break;
      case 1:
        (*bytes)[at] =
            static_cast<uint8_t>((*bytes)[at] ^ 1u << script.Below(8));
        break;
      case 2: {
        const vcx_be32 word(Number(script, process));
        if (at + sizeof(word) <= bytes->size())
          std::memcpy(&(*bytes)[at & ~size_t{3}], &word, sizeof(word));
        break;
      }
      case 3: bytes->resize(script.U16() % (bytes->size() + 64)); break;
    }
  }
}

Sge AnySge(Script& script, const Process& process, uint32_t secret_key) {
  Sge sge{process.mr.key(), process.mr.options.va, script.U16()};
  const uint8_t what = script.U8();
  sge.va += script.U16();
  if ((what & 15) == 1) sge.lkey = secret_key;
  if ((what & 15) == 2) sge.lkey = script.U32();
  if ((what & 15) == 3) sge.va = script.U64();
  if ((what & 15) == 4) sge.bytes = script.U32();
  if ((what & 15) == 5) sge.va -= 0x8000;
  if ((what & 16) != 0) sge.bytes &= 63;
  return sge;
}

}  // namespace

void Machine::Bar(Script& script) {
  Device& device = Pick(script).machine->device;
  uint64_t offset = script.U32() % (2 * device.bar_bytes());
  if (script.Flag()) offset %= 16 * VCX_PAGE_BYTES;
  const unsigned size = 1u << script.Below(4);
  if (script.Flag())
    device.BarWrite(offset, script.U64(), size);
  else
    device.BarRead(offset, size);
}

void Machine::Command(Script& script) {
  Process& process = Pick(script);
  std::vector<uint8_t> body = CommandBody(script, process);
  Spoil(script, process, &body);
  process.machine->driver.port().Execute(body, script.U16() % 8192);
}

void Machine::RawCommand(Script& script) {
  Process& process = Pick(script);
  FakeHost& host = process.machine->host;
  CommandPort& port = process.machine->driver.port();
  const uint32_t slot = script.Below(CommandPort::kSlots);
  port.Post(slot, CommandBody(script, process), script.U16() % 8192);
  std::vector<uint64_t> places{port.EntryAddress(slot)};
  for (const auto* chain :
       {&port.in_mailboxes(slot), &port.out_mailboxes(slot)})
    places.insert(places.end(), chain->begin(), chain->end());
  for (uint32_t n = script.Below(6); n > 0; --n) {
    const uint64_t place = places[script.U8() % places.size()];
    // Pointers may lead anywhere, in circles too.
    const bool entry = place == places[0];
    const uint64_t pointer =
        script.Flag() ? places[script.U8() % places.size()] : script.U64();
    if (script.Flag())
      host.Put(place + (entry ? (script.Flag()
                                     ? offsetof(vcx_cmd_entry, in_mailbox)
                                     : offsetof(vcx_cmd_entry, out_mailbox))
                              : offsetof(vcx_cmd_mailbox, next)),
               vcx_be64(pointer));
    else
      host.Put(place + script.U16() % (entry ? sizeof(vcx_cmd_entry)
                                             : sizeof(vcx_cmd_mailbox)),
               script.U8());
  }
  port.Ring(script.Flag() ? 1u << slot : script.U32());
}

void Machine::Post(Script& script) {
  Process& process = Pick(script);
  const Process& other = &process == processes_ ? processes_[1] : processes_[0];
  const uint32_t secret = secrets_[&process - processes_].mr.key();
  const uint32_t remote_secret = secrets_[1 - (&process - processes_)].mr.key();
  FakeDriver& driver = process.machine->driver;
  const uint8_t what = script.U8();
  std::vector<Sge> sges;
  for (uint32_t n = script.Below(5); n > 0; --n)
    sges.push_back(AnySge(script, process, secret));
  if ((what & 1) != 0) return driver.PostRecv(process.qp, sges);

  constexpr uint8_t kKinds[] = {VCX_WQE_SEND,       VCX_WQE_SEND_IMM,
                                VCX_WQE_RDMA_WRITE, VCX_WQE_RDMA_WRITE_IMM,
                                VCX_WQE_RDMA_READ,  VCX_WQE_NOP};
  const Sge remote = AnySge(script, other, remote_secret);
  SendWr wr{.opcode = kKinds[script.Below(std::size(kKinds))],
            .sges = sges,
            .remote_va = remote.va,
            .rkey = remote.lkey,
            .imm = 0x01020304,
            .signaled = (what & 2) != 0,
            .solicited = (what & 4) != 0,
            .fence = static_cast<uint8_t>(what & VCX_WQE_FM_MASK)};
  if ((what & 8) != 0) wr.inline_data = script.Bytes();
  if ((what & 16) != 0) wr.opcode = script.U8();
  driver.PostSend(process.qp, wr);
  driver.RingSend(process.qp);
}

void Machine::Scribble(Script& script) {
  Process& process = Pick(script);
  FakeHost& host = process.machine->host;
  const FakeBuffer* const buffers[] = {
      &process.qp.buffer, &process.send_cq.ring, &process.recv_cq.ring,
      &process.mr.buffer};
  const uint64_t records[] = {process.qp.doorbell_record,
                              process.send_cq.doorbell_record,
                              process.recv_cq.doorbell_record};
  const uint32_t where = script.Below(7);
  const uint32_t at = script.U16();
  const std::vector<uint8_t> bytes = script.Bytes();
  if (where >= 4) {
    host.Write(records[where - 4], bytes.data(),
               std::min<size_t>(bytes.size(), 8));
    return;
  }
  const FakeBuffer& buffer = *buffers[where];
  for (size_t i = 0; i < bytes.size(); ++i)
    host.WriteBuffer(buffer, (at * 16u + i) % buffer.bytes, &bytes[i], 1);
}

void Machine::Doorbell(Script& script) {
  Process& process = Pick(script);
  FakeDriver& driver = process.machine->driver;
  const uint8_t what = script.U8();
  if ((what & 1) != 0)
    process.machine->host.Put(
        process.qp.doorbell_record + (what >> 1 & 1) * sizeof(vcx_be32),
        vcx_be32(script.U32()));
  const uint32_t qpn = (what & 4) != 0 ? script.U32() : process.qp.number;
  const uint32_t page = (what & 8) != 0 ? script.Below(80) : driver.uar();
  const uint32_t reg =
      VCX_UAR_SQ + (script.Below(VCX_UAR_SQ_REGISTERS) << VCX_UAR_SQ_LOG_BYTES);
  driver.WriteUar64(page, reg, uint64_t{script.U32()} << 32 | qpn << 8);
}

void Machine::ArmOrPoll(Script& script) {
  Process& process = Pick(script);
  FakeDriver& driver = process.machine->driver;
  FakeCq& cq = script.Flag() ? process.send_cq : process.recv_cq;
  switch (script.Below(5)) {
    case 0: driver.PollAll(cq); break;
    case 1: driver.Arm(cq, script.Flag()); break;
    case 2: cq.arm_sn += script.U8(); break;
    case 3: cq.ci += script.U8(); break;
    case 4: {
      FakeEq& eq = script.Flag() ? driver.completion_eq() : driver.async_eq();
      while (driver.NextEvent(eq)) {
      }
      driver.ArmEq(eq, script.Flag());
      break;
    }
  }
}

void Machine::ChangeQpState(Script& script) {
  Process& process = Pick(script);
  FakeDriver& driver = process.machine->driver;
  constexpr uint16_t kPlain[] = {VCX_CMD_2ERR_QP,    VCX_CMD_2RST_QP,
                                 VCX_CMD_RTS2SQD_QP, VCX_CMD_SQD2RTS_QP,
                                 VCX_CMD_RTS2RTS_QP, VCX_CMD_INIT2INIT_QP};
  Input<vcx_qp_in> in;
  const uint32_t which = script.Below(std::size(kPlain) + 3);
  if (which < std::size(kPlain)) {
    in = MakeInput<vcx_qp_in>(kPlain[which]);
    in.fixed.qpn = process.qp.number;
  } else if (which == std::size(kPlain)) {
    in = driver.InitInput(process.qp);
  } else if (which == std::size(kPlain) + 1) {
    in = driver.RtrInput(process.qp, process.peer);
  } else {
    in = driver.RtsInput(process.qp, process.peer);
  }
  const Reply reply = driver.port().Execute(in, 16);
  if (in.fixed.hdr.opcode.get() != VCX_CMD_2RST_QP || !reply.ok()) return;
  process.qp.sq_pi = 0;
  process.qp.rq_pi = 0;
  process.machine->host.Put(process.qp.doorbell_record, uint64_t{0});
}

}  // namespace vcx::fuzz
