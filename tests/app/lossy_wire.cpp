// lossy_wire: a hub between network interfaces that delays every frame and loses some, where the kernel has no netem.
//
//   lossy_wire DELAY_MILLISECONDS LOSS INTERFACE INTERFACE...
//
// Whole frames with the kernel's notes about them (PACKET_VNET_HDR), so that checksums and segments that were left to
// the hardware stay so. It runs until it is killed or an interface goes.
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Frame = std::vector<char>;

constexpr std::size_t largest_frame = (std::size_t{1} << 16) + 1024;  // a segment that is not cut up yet
constexpr std::size_t most_held = 4096;                               // frames; what comes then finds no room

int open_on(const char* interface) {
  const int wire = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = __builtin_bswap16(ETH_P_ALL);
  where.sll_ifindex = static_cast<int>(if_nametoindex(interface));
  const int on = 1;
  if (wire < 0 || where.sll_ifindex == 0 || setsockopt(wire, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0 ||
      setsockopt(wire, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
      bind(wire, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0)
    throw std::runtime_error(std::string("cannot listen at ") + interface);
  return wire;
}

class Hub {
 public:
  Hub(std::chrono::milliseconds delay, double loss) : delay_{delay}, loses_{loss} {}

  void join(const char* interface) { wires_.push_back({open_on(interface), POLLIN, 0}); }

  void run() {
    while (true) {
      poll(wires_.data(), wires_.size(), pause());
      for (std::size_t from = 0; from < wires_.size(); ++from) {
        if (wires_[from].revents & POLLIN) receive(from);
        if (wires_[from].revents & (POLLERR | POLLHUP)) throw std::runtime_error("an interface has gone");
      }
      pass_on();
    }
  }

 private:
  struct Held {
    int to;
    Frame frame;
  };

  void receive(std::size_t from) {
    std::array<char, largest_frame> room;
    while (true) {
      const ssize_t size = read(wires_[from].fd, room.data(), room.size());
      if (size <= 0) return;
      for (std::size_t to = 0; to < wires_.size(); ++to) {
        if (to == from || loses_(chance_) || held_.size() >= most_held) continue;
        held_.insert({Clock::now() + delay_, {wires_[to].fd, Frame(room.data(), room.data() + size)}});
      }
    }
  }

  void pass_on() {
    while (!held_.empty() && held_.begin()->first <= Clock::now()) {
      const Held& held = held_.begin()->second;
      if (write(held.to, held.frame.data(), held.frame.size()) < 0) std::perror("lossy_wire: a frame is lost for another reason");
      held_.erase(held_.begin());
    }
  }

  int pause() const {
    if (held_.empty()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(held_.begin()->first - Clock::now()).count();
    return left > 0 ? static_cast<int>(left) : 0;
  }

  std::chrono::milliseconds delay_;
  std::bernoulli_distribution loses_;
  std::mt19937 chance_{1};
  std::vector<pollfd> wires_;
  std::multimap<Clock::time_point, Held> held_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: lossy_wire DELAY_MILLISECONDS LOSS INTERFACE INTERFACE...\n");
    return 2;
  }
  try {
    Hub hub(std::chrono::milliseconds(std::atoi(argv[1])), std::atof(argv[2]));
    for (int i = 3; i < argc; ++i) hub.join(argv[i]);
    std::puts("ready");
    std::fflush(stdout);
    hub.run();
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "lossy_wire: %s\n", error.what());
    return 1;
  }
}
