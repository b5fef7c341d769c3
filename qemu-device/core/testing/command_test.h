/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// command_test.h - fixture of the command tests: a machine whose driver has
// started.
#ifndef VCX_CORE_TESTING_COMMAND_TEST_H_
#define VCX_CORE_TESTING_COMMAND_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_driver.h"

namespace vcx {

class CommandTest : public ::testing::Test {
 protected:
  explicit CommandTest(const vcx_core_config& config = TestConfig())
      : m(config) {
    d.Start();
  }

  TestMachine m;
  FakeDriver& d = m.driver;
};

}  // namespace vcx

#endif  // VCX_CORE_TESTING_COMMAND_TEST_H_
