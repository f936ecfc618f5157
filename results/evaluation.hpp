// Scoring models beside a run: one sample is a score per client and the numbers about all models together.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "algos/stationarity.hpp"
#include "algos/thread_memory.hpp"
#include "learning/metrics.hpp"
#include "results/sample.hpp"

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
  std::vector<NamedVector> balance{};       ///< its parts of what must sum to zero over all clients
  std::vector<NamedVector> tracked{};       ///< what Measures::tracked names, in that order
  std::vector<PeerWeight> collaboration{};  ///< where the joint objective is measured
  std::vector<NamedVector> owed{};          ///< its part of what is owed, where that is counted

  /// To be written beside an archive its vectors become tensors of the pool: they are as long as models.
  void archive(Archive& archive, TensorPool* pool = nullptr);
};

/// What stationarity is measured with: the penalty and the step of the algorithm, the smoothness of the losses.
struct Composite {
  Penalty penalty;
  double alpha = 1;
  double smoothness = 1;
  double tracker_scale = 1;  ///< of nu: 1, or 1 / beta
};

/// What the joint objective of KD-PDFL is measured with (docs/references.md#kd-pdfl, equation 4.1).
struct JointTerms {
  double mu1 = 1, mu2 = 0, delta = 1e-6;
  std::string layer = "output";
};

/// What is measured beside the scores on the test part.
struct Measures {
  std::optional<Composite> composite{};  ///< stationarity, with this
  bool training = false;                 ///< scores on training rows
  bool gradient = false;                 ///< of the mean loss at the mean model, and that loss with `penalty`
  Penalty penalty{};
  std::vector<double> mean_weights{};          ///< of all clients: with gradient also at the mean with these weights; empty: not
  std::vector<std::string> tracked{};          ///< "y", "nu": what a snapshot has of them
  std::optional<JointTerms> joint{};           ///< the joint objective, with these
  std::vector<std::uint32_t> architectures{};  ///< of every client's model; empty: all are alike

  /// Whether a snapshot of a model with so many numbers has what is asked for.
  bool fits(const Snapshot& snapshot, std::size_t numbers) const;
};

/// A client as the joint objective sees it.
struct Collaborator {
  Tensor model{};
  std::vector<PeerWeight> row{};  ///< of the collaboration matrix; of peers that are not in it 1 / clients
};

/// A client's part of stationarity.
struct StationarityPart {
  double prox_gradient = 0;   ///< ||G(x_i)||^2
  Vector<double> gradient{};  ///< of its own loss
};

/// What is found out about the model of a client.
struct Scores {
  Score score;
  Score training{};         ///< on the client's training rows, where that is measured
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
  /// The model on the test rows or the training rows of this client.
  virtual Score score(ClientId client, const Tensor& model, Part part, ThreadMemory& memory) const = 0;
  /// The mean model, scored as the shared test part says, or over the measured clients' losses where each has its own. Throws
  /// LearnerFailed.
  virtual Score score_mean(const MeanModel& mean, ThreadMemory& memory) const = 0;
  virtual void add(ConsensusSum& sum, const Tensor& model) const = 0;
  virtual std::size_t clients() const = 0;
  virtual const Measures& measures() const = 0;
  /// None: stationarity is not measured.
  const std::optional<Composite>& composite() const { return measures().composite; }
  /// Costs a full gradient of every client. Only where there is a composite(). Throws LearnerFailed.
  virtual StationarityPart stationarity(ClientId client, const Tensor& model, ThreadMemory& memory) const = 0;
  /// What the mean of the measured models does on the training rows of each measured client: the last two of TrainingScores.
  /// Throws LearnerFailed.
  virtual TrainingScores score_training_of_mean(const MeanModel& mean, ThreadMemory& memory) const = 0;
  /// The mean of all clients' losses at this model, for a full gradient of each. Throws LearnerFailed.
  virtual MeanGradient mean_gradient(const Vector<double>& model, ThreadMemory& memory) const = 0;
  /// sum <- sum + weight x
  virtual void add_weighted(Vector<double>& sum, double weight, const Tensor& model) const = 0;
  /// Whether the joint objective is measured.
  bool has_joint_objective() const { return measures().joint.has_value(); }
  /// Of all clients, in their order: sum_i f_i + mu1/2 sum_ij w_ij d(i, j) - mu2 sum_i log(delta + sum_j w_ij), with the whole
  /// training rows of each client (docs/references.md#kd-pdfl-decisions, KD-15). Only where it is measured. Throws LearnerFailed.
  virtual double joint_objective(const std::vector<Collaborator>& clients, ThreadMemory& memory) const = 0;
  /// Clients have models of unlike architecture: these have no mean and no distance.
  bool are_unlike() const { return !measures().architectures.empty(); }

  /// All that a sample asks of a client's model.
  Scores scores(ClientId client, const Tensor& model, ThreadMemory& memory) const {
    Scores scores{score(client, model, Part::test, memory)};
    if (measures().training) scores.training = score(client, model, Part::train, memory);
    if (composite()) scores.part = stationarity(client, model, memory);
    return scores;
  }
};

template <class Real>
class EvaluationOf final : public Evaluation {
 public:
  /// `learners`: one per client; must outlive this. `shared_test`: all of them test on the same rows. `measured`: the
  /// clients whose losses the mean model has; null: all.
  EvaluationOf(const std::vector<std::unique_ptr<Learner<Real>>>& learners, bool shared_test, Measures measures = {},
               std::shared_ptr<const std::vector<ClientId>> measured = nullptr)
      : learners_{learners}, shared_test_{shared_test}, measures_{std::move(measures)}, measured_{std::move(measured)} {}

  Score score(ClientId client, const Tensor& model, Part part, ThreadMemory& memory) const override {
    return learners_[client.value]->score(numbers_of<Real>(model), part, memory.scratch<Real>());
  }
  Score score_mean(const MeanModel& mean, ThreadMemory& memory) const override {
    const Vector<Real> model = mean.mean_as<Real>();
    const auto score_at = [&](std::size_t i) {
      return of_learner(i, [&] { return learners_[i]->score(view(model), Part::test, memory.scratch<Real>()); });
    };
    Score sum = score_at(measured_at(0));
    if (!shared_test_)
      for (std::size_t i = 1; i < measured(); ++i) sum += score_at(measured_at(i));
    return sum;
  }
  void add(ConsensusSum& sum, const Tensor& model) const override { sum.add(numbers_of<Real>(model)); }
  std::size_t clients() const override { return learners_.size(); }
  const Measures& measures() const override { return measures_; }
  TrainingScores score_training_of_mean(const MeanModel& mean, ThreadMemory& memory) const override {
    const Vector<Real> model = mean.mean_as<Real>();
    TrainingScores sum;
    for (std::size_t place = 0; place < measured(); ++place) {
      const std::size_t i = measured_at(place);
      const Score score = of_learner(i, [&] { return learners_[i]->score(view(model), Part::train, memory.scratch<Real>()); });
      sum.accuracy_mean_model += score.accuracy();
      sum.loss_mean_model += score.mean_loss();
    }
    sum.accuracy_mean_model /= static_cast<double>(measured());
    sum.loss_mean_model /= static_cast<double>(measured());
    return sum;
  }
  MeanGradient mean_gradient(const Vector<double>& model, ThreadMemory& memory) const override {
    const Vector<Real> x = model.template cast<Real>();
    Scratch<Real>& scratch = memory.scratch<Real>();
    typename Scratch<Real>::Frame frame(scratch);
    const VectorRef<Real> g = scratch.vector(x.size());
    Vector<double> sum = Vector<double>::Zero(x.size());
    double loss = 0;
    for (std::size_t i = 0; i < learners_.size(); ++i) {
      loss += static_cast<double>(of_learner(i, [&] { return learners_[i]->gradient(view(x), {}, g, scratch); }));
      sum += g.template cast<double>();
    }
    const double clients = static_cast<double>(learners_.size());
    return {sum.norm() / clients, loss / clients + measures_.penalty.template value<Real>(view(x))};
  }
  void add_weighted(Vector<double>& sum, double weight, const Tensor& model) const override {
    const ConstVectorRef<Real> x = numbers_of<Real>(model);
    if (sum.size() == 0) sum = Vector<double>::Zero(x.size());
    sum += weight * x.template cast<double>();
  }
  double joint_objective(const std::vector<Collaborator>& clients, ThreadMemory& memory) const override {
    double sum = 0;
    for (std::size_t i = 0; i < clients.size(); ++i) sum += of_learner(i, [&] { return joint_part(i, clients, memory); });
    return sum;
  }
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
    part.prox_gradient = squared_prox_gradient<Real>(composite()->penalty, composite()->alpha, x, of_all);
    return part;
  }

 private:
  // The terms of one client.
  double joint_part(std::size_t i, const std::vector<Collaborator>& clients, ThreadMemory& memory) const {
    const Learner<Real>& learner = *learners_[i];
    Scratch<Real>& scratch = memory.scratch<Real>();
    typename Scratch<Real>::Frame frame(scratch);
    const auto cut_of = [&](std::size_t j) {
      return learner.cut(measures_.joint->layer, measures_.architectures.empty() ? 0 : measures_.architectures[j]);
    };
    const auto rows = static_cast<Index>(learner.samples());
    const Cut own = cut_of(i);
    const MatrixRef<Real> mine = scratch.matrix(rows, own.outputs), theirs = scratch.matrix(rows, own.outputs);
    const ConstVectorRef<Real> model = numbers_of<Real>(clients[i].model);
    learner.outputs_at(own, model, {}, mine, scratch);
    std::vector<double> weights(clients.size(), 1.0 / static_cast<double>(clients.size()));
    for (const PeerWeight& peer : clients[i].row) weights.at(peer.peer.value) = peer.weight;
    double distances = 0, all = 0;
    for (std::size_t j = 0; j < clients.size(); ++j) {
      if (j == i) continue;
      all += weights[j];
      if (weights[j] == 0) continue;
      learner.outputs_at(cut_of(j), numbers_of<Real>(clients[j].model), {}, theirs, scratch);
      distances += weights[j] * static_cast<double>((mine - theirs).squaredNorm()) / static_cast<double>(rows);
    }
    return learner.score(model, Part::train, scratch).mean_loss() + measures_.joint->mu1 / 2 * distances -
           measures_.joint->mu2 * std::log(measures_.joint->delta + all);
  }

  template <class Ask>
  static auto of_learner(std::size_t i, Ask ask) {
    try {
      return ask();
    } catch (const std::exception& error) {
      throw LearnerFailed(ClientId{static_cast<std::uint32_t>(i)}, error.what());
    }
  }

  std::size_t measured() const { return measured_ ? measured_->size() : learners_.size(); }
  std::size_t measured_at(std::size_t place) const { return measured_ ? (*measured_)[place].value : place; }

  const std::vector<std::unique_ptr<Learner<Real>>>& learners_;
  bool shared_test_;
  Measures measures_;
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
    std::uint32_t classes = 0;  // as the last client's score has it
    std::vector<Sum> sums;
    std::vector<std::vector<double>> owed;  // summed over the clients
    bool has_foreign_sums = false;          // a client has others: nothing is known of them
    StationaritySum stationarity;
    double training_accuracy = 0, training_loss = 0;  // summed over clients
    Vector<double> weighted;                          // sum of weights times models
    double weight = 0;
    std::vector<ConsensusSum> tracked;        // in the order of Measures::tracked
    std::vector<Collaborator> collaborators;  // where the joint objective is measured
    Tensor first;                             // model of the first client
    std::optional<ClientId> different;        // the first whose model is not the first client's
    std::map<ClientId, std::pair<Snapshot, Scores>> early;
    std::uint32_t next = 0;
    std::vector<Traffic> traffic;  // by client: its sum does not depend on which comes first
    std::uint32_t counted = 0;     // clients without a model
  };

  void count(InProgress& progress, ClientId client, const Snapshot& snapshot, const Scores& scores);
  void count_measures(InProgress& progress, ClientId client, const Snapshot& snapshot, const Scores& scores);
  void finish_measures(const InProgress& progress, Sample& sample, ThreadMemory& memory) const;
  static void balance(InProgress& progress, ClientId client, const Snapshot& snapshot);
  static void add_owed(InProgress& progress, const Snapshot& snapshot);
  static Defect defect_of(const InProgress& progress);
  static std::optional<double> owed_of(const InProgress& progress);
  Sample finish(InProgress& progress, ThreadMemory& memory);

  const Evaluation& evaluation_;
  std::map<std::uint64_t, InProgress> open_;
};

}  // namespace rubato
