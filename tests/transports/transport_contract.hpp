// The promises of Transport as sentences, for every transport to be held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "transports/transport.hpp"

namespace rubato::test {

/// The ends of several hosts that know each other; not started yet.
class Ends {
 public:
  virtual ~Ends() = default;
  virtual Transport& operator[](std::uint32_t host) = 0;
};

/// `queue_bytes` may wait from one host to another.
using MakeEnds = std::function<std::unique_ptr<Ends>(std::uint32_t hosts, std::size_t queue_bytes)>;

/// Called by a test case; every promise is a subcase.
void transport_contract(const MakeEnds& make);

}  // namespace rubato::test
