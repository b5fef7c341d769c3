/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/endpoint.h"

#include <arpa/inet.h>

#include <cerrno>

#include "xfer/error.h"

namespace xfer {
namespace {

constexpr uint32_t kPsnMask = 0xffffff;
// Tells the work request ID of a receive from that of a send.
constexpr uint64_t kRecvFlag = uint64_t{1} << 31;

constexpr uint64_t kSendOps = IBV_QP_EX_WITH_RDMA_WRITE |
                              IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                              IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND |
                              IBV_QP_EX_WITH_SEND_WITH_IMM;

ibv_wr_opcode WrOpcode(Op op) {
  switch (op) {
    case Op::kWrite: return IBV_WR_RDMA_WRITE;
    case Op::kWriteImm: return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Op::kRead: return IBV_WR_RDMA_READ;
    case Op::kSend: return IBV_WR_SEND;
    case Op::kSendImm: return IBV_WR_SEND_WITH_IMM;
  }
  Fail("no such operation");
}

ibv_wc_opcode WcOpcode(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    default: return IBV_WC_SEND;
  }
}

std::vector<ibv_sge> Sges(const std::vector<Piece>& pieces, const Area& area) {
  std::vector<ibv_sge> sges;
  for (const Piece& piece : pieces)
    sges.push_back({area.address() + piece.offset, piece.length, area.lkey()});
  return sges;
}

}  // namespace

Endpoint::Endpoint(Device& device, const Traffic& traffic, uint32_t slot,
                   uint32_t qp, bool initiator, ibv_cq* send_cq,
                   ibv_cq* recv_cq)
    : device_(device),
      traffic_(traffic),
      slot_(slot),
      index_(qp),
      initiator_(initiator),
      plan_(traffic, qp) {
  Random random(Mix(traffic.seed ^ 0x5eed, slot));
  const auto offset = [&] { return static_cast<uint32_t>(random.Below(4096)); };
  source_ = std::make_unique<Area>(device.pd(), traffic.area, offset(),
                                   IBV_ACCESS_REMOTE_READ);
  target_ =
      std::make_unique<Area>(device.pd(), traffic.area, offset(),
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  std::fill(target_->bytes().begin(), target_->bytes().end(), kUntouched);
  MakeQp(send_cq, recv_cq);
  self_ = {.qpn = qp_->qp_num,
           // Near the end of the PSNs, so that they wrap.
           .psn = (kPsnMask - offset() % 64) & kPsnMask,
           .lid = device.lid(),
           .gid = device.gid(),
           .source = source_->address(),
           .source_rkey = source_->rkey(),
           .target = target_->address(),
           .target_rkey = target_->rkey()};
}

void Endpoint::MakeQp(ibv_cq* send_cq, ibv_cq* recv_cq) {
  ibv_qp_init_attr_ex init{};
  init.send_cq = send_cq;
  init.recv_cq = recv_cq;
  init.qp_type = IBV_QPT_RC;
  init.cap = {.max_send_wr = SendEntries(traffic_),
              .max_recv_wr = RecvEntries(),
              .max_send_sge = traffic_.sges,
              .max_recv_sge = traffic_.sges,
              .max_inline_data = traffic_.max_inline};
  init.pd = device_.pd();
  init.comp_mask = IBV_QP_INIT_ATTR_PD;
  if (device_.options().wr_api) {
    init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.send_ops_flags = kSendOps;
  }
  qp_ = ibv_create_qp_ex(device_.context(), &init);
  if (qp_ == nullptr)
    FailErrno(errno, "{}: queue pair {} of {} cannot be created",
              device_.name(), slot_ + 1, traffic_.qps);

  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = static_cast<uint8_t>(device_.options().port);
  attr.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  if (const int e = ibv_modify_qp(
          qp_, &attr,
          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
    FailErrno(e, "{}: it cannot be initialized", Name());
}

std::string Endpoint::Name() const {
  return std::format("{}: QP {:#x} ({} of pair {})", device_.name(),
                     qp_->qp_num, initiator_ ? "initiator" : "responder",
                     index_);
}

void Endpoint::Connect(const Address& peer) {
  peer_ = peer;
  device_.Connect(qp_, self_, peer);
  if (initiator_) PostRecv({});  // for the first "ready"
}

void Endpoint::Start() {
  if (!initiator_) Respond();
}

bool Endpoint::finished() const {
  return over_ && !owes_ready_ && sends_posted_ == sends_retired_;
}

std::string Endpoint::State() const {
  return std::format(
      "{} is in round {}, {} of {} send and {} of {} receive work requests "
      "are complete",
      Name(), round_.number, sends_retired_, sends_posted_, recvs_done_,
      recvs_posted_);
}

// ---- rounds -----------------------------------------------------------------

uint64_t Endpoint::Key(bool initiators) const {
  return Mix(Mix(traffic_.seed, index_), 2 * round_.number + initiators);
}

// The immediate of "ready" and "done": tells pairs and rounds apart.
uint32_t Endpoint::Note(uint64_t round) const {
  return static_cast<uint32_t>(Mix(index_, round));
}

// Makes the next round and its data; false when there is none.
bool Endpoint::NextRound() {
  if (!plan_.Next(&round_)) {
    over_ = true;
    return false;
  }
  for (const Step& step : round_.steps)
    if (!IsTarget(step))
      for (const Piece& piece : step.source)
        FillPattern(Key(initiator_), piece.offset, source_->at(piece));
  return true;
}

void Endpoint::Respond() {
  arrivals_.clear();
  next_arrival_ = 0;
  if (NextRound()) {
    for (const Step& step : round_.steps)
      if (UsesReceive(step.op)) arrivals_.push_back(&step);
    for (const Step* step : arrivals_)
      // A write with immediate takes a receive, but leaves its memory alone.
      PostRecv(IsSend(step->op) ? step->target : std::vector<Piece>{});
    PostRecv({});  // for "done"
  }
  owes_ready_ = true;
  Pump();
}

// Posts what there is to post, as far as the send queue has room.
void Endpoint::Pump() {
  const auto pending = [&] { return sends_posted_ - sends_retired_; };
  if (owes_ready_ && pending() < SendEntries(traffic_)) {
    owes_ready_ = false;
    PostNote();
  }
  if (!working_) return;
  while (next_step_ < round_.steps.size() && pending() < traffic_.depth)
    PostStep(round_.steps[next_step_++]);
  if (next_step_ == round_.steps.size() && !done_posted_) {
    done_posted_ = true;
    PostNote();
  }
  if (done_posted_ && pending() == 0) {
    working_ = false;
    FinishRound();
    Begin();
  }
}

// The initiator's next round, if it may: the responder's "ready" and the own
// last completion come in any order.
void Endpoint::Begin() {
  if (working_ || begun_ == next_note_) return;
  begun_++;
  if (!NextRound()) return;
  PostRecv({});  // for the "ready" after this round
  next_step_ = 0;
  done_posted_ = false;
  working_ = true;
  Pump();
}

void Endpoint::FinishRound() {
  CheckTarget();
  AddToTotals();
}

void Endpoint::CheckTarget() {
  std::vector<Piece> filled;
  for (const Step& step : round_.steps) {
    if (!IsTarget(step)) continue;
    const auto pieces = Filled(step.target, step.length);
    if (traffic_.spoil != 0 && !spoiled_ && !pieces.empty()) {
      target_->at(pieces[0])[0] ^= 1;
      spoiled_ = true;
    }
    const std::string wrong = CompareStep(step, *target_, Key(!initiator_));
    if (!wrong.empty())
      Fail("{}: round {}: data of a {} arrived damaged: {}", Name(),
           round_.number, OpName(step.op), wrong);
    filled.insert(filled.end(), pieces.begin(), pieces.end());
  }
  const std::string wrong = CompareRest(filled, *target_);
  if (!wrong.empty()) Fail("{}: round {}: {}", Name(), round_.number, wrong);
}

// The checksum is of the data as it lies in this side's memory.
void Endpoint::AddToTotals() {
  for (const Step& step : round_.steps) {
    uint64_t sum = step.length;
    std::vector<uint8_t> whole;
    whole.reserve(step.length);
    const bool target = IsTarget(step);
    for (const Piece& piece :
         target ? Filled(step.target, step.length) : step.source) {
      const Bytes data = (target ? *target_ : *source_).at(piece);
      whole.insert(whole.end(), data.begin(), data.end());
      if (target) std::fill(data.begin(), data.end(), kUntouched);
    }
    totals_.checksum = Checksum(totals_.checksum ^ sum, whole);
    totals_.operations++;
    totals_.bytes += step.length;
  }
}

// ---- posting ----------------------------------------------------------------

void Endpoint::PostStep(const Step& step) {
  std::vector<ibv_sge> sges = step.op == Op::kRead
                                  ? Sges(step.target, *target_)
                                  : Sges(step.source, *source_);
  ibv_send_wr wr{};
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  wr.opcode = WrOpcode(step.op);
  if (step.signal) wr.send_flags |= IBV_SEND_SIGNALED;
  if (step.fence) wr.send_flags |= IBV_SEND_FENCE;
  if (step.in_line) wr.send_flags |= IBV_SEND_INLINE;
  wr.imm_data = htonl(step.imm);
  if (step.op == Op::kRead) {
    wr.wr.rdma.remote_addr = peer_.source + step.source[0].offset;
    wr.wr.rdma.rkey = peer_.source_rkey;
  } else if (!IsSend(step.op)) {
    wr.wr.rdma.remote_addr = peer_.target + step.target[0].offset;
    wr.wr.rdma.rkey = peer_.target_rkey;
  }
  Post(wr);
}

// The initiator's "done" waits for its reads, as the responder changes their
// source after it.
void Endpoint::PostNote() {
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
  if (initiator_) wr.send_flags |= IBV_SEND_FENCE;
  wr.imm_data = htonl(Note(initiator_ ? round_.number : next_note_++));
  Post(wr);
}

void Endpoint::Post(ibv_send_wr& wr) {
  wr.wr_id = uint64_t{slot_} << 32 | (sends_posted_ & (kRecvFlag - 1));
  if ((wr.send_flags & IBV_SEND_SIGNALED) != 0)
    signalled_.push_back({sends_posted_, WcOpcode(wr.opcode)});
  sends_posted_++;
  ibv_send_wr* bad = nullptr;
  const int e = device_.options().wr_api ? PostWithWrApi(wr)
                                         : ibv_post_send(qp_, &wr, &bad);
  if (e != 0)
    FailErrno(e, "{}: a send work request was refused ({} are pending)", Name(),
              sends_posted_ - sends_retired_ - 1);
}

int Endpoint::PostWithWrApi(const ibv_send_wr& wr) {
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(qp_);
  ibv_wr_start(qp);
  qp->wr_id = wr.wr_id;
  qp->wr_flags = wr.send_flags & ~unsigned{IBV_SEND_INLINE};
  const auto& rdma = wr.wr.rdma;
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(qp, rdma.rkey, rdma.remote_addr);
      break;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      ibv_wr_rdma_write_imm(qp, rdma.rkey, rdma.remote_addr, wr.imm_data);
      break;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(qp, rdma.rkey, rdma.remote_addr);
      break;
    case IBV_WR_SEND: ibv_wr_send(qp); break;
    default: ibv_wr_send_imm(qp, wr.imm_data); break;
  }
  const auto count = static_cast<size_t>(wr.num_sge);
  if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
    std::vector<ibv_data_buf> data;
    for (size_t i = 0; i < count; i++)
      data.push_back(
          {reinterpret_cast<void*>(wr.sg_list[i].addr), wr.sg_list[i].length});
    ibv_wr_set_inline_data_list(qp, count, data.data());
  } else {
    ibv_wr_set_sge_list(qp, count, wr.sg_list);
  }
  return ibv_wr_complete(qp);
}

void Endpoint::PostRecv(const std::vector<Piece>& pieces) {
  std::vector<ibv_sge> sges = Sges(pieces, *target_);
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id =
      uint64_t{slot_} << 32 | kRecvFlag | (recvs_posted_ & (kRecvFlag - 1));
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  recvs_posted_++;
  if (const int e = ibv_post_recv(qp_, &wr, &bad))
    FailErrno(e, "{}: a receive work request was refused ({} are pending)",
              Name(), recvs_posted_ - recvs_done_ - 1);
}

// ---- completions ------------------------------------------------------------

void Endpoint::OnCompletion(const ibv_wc& wc) {
  const bool recv = (wc.wr_id & kRecvFlag) != 0;
  if (wc.status != IBV_WC_SUCCESS)
    Fail("{}: a {} work request failed: {} (status {}, vendor error {:#x})",
         Name(), recv ? "receive" : "send", ibv_wc_status_str(wc.status),
         static_cast<int>(wc.status), wc.vendor_err);
  if (wc.qp_num != qp_->qp_num)
    Fail("{}: a completion names QP {:#x}", Name(), wc.qp_num);
  if (recv)
    OnReceived(wc);
  else
    OnSent(wc);
}

void Endpoint::OnSent(const ibv_wc& wc) {
  const auto sequence = static_cast<uint32_t>(wc.wr_id & (kRecvFlag - 1));
  if (signalled_.empty() ||
      sequence != (signalled_.front().sequence & (kRecvFlag - 1)))
    Fail("{}: send work request {} completed out of order or unasked", Name(),
         sequence);
  if (wc.opcode != signalled_.front().opcode)
    Fail("{}: send work request {} completed with opcode {}, not {}", Name(),
         sequence, static_cast<int>(wc.opcode),
         static_cast<int>(signalled_.front().opcode));
  sends_retired_ = signalled_.front().sequence + 1;
  signalled_.pop_front();
  Pump();
}

void Endpoint::OnReceived(const ibv_wc& wc) {
  const auto sequence = static_cast<uint32_t>(wc.wr_id & (kRecvFlag - 1));
  if (sequence != (recvs_done_ & (kRecvFlag - 1)))
    Fail("{}: receive work request {} completed instead of {}", Name(),
         sequence, recvs_done_);
  recvs_done_++;
  if (next_arrival_ < arrivals_.size())
    OnMessage(*arrivals_[next_arrival_++], wc);
  else
    OnNote(wc);
}

void Endpoint::OnMessage(const Step& step, const ibv_wc& wc) {
  const bool imm = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
  const auto opcode = IsSend(step.op) ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM;
  if (wc.opcode != opcode || wc.byte_len != step.length ||
      imm != HasImm(step.op) || (imm && ntohl(wc.imm_data) != step.imm))
    Fail(
        "{}: round {}: a {} of {} bytes was received as opcode {}, {} bytes, "
        "{}",
        Name(), round_.number, OpName(step.op), step.length,
        static_cast<int>(wc.opcode), wc.byte_len,
        imm ? std::format("immediate {:#x} (sent: {:#x})", ntohl(wc.imm_data),
                          step.imm)
            : "without an immediate");
}

void Endpoint::OnNote(const ibv_wc& wc) {
  const uint64_t round = initiator_ ? next_note_++ : round_.number;
  if (wc.opcode != IBV_WC_RECV || (wc.wc_flags & IBV_WC_WITH_IMM) == 0 ||
      wc.byte_len != 0 || ntohl(wc.imm_data) != Note(round))
    Fail(
        "{}: the note of round {} was received as opcode {}, {} bytes, "
        "immediate {:#x}",
        Name(), round, static_cast<int>(wc.opcode), wc.byte_len,
        ntohl(wc.imm_data));
  if (initiator_) {
    Begin();
  } else {
    FinishRound();
    Respond();
  }
}

void Endpoint::Close() {
  if (const int e = ibv_destroy_qp(qp_))
    FailErrno(e, "{}: it cannot be destroyed", Name());
  source_->Deregister();
  target_->Deregister();
}

}  // namespace xfer
