/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// channel.h - messages between the two processes, over TCP.
#ifndef VCX_TOOLS_XFER_CHANNEL_H_
#define VCX_TOOLS_XFER_CHANNEL_H_

#include <string>

namespace xfer {

class Channel {
 public:
  // Waits for one client.
  static Channel Serve(int port);
  // Connects, and tries again for some seconds while nobody listens.
  static Channel Connect(const std::string& host, int port, int seconds);

  Channel(Channel&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  void Send(const std::string& message);
  std::string Receive();
  // Has the peer's process ended?
  bool Closed() const;

 private:
  explicit Channel(int fd);
  void ReadAll(char* data, size_t size);
  void WriteAll(const char* data, size_t size);

  int fd_;
};

}  // namespace xfer

#endif  // VCX_TOOLS_XFER_CHANNEL_H_
