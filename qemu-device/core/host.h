/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// host.h - all the device may ask of the world.
//
// Host is the C++ face of struct vcx_host_ops; vcx_core.h has the contract of
// each call. c_api.cc implements it over the callbacks of a C host, and
// testing/fake_host.h implements it for tests.
#ifndef VCX_CORE_HOST_H_
#define VCX_CORE_HOST_H_

#include <cstddef>
#include <cstdint>

#include "vcx_core.h"

namespace vcx {

class Host {
 public:
  virtual ~Host() = default;

  // Guest memory. False: some byte could not be accessed.
  virtual bool DmaRead(uint64_t addr, void* buf, size_t len) = 0;
  virtual bool DmaWrite(uint64_t addr, const void* buf, size_t len) = 0;

  // Queue entries of 64 bytes; the last 8 bytes of each are not seen before the
  // rest of it.
  static constexpr size_t kEntryBytes = 64;
  virtual bool DmaWriteEntries(uint64_t addr, const void* entries,
                               size_t count) {
    constexpr size_t kHeadBytes = kEntryBytes - sizeof(uint64_t);
    const auto* from = static_cast<const uint8_t*>(entries);
    for (; count != 0; --count, addr += kEntryBytes, from += kEntryBytes)
      if (!DmaWrite(addr, from, kHeadBytes) ||
          !DmaWrite(addr + kHeadBytes, from + kHeadBytes, sizeof(uint64_t)))
        return false;
    return true;
  }

  // A pointer for reading guest memory in place, or null; *len may shrink.
  virtual const void* DmaMap(uint64_t addr, size_t* len) = 0;
  virtual void DmaUnmap(const void* ptr, size_t len) = 0;

  virtual void RaiseMsix(unsigned vector) = 0;

  virtual uint64_t NowNs() = 0;
  virtual uint64_t Random() = 0;
  virtual void SetTimer(uint64_t deadline_ns) = 0;
  virtual void Kick() = 0;

  // False: the wire is full; WireReady() follows.
  virtual bool SendFrame(const void* frame, size_t len) = 0;

  virtual void Trace(vcx_trace_point point, const uint64_t args[4]) = 0;
};

}  // namespace vcx

#endif  // VCX_CORE_HOST_H_
