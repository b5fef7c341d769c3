/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// endpoint.h - one end of one queue pair: posts what the plan says, and checks
// what arrives.
//
// Two roles. In each round
//   the responder prepares its memory and receives, and says "ready";
//   the initiator posts all steps, then "done" behind them;
//   the responder, told by "done", checks what was written and sent to it;
//   the initiator, when all has completed, checks what it has read.
// "ready" and "done" are empty sends whose immediate is the round's number. The
// responder says "ready" once more at the end: everything was right.
#ifndef VCX_TOOLS_XFER_ENDPOINT_H_
#define VCX_TOOLS_XFER_ENDPOINT_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "xfer/memory.h"
#include "xfer/plan.h"
#include "xfer/verbs.h"

namespace xfer {

struct Totals {
  uint64_t operations = 0;
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

class Endpoint {
 public:
  // Work request IDs carry `slot` in their upper half.
  Endpoint(Device& device, const Traffic& traffic, uint32_t slot, uint32_t qp,
           bool initiator, ibv_cq* send_cq, ibv_cq* recv_cq);

  const Address& address() const { return self_; }
  void Connect(const Address& peer);
  void Start();
  void OnCompletion(const ibv_wc& completion);
  bool finished() const;
  const Totals& totals() const { return totals_; }
  // For a report on what does not move.
  std::string State() const;
  void Close();

  static constexpr uint32_t RecvEntries() { return Plan::kMaxSteps + 2; }
  static uint32_t SendEntries(const Traffic& traffic) {
    return traffic.depth + 2;
  }

 private:
  // A signalled send work request.
  struct Signalled {
    uint32_t sequence;
    ibv_wc_opcode opcode;
  };

  void MakeQp(ibv_cq* send_cq, ibv_cq* recv_cq);
  bool IsTarget(const Step& step) const {
    return initiator_ == (step.op == Op::kRead);
  }
  uint64_t Key(bool initiators) const;
  uint32_t Note(uint64_t round) const;

  bool NextRound();
  void Respond();
  void Begin();
  void Pump();
  void FinishRound();
  void CheckTarget();
  void AddToTotals();

  void PostStep(const Step& step);
  void PostNote();
  void Post(ibv_send_wr& wr);
  int PostWithWrApi(const ibv_send_wr& wr);
  void PostRecv(const std::vector<Piece>& pieces);

  void OnSent(const ibv_wc& completion);
  void OnReceived(const ibv_wc& completion);
  void OnMessage(const Step& step, const ibv_wc& completion);
  void OnNote(const ibv_wc& completion);
  std::string Name() const;

  Device& device_;
  const Traffic& traffic_;
  const uint32_t slot_, index_;
  const bool initiator_;
  Plan plan_;
  std::unique_ptr<Area> source_, target_;
  ibv_qp* qp_ = nullptr;
  Address self_, peer_;

  Round round_;
  size_t next_step_ = 0;               // initiator: the next to be posted
  std::vector<const Step*> arrivals_;  // responder: what receives wait for
  size_t next_arrival_ = 0;
  uint64_t next_note_ = 0;  // number of the "ready" that comes or goes next
  uint64_t begun_ = 0;      // initiator: how many of those it has acted on
  // Work requests, counted since the start.
  uint32_t sends_posted_ = 0, sends_retired_ = 0;
  uint32_t recvs_posted_ = 0, recvs_done_ = 0;
  std::deque<Signalled> signalled_;
  bool working_ = false;  // initiator: between "ready" and the last completion
  bool done_posted_ = false;
  bool owes_ready_ = false;  // responder: it must say it when there is room
  bool over_ = false;        // the plan has no more rounds
  bool spoiled_ = false;
  Totals totals_;
};

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_ENDPOINT_H_
