// SampleHeader: what is known of a sample of all models when it is taken, before any of them is scored.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/archive.hpp"
#include "runtime/engine/energy.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/time.hpp"

namespace rubato {

struct SampleHeader {
  std::uint64_t number = 0;
  Time at{};
  std::uint32_t clients = 0;  ///< how many models it has
  std::uint64_t events = 0;
  MessageCounts counts{};
  Energy energy{};  ///< that all clients have spent so far
  std::uint64_t model_messages = 0;
  double cumulated_delay = 0;                               ///< of the rounds so far, where links and computations have chances
  bool after_unification = false;                           ///< all models must be equal
  std::shared_ptr<const std::vector<ClientId>> measured{};  ///< whose models, ascending; null: of the first ones
  bool covers_all = false;                                  ///< fewer than all clients, but all that are there
  bool mass_is_whole = true;                                ///< what must sum to zero over all who are there does

  /// A client's part of the sums.
  void add(ClientId client, const MessageCounts& done, const EnergyModel& model) {
    counts += done;
    energy += model.of(client, done);
  }
  ClientId client(std::size_t place) const { return measured ? measured->at(place) : ClientId{static_cast<std::uint32_t>(place)}; }
  void archive(Archive& archive) {
    archive(number), archive(at), archive(clients), archive(events), archive(counts);
    for (double* part : {&energy.transmitting, &energy.computing, &energy.airtime, &cumulated_delay}) archive(*part);
    archive(model_messages), archive(after_unification), archive(covers_all), archive(mass_is_whole);
    bool names_clients = measured != nullptr;
    archive(names_clients);
    if (!names_clients) return measured.reset();
    auto named = measured ? *measured : std::vector<ClientId>{};
    archive(named);
    measured = std::make_shared<const std::vector<ClientId>>(std::move(named));
  }
};

}  // namespace rubato
