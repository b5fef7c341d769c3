/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "cmd/firmware.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "cmd/cap.h"

namespace vcx {

Firmware::Firmware(const vcx_core_config& c, const Limits& l, Dma& d,
                   Objects& o, Port& p, Control& ctl, Counters& cnt,
                   const Trace& tr)
    : config(c),
      limits(l),
      dma(d),
      objects(o),
      port(p),
      control(ctl),
      counters(cnt),
      trace(tr),
      pages(c.boot_pages, c.init_pages),
      cap_max(BuildCapabilities(c, l)),
      cap_current(cap_max) {
  Reset();
}

void Firmware::Reset() {
  state = HcaState::kDisabled;
  issi = 0;
  pages.Forget();
  page_lists.Reset();
  cap_current = cap_max;
  host_endianness = 0;
  node_desc.fill(0);
  char text[VCX_NODE_DESC_BYTES];
  snprintf(text, sizeof(text), "vcx %016" PRIx64, config.guid);
  std::memcpy(node_desc.data(), text, std::strlen(text));
}

void Firmware::DropObjects() {
  objects.qps.ForEach([this](Qp& qp) { control.QpForget(qp); });
  objects.cqs.ForEach([this](Cq& cq) { control.CqForget(cq); });
  objects.Clear();
  page_lists.Reset();
}

}  // namespace vcx
