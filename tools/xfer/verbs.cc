/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/verbs.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <sstream>

#include "xfer/error.h"

namespace xfer {
namespace {

constexpr uint8_t kAckTimeout = 14;  // 67 ms
constexpr uint8_t kRnrTimer = 12;    // 0.64 ms
constexpr uint8_t kReads = 4;        // outstanding, both ways

bool IsMappedIpv4(const ibv_gid& gid) {
  static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0,    0,
                                          0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(kPrefix), std::end(kPrefix), gid.raw);
}

bool IsZero(const ibv_gid& gid) {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw),
                     [](uint8_t byte) { return byte == 0; });
}

}  // namespace

std::string ToText(const Address& a) {
  std::ostringstream out;
  out << a.qpn << ' ' << a.psn << ' ' << a.lid << ' ' << a.source << ' '
      << a.source_rkey << ' ' << a.target << ' ' << a.target_rkey;
  for (const uint8_t byte : a.gid.raw) out << ' ' << unsigned{byte};
  return out.str();
}

Address AddressFromText(const std::string& text) {
  std::istringstream in(text);
  Address a;
  in >> a.qpn >> a.psn >> a.lid >> a.source >> a.source_rkey >> a.target >>
      a.target_rkey;
  for (uint8_t& byte : a.gid.raw) {
    unsigned value = 0;
    in >> value;
    byte = static_cast<uint8_t>(value);
  }
  if (!in) Fail("the peer sent no valid address");
  return a;
}

Device::Device(const Options& options) : options_(options) {
  FindDevice();
  const auto port = static_cast<uint8_t>(options_.port);
  if (const int e = ibv_query_port(context_, port, &port_))
    FailErrno(e, "{}: port {} cannot be queried", name(), port);
  if (port_.state != IBV_PORT_ACTIVE)
    Fail("{}: port {} is not active but {}", name(), port,
         ibv_port_state_str(port_.state));
  FindGid();
  pd_ = ibv_alloc_pd(context_);
  if (pd_ == nullptr) FailErrno(errno, "{}: no protection domain", name());
  if (options_.events) {
    channel_ = ibv_create_comp_channel(context_);
    if (channel_ == nullptr) FailErrno(errno, "{}: no channel", name());
  }
}

void Device::FindDevice() {
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list(
      ibv_get_device_list(&count), ibv_free_device_list);
  if (!list) FailErrno(errno, "the RDMA devices cannot be listed");
  for (int i = 0; i < count && context_ == nullptr; i++) {
    ibv_device* device = list.get()[i];
    if (!options_.device.empty() &&
        options_.device != ibv_get_device_name(device))
      continue;
    context_ = ibv_open_device(device);
    if (context_ == nullptr)
      FailErrno(errno, "{} cannot be opened", ibv_get_device_name(device));
  }
  if (context_ == nullptr && options_.device.empty())
    Fail("there is no RDMA device");
  if (context_ == nullptr) Fail("there is no RDMA device {}", options_.device);
}

void Device::FindGid() {
  gid_index_ = options_.gid_index;
  const auto port = static_cast<uint8_t>(options_.port);
  if (gid_index_ < 0 && port_.link_layer == IBV_LINK_LAYER_ETHERNET) {
    for (int i = 0; i < port_.gid_tbl_len; i++) {
      ibv_gid gid;
      if (ibv_query_gid(context_, port, i, &gid) != 0 || IsZero(gid)) continue;
      if (gid_index_ < 0 || IsMappedIpv4(gid)) gid_index_ = i;
    }
    if (gid_index_ < 0) Fail("{}: port {} has no GID", name(), port);
  }
  if (ibv_query_gid(context_, port, std::max(gid_index_, 0), &gid_) != 0)
    FailErrno(errno, "{}: GID {} cannot be read", name(), gid_index_);
}

void Device::Arm(Queue& queue) {
  if (const int e = ibv_req_notify_cq(queue.cq, queue.solicited_only))
    FailErrno(e, "{}: a completion queue cannot be armed", name());
}

ibv_cq* Device::MakeCq(uint32_t entries, bool for_receives) {
  // An event brings back the number of its queue.
  ibv_cq* cq =
      ibv_create_cq(context_, static_cast<int>(entries),
                    reinterpret_cast<void*>(queues_.size()), channel_, 0);
  if (cq == nullptr)
    FailErrno(errno, "{}: no completion queue of {} entries", name(), entries);
  if (cq->cqe < static_cast<int>(entries))
    Fail("{}: a completion queue has {} entries, not {}", name(), cq->cqe,
         entries);
  queues_.push_back({cq, for_receives && options_.solicited, 0});
  if (channel_ != nullptr) Arm(queues_.back());
  return cq;
}

void Device::Connect(ibv_qp* qp, const Address& self,
                     const Address& peer) const {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = port_.active_mtu;
  if (options_.mtu != 0)
    attr.path_mtu = static_cast<ibv_mtu>(
        std::bit_width(static_cast<unsigned>(options_.mtu) >> 8));
  attr.dest_qp_num = peer.qpn;
  attr.rq_psn = peer.psn;
  attr.max_dest_rd_atomic = kReads;
  attr.min_rnr_timer = kRnrTimer;
  attr.ah_attr.port_num = static_cast<uint8_t>(options_.port);
  attr.ah_attr.dlid = peer.lid;
  if (gid_index_ >= 0) {
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.dgid = peer.gid;
    attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(gid_index_);
    attr.ah_attr.grh.hop_limit = 64;
  }
  if (const int e = ibv_modify_qp(
          qp, &attr,
          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    FailErrno(e, "{}: QP {:#x} cannot become ready to receive", name(),
              qp->qp_num);
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = self.psn;
  attr.timeout = kAckTimeout;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;  // without end
  attr.max_rd_atomic = kReads;
  if (const int e = ibv_modify_qp(
          qp, &attr,
          IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
              IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
    FailErrno(e, "{}: QP {:#x} cannot become ready to send", name(),
              qp->qp_num);
}

void Device::Wait() {
  if (channel_ == nullptr) return;
  pollfd poll_fd{.fd = channel_->fd, .events = POLLIN, .revents = 0};
  const int ready = poll(&poll_fd, 1, 1000);
  if (ready < 0 && errno != EINTR) FailErrno(errno, "poll");
  if (ready <= 0) return;
  ibv_cq* cq = nullptr;
  void* number = nullptr;
  if (ibv_get_cq_event(channel_, &cq, &number) != 0)
    FailErrno(errno, "{}: no completion event although there is one", name());
  Queue& queue = queues_.at(reinterpret_cast<size_t>(number));
  queue.events++;
  // Armed before it is polled: what comes between is seen by the poll.
  Arm(queue);
}

int Device::Poll(ibv_wc* completions, int max) {
  for (size_t tried = 0; tried < queues_.size(); tried++) {
    Queue& queue = queues_[next_queue_];
    const int n = ibv_poll_cq(queue.cq, max, completions);
    if (n < 0) FailErrno(-n, "{}: a completion queue cannot be polled", name());
    // Stay with a queue that may have more.
    if (n < max) next_queue_ = (next_queue_ + 1) % queues_.size();
    if (n > 0) return n;
  }
  return 0;
}

std::string Device::AsyncEvents() const {
  std::string text;
  const int fd = context_->async_fd;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  ibv_async_event event;
  while (ibv_get_async_event(context_, &event) == 0) {
    text += text.empty() ? "" : ", ";
    text += ibv_event_type_str(event.event_type);
    ibv_ack_async_event(&event);
  }
  return text;
}

void Device::Close() {
  for (Queue& queue : queues_) {
    if (queue.events != 0) ibv_ack_cq_events(queue.cq, queue.events);
    if (const int e = ibv_destroy_cq(queue.cq))
      FailErrno(e, "{}: a completion queue cannot be destroyed", name());
  }
  queues_.clear();
  if (channel_ != nullptr)
    if (const int e = ibv_destroy_comp_channel(channel_))
      FailErrno(e, "{}: the channel cannot be destroyed", name());
  if (const int e = ibv_dealloc_pd(pd_))
    FailErrno(e, "{}: the protection domain cannot be freed", name());
  if (ibv_close_device(context_) != 0)
    FailErrno(errno, "the device cannot be closed");
}

}  // namespace xfer
