// Golden cases of synchronous algorithms: the tables of a case become the weights, links and choices of the rounds
// protocol, and all clients are looked at after every round.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "app/golden/cases.hpp"
#include "app/golden/script.hpp"

namespace rubato::golden {

class RoundsCase;

/// What becomes of a vector in an answer: the list of what it was at the ends of rounds.
struct RoundsField {
  const char* name;
  std::size_t first = 0;        ///< the first end that is shown; 0: the opening
  Shape shape = Shape::vector;  ///< of each client's
  bool of_centre = false;       ///< client 0's alone, else a list of all clients'
};

/// How the cases of an algorithm are set up, performed and read.
struct RoundsKind {
  std::string algorithm;  ///< of the catalogue
  std::vector<RoundsField> fields;
  const char* merge = nullptr;  ///< the parameter with the weights of merges [receiver][sender], or with several in turn
  const char* share = nullptr;  ///< likewise of shares
  ProtocolKind protocol = ProtocolKind::rounds;
  void (*amend)(Json& parameters) = nullptr;                ///< what cases leave unsaid
  void (*prepare)(RoundsCase& run) = nullptr;               ///< before the run; null: RoundsCase::read_batches
  void (*finish)(RoundsCase& run, Json& answer) = nullptr;  ///< fields that are not vectors
};

/// Answers cases of this kind, found under `name`.
CaseKind in_rounds(const char* name, RoundsKind kind);

/// Looks at all clients after the opening and after every round, and ends the run after the last.
class RoundEnds final : public ScriptObserver {
 public:
  explicit RoundEnds(const RoundsCase& run) : run_{run} {}

  void on_round(Time at, std::uint64_t round) override;
  void on_unify(Time at, std::uint64_t index, ClientId hub) override;
  void on_transmit(Time at, ClientId client, const Step* publish) override;
  void on_window_close(Time, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override;

  /// [round] -> [sender, receiver] of every message, in order of departure.
  const Json& messages() const { return messages_; }
  /// [exchange][receiver] -> the senders of what was merged.
  const Json& accepted() const { return accepted_; }
  const Vectors& at(std::size_t end, std::size_t client) const;

 private:
  void look(Time at);

  const RoundsCase& run_;
  std::vector<std::uint64_t> first_probe_;
  std::size_t closed_windows_ = 0;
  Json messages_ = Json::array(), accepted_ = Json::array();
};

/// One case: set it up, perform it, read it.
class RoundsCase {
 public:
  RoundsCase(const Json& golden_case, const RoundsKind& kind);

  /// In exchange k only the links with a weight that is not zero in the k-th of these matrices [receiver][sender].
  void use_links(const Json& matrices);
  /// batch[k][i], or batch[k][i][s], of the schedule; `computes(k, i)`: whether the client does in round k; null: always.
  void read_batches(const std::function<bool(std::size_t, std::size_t)>& computes = nullptr);
  void perform();
  Json read(const RoundsField& field) const;

  const Json parameters, schedule;
  const std::size_t rounds;
  ScriptedNumbers numbers;
  const std::size_t clients;
  std::unique_ptr<Timing> timing;
  RoundEnds ends;
  ProbeTable table;
};

/// Prepares rounds with a centre: the batches of a client follow each other in the rounds in which it takes part.
void read_served(RoundsCase& run);

/// A matrix, {"cycle": [...]} or a list of matrices, as a list.
Json as_list(const Json& matrices);
/// A link for every weight [receiver][sender] that is not zero.
void add_links(const Json& weights, std::size_t clients, std::set<Edge>& links);
/// A link from each client to each other.
Graph everyone_linked(std::size_t clients);
/// The weights of the matrix [receiver][sender] by link.
std::vector<double> link_weights(const Json& matrix, const Graph& graph);

}  // namespace rubato::golden
