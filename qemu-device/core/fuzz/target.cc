/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "fuzz/target.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kWriteSeeds = "--write-seeds=";

void WriteSeeds(const std::string& folder) {
  int number = 0;
  for (const std::vector<uint8_t>& seed : vcx::fuzz::Seeds()) {
    const std::string name = folder + "/seed-" + std::to_string(number++);
    std::ofstream file(name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
    if (!file.flush()) {
      fprintf(stderr, "cannot write %s\n", name.c_str());
      exit(1);
    }
  }
  printf("%d seeds in %s\n", number, folder.c_str());
  exit(0);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  // What the library for tests finds wrong is a crash here.
  GTEST_FLAG_SET(break_on_failure, true);
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word((*argv)[i]);
    if (word.substr(0, kWriteSeeds.size()) == kWriteSeeds)
      WriteSeeds(std::string(word.substr(kWriteSeeds.size())));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  vcx::fuzz::Run(vcx::fuzz::Script(data, bytes));
  return 0;
}
