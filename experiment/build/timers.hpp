// From the experiment to laws: of numbers, and of timers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/law.hpp"
#include "runtime/random.hpp"
#include "runtime/renewal.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// The file's law as one that draws.
Law law_of(const config::Law& law);

/// A number of each client that the file gives, lists, or has drawn once from the client's own stream; `which` tells one kind
/// of number from another.
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

/// The value. Throws std::invalid_argument, naming what it is and whose, unless it is finite and greater than 0.
double above_zero(double value, ClientId client, std::string_view what);

/// One law for all clients where its numbers are the same for all, else a law each. `stream`: of what is drawn for each.
/// Throws std::invalid_argument.
std::vector<TimerLaw> to_timers(const config::TimerLaw& law, std::uint64_t seed, std::uint32_t stream, std::size_t clients);

/// A line of ascending seconds for each client. Throws std::invalid_argument.
std::vector<std::vector<Time>> read_trace(const std::string& file, std::size_t clients);

}  // namespace rubato
