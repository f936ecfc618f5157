// DelayingRelay: a way between two hosts of one machine that takes as long as one across a network.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "transports/transport.hpp"

namespace rubato::test {

/// Listens on loopback, opens a connection to `port` there for each that it is given, and hands over all bytes, either
/// way, `delay` after they came. What it opens comes from 127.0.0.1.
class DelayingRelay {
 public:
  DelayingRelay(std::uint16_t port, Duration delay) : port_{port}, delay_{delay}, listening_{new_socket()} {
    sockaddr_in address = at(0);
    socklen_t size = sizeof address;
    bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listening_, 16);
    getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    own_port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~DelayingRelay() {
    is_over_ = true;
    thread_.join();
    for (const Pair& pair : pairs_)
      for (const int end : pair.ends) close(end);
    close(listening_);
  }
  DelayingRelay(const DelayingRelay&) = delete;
  DelayingRelay& operator=(const DelayingRelay&) = delete;

  std::string address() const { return "tcp://127.0.0.1:" + std::to_string(own_port_); }

 private:
  struct Bytes {
    Duration due;
    std::string bytes;  // none: the other end has gone
  };
  struct Pair {
    std::array<int, 2> ends;
    std::array<std::deque<Bytes>, 2> on_the_way;  // to that end
    std::array<bool, 2> has_ended{};
    bool is_over = false;
  };

  static int new_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
  static sockaddr_in at(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void run() {
    while (!is_over_) {
      std::vector<pollfd> items{{listening_, POLLIN, 0}};
      for (const Pair& pair : pairs_)
        for (std::size_t end = 0; end < 2; ++end)
          if (!pair.has_ended[end]) items.push_back({pair.ends[end], POLLIN, 0});
      poll(items.data(), items.size(), 1);
      if (items[0].revents != 0) accept_one();
      const Duration now = monotonic_now();
      for (Pair& pair : pairs_) attend(pair, now);
      std::erase_if(pairs_, [](const Pair& pair) {
        if (pair.is_over)
          for (const int end : pair.ends) close(end);
        return pair.is_over;
      });
    }
  }

  void accept_one() {
    const int in = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC), out = new_socket();
    const sockaddr_in target = at(port_);
    if (in >= 0 && connect(out, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0)
      return pairs_.push_back({{in, out}});
    close(in);
    close(out);
  }

  void attend(Pair& pair, Duration now) {
    for (std::size_t end = 0; end < 2; ++end) {
      std::array<char, 65'536> bytes{};
      const ssize_t count = pair.has_ended[end] ? -1 : recv(pair.ends[end], bytes.data(), bytes.size(), MSG_DONTWAIT);
      const bool has_gone = count == 0 || (count < 0 && !pair.has_ended[end] && errno != EAGAIN && errno != EWOULDBLOCK);
      if (count > 0) pair.on_the_way[1 - end].push_back({now + delay_, {bytes.data(), static_cast<std::size_t>(count)}});
      if (has_gone) {
        pair.has_ended[end] = true;
        pair.on_the_way[1 - end].push_back({now + delay_, {}});
      }
      for (auto& waiting = pair.on_the_way[end]; !waiting.empty() && waiting.front().due <= now; waiting.pop_front()) {
        const std::string& next = waiting.front().bytes;
        if (next.empty() || send(pair.ends[end], next.data(), next.size(), MSG_NOSIGNAL) < 0) pair.is_over = true;
      }
    }
  }

  std::uint16_t port_, own_port_ = 0;
  Duration delay_;
  int listening_;
  std::list<Pair> pairs_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace rubato::test
