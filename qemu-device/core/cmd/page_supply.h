/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// page_supply.h - the pages that a driver lends to the device between
// MANAGE_PAGES give and take. A real HCA keeps its contexts there. This one
// needs none, and asks for some only when it is configured to, so that drivers
// exercise the protocol; it never touches them.
#ifndef VCX_CORE_CMD_PAGE_SUPPLY_H_
#define VCX_CORE_CMD_PAGE_SUPPLY_H_

#include <algorithm>
#include <cstdint>
#include <set>

namespace vcx {

class PageSupply {
 public:
  PageSupply(uint32_t boot_pages, uint32_t init_pages)
      : boot_(boot_pages), init_(init_pages) {}

  uint32_t held() const { return static_cast<uint32_t>(pages_.size()); }

  // How many are still to be given before the driver may go on.
  uint32_t OwedForBoot() const { return boot_ - std::min(boot_, held()); }
  uint32_t OwedForInit() const { return boot_ + init_ - held(); }

  bool Has(uint64_t page) const { return pages_.contains(page); }

  // At most OwedForInit(), none of which Has().
  void Give(uint64_t page) { pages_.insert(page); }

  // One of those held, which goes back to the driver.
  uint64_t Take() { return pages_.extract(pages_.begin()).value(); }

  // The driver may reuse all of them (reset, DISABLE_HCA).
  void Forget() { pages_.clear(); }

 private:
  const uint32_t boot_;
  const uint32_t init_;
  std::set<uint64_t> pages_;
};

}  // namespace vcx

#endif  // VCX_CORE_CMD_PAGE_SUPPLY_H_
