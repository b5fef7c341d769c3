/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/channel.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "xfer/error.h"

namespace xfer {
namespace {

// More than the addresses of the most queue pairs need.
constexpr uint32_t kMaxMessage = 64 << 20;

// A connected socket, or -1 with errno.
int TryConnect(const addrinfo* list) {
  int error = ECONNREFUSED;
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0) return fd;
    error = errno;
    if (fd >= 0) close(fd);
  }
  errno = error;
  return -1;
}

}  // namespace

Channel::Channel(int fd) : fd_(fd) {
  // Lost keep-alives end a wait for a peer whose machine died.
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

Channel::~Channel() {
  if (fd_ >= 0) close(fd_);
}

Channel Channel::Serve(int port) {
  const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) FailErrno(errno, "no TCP socket");
  const int on = 1, off = 0;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ||
      listen(listener, 1))
    FailErrno(errno, "cannot listen on TCP port {}", port);
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  const int error = errno;
  close(listener);
  if (fd < 0) FailErrno(error, "no client could be accepted");
  return Channel(fd);
}

Channel Channel::Connect(const std::string& host, int port, int seconds) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const std::string service = std::to_string(port);
  const int code = getaddrinfo(host.c_str(), service.c_str(), &hints, &found);
  if (code != 0) Fail("no address for {}: {}", host, gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found,
                                                            freeaddrinfo);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    const int fd = TryConnect(list.get());
    if (fd >= 0) return Channel(fd);
    if (errno != ECONNREFUSED || std::chrono::steady_clock::now() > end)
      FailErrno(errno, "cannot connect to {} port {}", host, port);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void Channel::WriteAll(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = send(fd_, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) FailErrno(errno, "the TCP connection to the peer broke");
    data += n;
    size -= static_cast<size_t>(n);
  }
}

void Channel::ReadAll(char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = recv(fd_, data, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) FailErrno(errno, "the TCP connection to the peer broke");
    if (n == 0) Fail("the peer ended early; see what it says");
    data += n;
    size -= static_cast<size_t>(n);
  }
}

bool Channel::Closed() const {
  char byte;
  return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void Channel::Send(const std::string& message) {
  const uint32_t size = htonl(static_cast<uint32_t>(message.size()));
  WriteAll(reinterpret_cast<const char*>(&size), sizeof(size));
  WriteAll(message.data(), message.size());
}

std::string Channel::Receive() {
  uint32_t size;
  ReadAll(reinterpret_cast<char*>(&size), sizeof(size));
  size = ntohl(size);
  if (size > kMaxMessage) Fail("the peer does not speak this protocol");
  std::string message(size, '\0');
  ReadAll(message.data(), size);
  return message;
}

}  // namespace xfer
