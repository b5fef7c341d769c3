/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// target.h - what each fuzz_*.cc defines; target.cc makes a libFuzzer program
// of it.
//
//   fuzz-wqe CORPUS...                 libFuzzer, with all of its options
//   fuzz-wqe --write-seeds=FOLDER      writes the seeds as files and ends
#ifndef VCX_CORE_FUZZ_TARGET_H_
#define VCX_CORE_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/script.h"

namespace vcx::fuzz {

// Does what the script says and aborts when the device breaks a promise.
void Run(Script script);

// Inputs that do something sensible, for the fuzzer to begin with.
std::vector<std::vector<uint8_t>> Seeds();

}  // namespace vcx::fuzz

#endif  // VCX_CORE_FUZZ_TARGET_H_
