/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "live_bytes.h"

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// A chunk's header costs a word.
int64_t Size(void* memory) {
  return static_cast<int64_t>(malloc_usable_size(memory) + sizeof(void*));
}

void* Allocate(std::size_t bytes, std::size_t align) {
  void* memory =
      align > alignof(std::max_align_t)
          ? std::aligned_alloc(align, (bytes + align - 1) / align * align)
          : std::malloc(bytes);
  if (memory == nullptr) std::abort();
  if (vcx::LiveBytes::counting) vcx::LiveBytes::bytes += Size(memory);
  return memory;
}

void Free(void* memory) {
  if (memory != nullptr && vcx::LiveBytes::counting)
    vcx::LiveBytes::bytes -= Size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t align) {
  return Allocate(bytes, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  Free(memory);
}
