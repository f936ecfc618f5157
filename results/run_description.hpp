// What the timing of a run and its clients leave in its result.
#pragma once

#include <string>
#include <vector>

#include "experiment/build/timing.hpp"
#include "results/run_result.hpp"

namespace rubato {

/// The digest of the steps of all clients but these, which are in ascending order.
std::string timeline_of(const std::vector<StepHash>& hashes, const std::vector<ClientId>& absent);

/// Whether a number of rounds says how far the run is.
bool goes_in_rounds(const Timing& timing);
/// Whether this client counts them in real time: where the others work for a centre, it alone does.
bool counts_rounds(const Timing& timing, ClientId client);
/// A note where not one round was done, and what for.
void say_rounds(RunResult& result);
void describe_timing(const Timing& timing, const Conductor& conductor, RunResult& result);
/// What the clients have spent, from the counts of each.
void describe_energy(const Timing& timing, RunResult& result);
/// "stopped early at ..."
std::string sentence_about_stop(Time end, Time until, const std::string& reason);
/// What a client has sent and computed, what it has left out of what it was sent, and its row in the collaboration matrix, empty
/// where it has none. The number of clients is known.
void describe_client(ClientId client, const Traffic& traffic, const std::vector<Screened>& by_sender, std::vector<PeerWeight> row,
                     RunResult& result);
/// Whether a row of the collaboration matrix can be one of a run with so many clients: another machine may send anything.
bool is_row(const std::vector<PeerWeight>& row, std::size_t clients);

/// Fills in RunResult::silence, and says it in a sentence; likewise of clients that are there and send nothing. Empty: there is
/// nothing to say. The counts are known.
std::string find_silence(const Timing& timing, RunResult& result);

}  // namespace rubato
