/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "resource/objects.h"

#include "vcx/wqe.h"

namespace vcx {
namespace {

// QP numbers 0 and 1 belong to management on every port; a few more stay free
// so that a small wrong number in a packet never meets a QP.
constexpr uint32_t kFirstQpn = 0x40;

// Index 1 with variant 0 would be the key 0x100 that ends the list of a
// receive WQE, and index 0 would make keys that look like none.
constexpr uint32_t kFirstMkey = 0x10;
static_assert(kFirstMkey << 8 > VCX_WQE_LKEY_TERMINATE);

// Zero means "none" for CQs and counter sets, and is kept free elsewhere.
constexpr uint32_t kFirst = 1;

}  // namespace

Objects::Objects(const Limits& limits)
    : pds(kFirst, 1u << limits.log_max_pd),
      uars(VCX_UAR_FIRST_PAGE, 1u << limits.log_max_uar),
      counter_sets(kFirst, limits.max_counter_sets),
      eqs(kFirst, 1u << limits.log_max_eq),
      cqs(kFirst, 1u << limits.log_max_cq),
      mkeys(kFirstMkey, 1u << limits.log_max_mkey),
      qps(kFirstQpn, 1u << limits.log_max_qp) {}

void Objects::Clear() {
  qps.Clear();
  mkeys.Clear();
  cqs.Clear();
  eqs.Clear();
  counter_sets.Clear();
  uars.Clear();
  pds.Clear();
}

}  // namespace vcx
