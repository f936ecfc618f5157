// Device classes: clients of several kinds, each with a share of all and numbers of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/engine/energy.hpp"
#include "runtime/renewal.hpp"

namespace rubato {

/// The class of every client, as an index into clients.classes; nothing for clients that no share covers. Which client gets
/// which is drawn from the seed, so that it has nothing to do with a client's place in the graph or with its data. The
/// shares are met to within one client.
std::vector<std::optional<std::size_t>> classes_of(const config::Clients& clients, std::uint64_t seed);

/// The law with another mean number of ticks a second: rate, 1 / period or 1 / mean; of shifted_exp and gamma the rate
/// of the random part. Throws std::invalid_argument for laws that have none (trace, table, coupled, off).
TimerLaw with_rate(const TimerLaw& law, double rate);

/// The timers of computations or of transmissions: one for all clients where they are alike, else one for each, with the rate of
/// its class where that has one. Throws std::invalid_argument.
std::vector<TimerLaw> timers_of(const config::Experiment& experiment, bool is_transmit);

/// The chance of each client that a computation which begins with a phase of protocol.compute_phase is not done in it; one number
/// where it is the same for all. Throws std::invalid_argument where the phase or the law does not tell, or a client is never done.
std::vector<double> straggler_chances(const config::Experiment& experiment);

/// The options of the algorithm, with what they ask to be taken from the clients' laws.
AlgorithmOptions options_in_force(const config::Experiment& experiment);

/// What a class has of its own; nothing: what all have.
using OfClass = std::function<std::optional<config::Law>(const config::DeviceClass& device)>;

/// A number of each client, by its class or else drawn by the law of all; a single one where it is the same for all.
/// `which` as in PerClient.
std::vector<double> numbers_of(const config::Experiment& experiment, const config::Law& law, std::uint32_t which,
                               const OfClass& of_class);

/// What each client spends, by [energy] and its class; a message is so many bytes.
EnergyModel energy_model(const config::Experiment& experiment, double message_bytes);

}  // namespace rubato
