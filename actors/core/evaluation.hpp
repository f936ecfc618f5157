// Scoring models beside a run: one sample is a score per client and the numbers about all models together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/core/performer.hpp"
#include "algos/stationarity.hpp"
#include "learning/metrics.hpp"
#include "results/sample.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// A vector by name.
struct NamedVector {
  std::string name;
  std::vector<double> values;
};

/// The model of a client as it is measured, and what else is known of the client at that moment.
struct Snapshot {
  Tensor model{};  ///< none: only its traffic is asked for
  Traffic traffic{};
  std::vector<NamedVector> balance{};  ///< its parts of what must sum to zero over all clients
  Vector<double> tracker{};            ///< nu, where stationarity is measured

  /// To be written beside an archive its vectors become tensors of the pool: they are as long as models.
  void archive(Archive& archive, TensorPool* pool = nullptr);
};

/// What stationarity is measured with: the penalty and the step of the algorithm, the smoothness of the losses.
struct Composite {
  Penalty penalty;
  double alpha = 1;
  double smoothness = 1;
};

/// A client's part of stationarity.
struct StationarityPart {
  double prox_gradient = 0;   ///< ||G(x_i)||^2
  Vector<double> gradient{};  ///< of its own loss
};

/// What is found out about the model of a client.
struct Scores {
  Score score;
  StationarityPart part{};  ///< where stationarity is measured
};

/// What the learner of this client threw while a model of all clients, or of another one, was scored with its samples.
struct LearnerFailed : std::runtime_error {
  LearnerFailed(ClientId whose, const char* what) : std::runtime_error(what), client{whose} {}
  ClientId client;
};

/// Scores models. Immutable; several threads may use it, each with its own memory.
class Evaluation {
 public:
  virtual ~Evaluation() = default;
  virtual Score score(ClientId client, const Tensor& model, ThreadMemory& memory) const = 0;
  /// The mean model, scored as the shared test part says, or over the measured clients' losses where each has its own. Throws
  /// LearnerFailed.
  virtual Score score_mean(const MeanModel& mean, ThreadMemory& memory) const = 0;
  virtual void add(ConsensusSum& sum, const Tensor& model) const = 0;
  virtual std::size_t clients() const = 0;
  /// None: stationarity is not measured.
  virtual const std::optional<Composite>& composite() const = 0;
  /// Costs a full gradient of every client. Only where there is a composite(). Throws LearnerFailed.
  virtual StationarityPart stationarity(ClientId client, const Tensor& model, ThreadMemory& memory) const = 0;

  /// All that a sample asks of a client's model.
  Scores scores(ClientId client, const Tensor& model, ThreadMemory& memory) const {
    Scores scores{score(client, model, memory)};
    if (composite()) scores.part = stationarity(client, model, memory);
    return scores;
  }
};

template <class Real>
class EvaluationOf final : public Evaluation {
 public:
  /// `learners`: one per client; must outlive this. `shared_test`: all of them test on the same rows. `measured`: the
  /// clients whose losses the mean model has; null: all.
  EvaluationOf(const std::vector<std::unique_ptr<Learner<Real>>>& learners, bool shared_test,
               std::optional<Composite> composite = std::nullopt, std::shared_ptr<const std::vector<ClientId>> measured = nullptr)
      : learners_{learners}, shared_test_{shared_test}, composite_{std::move(composite)}, measured_{std::move(measured)} {}

  Score score(ClientId client, const Tensor& model, ThreadMemory& memory) const override {
    return learners_[client.value]->score(numbers_of<Real>(model), Part::test, memory.scratch<Real>());
  }
  Score score_mean(const MeanModel& mean, ThreadMemory& memory) const override {
    const Vector<Real> model = mean.mean_as<Real>();
    const auto score_at = [&](std::size_t i) {
      return of_learner(i, [&] { return learners_[i]->score(view(model), Part::test, memory.scratch<Real>()); });
    };
    const auto client_at = [&](std::size_t place) { return measured_ ? (*measured_)[place].value : place; };
    Score sum = score_at(client_at(0));
    if (!shared_test_)
      for (std::size_t i = 1; i < (measured_ ? measured_->size() : learners_.size()); ++i) sum += score_at(client_at(i));
    return sum;
  }
  void add(ConsensusSum& sum, const Tensor& model) const override { sum.add(numbers_of<Real>(model)); }
  std::size_t clients() const override { return learners_.size(); }
  const std::optional<Composite>& composite() const override { return composite_; }
  StationarityPart stationarity(ClientId client, const Tensor& model, ThreadMemory& memory) const override {
    const ConstVectorRef<Real> x = numbers_of<Real>(model);
    Scratch<Real>& scratch = memory.scratch<Real>();
    typename Scratch<Real>::Frame frame(scratch);
    const VectorRef<Real> g = scratch.vector(x.size());
    StationarityPart part;
    Vector<double> of_all = Vector<double>::Zero(x.size());
    for (std::size_t i = 0; i < learners_.size(); ++i) {
      of_learner(i, [&] { return learners_[i]->gradient(x, {}, g, scratch); });
      of_all += g.template cast<double>();
      if (i == client.value) part.gradient = g.template cast<double>();
    }
    of_all /= static_cast<double>(learners_.size());
    part.prox_gradient = squared_prox_gradient<Real>(composite_->penalty, composite_->alpha, x, of_all);
    return part;
  }

 private:
  template <class Ask>
  static auto of_learner(std::size_t i, Ask ask) {
    try {
      return ask();
    } catch (const std::exception& error) {
      throw LearnerFailed(ClientId{static_cast<std::uint32_t>(i)}, error.what());
    }
  }

  const std::vector<std::unique_ptr<Learner<Real>>>& learners_;
  bool shared_test_;
  std::optional<Composite> composite_;
  std::shared_ptr<const std::vector<ClientId>> measured_;
};

/// Puts one sample together: models may come in any order and are added up in client order.
class SampleGatherer {
 public:
  explicit SampleGatherer(const Evaluation& evaluation) : evaluation_{evaluation} {}

  void open(const SampleHeader& header) {
    open_[header.number].sample.header = header;
    open_[header.number].traffic.resize(evaluation_.clients());
  }

  /// The finished sample, if this was the last of its clients. Without a model only the traffic counts.
  std::optional<Sample> add(std::uint64_t number, ClientId client, Snapshot snapshot, Scores scores, ThreadMemory& memory);
  /// The number of the first sample that is not finished; beyond all numbers if there is none.
  std::uint64_t first_open() const { return open_.empty() ? ~std::uint64_t{0} : open_.begin()->first; }

 private:
  struct Number {
    double value = 0, size = 0;  // summed over the clients, and so are the absolute values
    double largest = 0;          // of these
    ClientId of{};
  };
  struct Sum {
    std::string name;
    std::vector<Number> numbers;
  };
  struct InProgress {
    Sample sample;
    ConsensusSum consensus;
    std::vector<double> f1;
    std::vector<Sum> sums;
    bool has_foreign_sums = false;  // a client has others: nothing is known of them
    StationaritySum stationarity;
    Tensor first;                       // model of the first client
    std::optional<ClientId> different;  // the first whose model is not the first client's
    std::map<ClientId, std::pair<Snapshot, Scores>> early;
    std::uint32_t next = 0;
    std::vector<Traffic> traffic;  // by client: its sum does not depend on which comes first
    std::uint32_t counted = 0;     // clients without a model
  };

  void count(InProgress& progress, ClientId client, const Snapshot& snapshot, const Scores& scores);
  static void balance(InProgress& progress, ClientId client, const Snapshot& snapshot);
  static Defect defect_of(const InProgress& progress);
  Sample finish(InProgress& progress, ThreadMemory& memory);

  const Evaluation& evaluation_;
  std::map<std::uint64_t, InProgress> open_;
};

}  // namespace rubato
