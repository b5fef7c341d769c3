/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// error.h - what ends a run: one plain sentence.
#ifndef VCX_TOOLS_XFER_ERROR_H_
#define VCX_TOOLS_XFER_ERROR_H_

#include <cstring>
#include <format>
#include <stdexcept>
#include <string>
#include <utility>

namespace xfer {

// Traffic went wrong: the exit code is 1.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The command line is wrong: the exit code is 2.
class UsageError : public Error {
  using Error::Error;
};

template <class... Args>
[[noreturn]] void Fail(std::format_string<Args...> text, Args&&... args) {
  throw Error(std::format(text, std::forward<Args>(args)...));
}

// The same, with the words for an errno value.
template <class... Args>
[[noreturn]] void FailErrno(int error, std::format_string<Args...> text,
                            Args&&... args) {
  throw Error(std::format(text, std::forward<Args>(args)...) + ": " +
              std::strerror(error));
}

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_ERROR_H_
