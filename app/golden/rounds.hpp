// Golden cases of synchronous algorithms: the tables of a case become the weights, links and choices of the rounds
// protocol, and everybody is looked at after every round.
#pragma once

#include <memory>
#include <vector>

#include "app/golden/cases.hpp"
#include "app/golden/events.hpp"
#include "app/golden/script.hpp"

namespace rubato::golden {

/// Looks at everybody after the opening and after every round, and ends the run after the last.
class RoundEnds final : public ScriptObserver {
 public:
  RoundEnds(std::size_t clients, std::size_t rounds) : clients_{clients}, rounds_{rounds} {}

  void on_round(Time at, std::uint64_t round) override;
  void on_transmit(Time at, ClientId client, const Step* publish) override;

  /// [round] -> [sender, receiver] of every message, in order of departure.
  const std::vector<Json>& messages() const { return messages_; }

  /// [end][client] from one end (0: the opening) to the last.
  Json vectors(const ProbeTable& table, const std::string& name, std::size_t first = 0) const;
  /// The same of numbers.
  Json numbers(const ProbeTable& table, const std::string& name, std::size_t first = 0) const;
  const Vectors& at(const ProbeTable& table, std::size_t end, std::size_t client) const;

 private:
  std::size_t clients_;
  std::size_t rounds_;
  std::vector<std::uint64_t> first_probe_;
  std::vector<Json> messages_;
};

/// One case: set it up, perform it, read it.
class RoundsCase {
 public:
  RoundsCase(const Json& golden_case, const std::string& algorithm, ProtocolKind protocol = ProtocolKind::rounds);

  /// The weights of merges (or shares) are this matrix, or these matrices in turn; links without weight stay idle.
  void merge_by(const Json& matrices) { timing->settings.merge_weights = by_link(matrices); }
  void share_by(const Json& matrices) { timing->settings.share_weights = by_link(matrices); }
  /// In exchange k only the links with a weight that is not zero in the k-th of these matrices [receiver][sender].
  void use_links(const Json& matrices);
  /// batch[k][i], or batch[k][i][s], of the schedule.
  void read_batches();
  void perform();

  Json vectors(const std::string& name, std::size_t first = 0) const { return ends.vectors(table, name, first); }
  Json numbers_of(const std::string& name, std::size_t first = 0) const { return ends.numbers(table, name, first); }

  const Json params, schedule;
  std::size_t clients;
  std::size_t rounds;
  ScriptedNumbers numbers;
  std::unique_ptr<Timing> timing;
  RoundEnds ends;
  ProbeTable table;

 private:
  std::vector<std::vector<double>> by_link(const Json& matrices) const;
};

/// One batch, or a list of them, of one client in one round; null stands for all samples.
void add_batches(const Json& of_client, std::vector<Rows>& batches);

/// A matrix, {"cycle": [...]} or a list of matrices, as a list.
Json as_list(const Json& matrices);

}  // namespace rubato::golden
