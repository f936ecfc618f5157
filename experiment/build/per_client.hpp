// PerClient: a number of each client that the file gives, lists, or has drawn.
#pragma once

#include "experiment/experiment.hpp"
#include "runtime/law.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// The file's law as one that draws.
Law law_of(const config::Law& law);

/// Given, listed, or drawn once from the client's own stream; `which` tells one kind of number from another.
class PerClient {
 public:
  PerClient(const config::Law& law, std::uint64_t seed, std::uint32_t which) : law_{law_of(law)}, seed_{seed}, which_{which} {}

  bool is_same_for_all() const { return law_.is_constant(); }
  double of(ClientId client) const {
    Stream stream(seed_, client, Purpose::rate, which_);
    return sample(law_, stream, client);
  }

 private:
  Law law_;
  std::uint64_t seed_;
  std::uint32_t which_;
};

}  // namespace rubato
