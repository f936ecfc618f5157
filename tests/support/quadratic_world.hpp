// Clients with quadratic losses on a ring with chords: everything a dull dense loop needs to know, and the same as a
// lock-step run.
#pragma once

#include <memory>
#include <vector>

#include "learning/models/problems.hpp"
#include "runtime/random.hpp"
#include "runtime/world/mixing.hpp"
#include "tests/support/lockstep.hpp"
#include "tests/support/values.hpp"

namespace rubato::test {

/// f_i(x) = 1/2 (x - c_i)^T A_i (x - c_i), all numbers from the seed; eigenvalues of A_i from 1/2 to 3/2 or so.
struct QuadraticWorld {
  QuadraticWorld(std::uint32_t clients, Index dimension, std::uint64_t seed)
      : graph(clients, false, ring_with_chords(clients)), weights(clients, clients), start(clients, dimension) {
    Stream stream(seed, {0}, Purpose::noise);
    for (std::uint32_t i = 0; i < clients; ++i) {
      const Matrix<double> factor = draw(stream, dimension, dimension);
      a.push_back(0.5 * Matrix<double>::Identity(dimension, dimension) +
                  factor * factor.transpose() / (4.0 * static_cast<double>(dimension)));
      c.push_back(3 * draw(stream, dimension, 1));
      start.row(i) = draw(stream, 1, dimension);
    }
    const MixingMatrix metropolis = weights::metropolis(graph);
    for (std::uint32_t i = 0; i < clients; ++i)
      for (std::uint32_t j = 0; j < clients; ++j) weights(i, j) = metropolis.at({i}, {j});
  }

  std::uint32_t clients() const { return static_cast<std::uint32_t>(start.rows()); }
  Index dimension() const { return start.cols(); }

  Vector<double> gradient(std::uint32_t i, const Vector<double>& x) const { return a[i] * (x - c[i]); }
  /// Row i is the gradient of client i at row i of x.
  Matrix<double> gradients(const Matrix<double>& x) const {
    Matrix<double> g(x.rows(), x.cols());
    for (std::uint32_t i = 0; i < clients(); ++i) g.row(i) = gradient(i, x.row(i)).transpose();
    return g;
  }
  /// Where the mean loss is smallest.
  Vector<double> optimum() const {
    Matrix<double> sum = Matrix<double>::Zero(dimension(), dimension());
    Vector<double> pull = Vector<double>::Zero(dimension());
    for (std::uint32_t i = 0; i < clients(); ++i) {
      sum += a[i];
      pull += a[i] * c[i];
    }
    return solve(sum, pull);
  }

  /// Gauss-Jordan elimination without pivots: for matrices whose diagonal is large.
  static Vector<double> solve(Matrix<double> matrix, Vector<double> right) {
    for (Index i = 0; i < matrix.rows(); ++i)
      for (Index k = 0; k < matrix.rows(); ++k) {
        if (k == i) continue;
        const double factor = matrix(k, i) / matrix(i, i);
        matrix.row(k) -= factor * matrix.row(i).eval();
        right[k] -= factor * right[i];
      }
    return (right.array() / matrix.diagonal().array()).matrix();
  }

  /// The same world in lock-step, with the program that the algorithm asks for.
  LockStep lock_step(const CatalogueEntry& entry, const AlgorithmOptions& options) const {
    return lock_step(entry, options, {.graph = graph, .program = entry.needs(options).program, .merge = {weights}});
  }
  LockStep lock_step(const CatalogueEntry& entry, const AlgorithmOptions& options, LockStepWorld world) const {
    std::vector<Vector<double>> starts;
    for (std::uint32_t i = 0; i < clients(); ++i) starts.push_back(start.row(i).transpose());
    return LockStep(std::move(world), learners(), make_algorithm<double>(entry, options), starts);
  }
  std::vector<std::unique_ptr<Learner<double>>> learners() const {
    std::vector<std::unique_ptr<Learner<double>>> all;
    for (std::uint32_t i = 0; i < clients(); ++i) all.push_back(make_quadratic<double>(a[i], c[i]));
    return all;
  }

  static std::vector<Edge> ring_with_chords(std::uint32_t clients) {
    std::vector<Edge> edges;
    for (std::uint32_t i = 0; i < clients; ++i) edges.push_back({{i}, {(i + 1) % clients}});
    for (std::uint32_t i = 0; i + 2 < clients; i += 3) edges.push_back({{i}, {i + 2}});
    return edges;
  }
  static Matrix<double> draw(Stream& stream, Index rows, Index columns) {
    Matrix<double> numbers(rows, columns);
    for (Index i = 0; i < rows; ++i)
      for (Index k = 0; k < columns; ++k) numbers(i, k) = stream.normal();
    return numbers;
  }

  Graph graph;
  Matrix<double> weights;  ///< metropolis, [receiver][sender]
  Matrix<double> start;    ///< a row a client
  std::vector<Matrix<double>> a;
  std::vector<Vector<double>> c;
};

/// All models, or all vectors of this name; a row a client.
inline Matrix<double> models(const LockStep& run, std::uint32_t clients) {
  Matrix<double> rows(clients, run.model(0).size());
  for (std::uint32_t i = 0; i < clients; ++i) rows.row(i) = run.model(i).transpose();
  return rows;
}
inline Matrix<double> shown(const LockStep& run, std::uint32_t clients, const std::string& name) {
  Matrix<double> rows(clients, run.shown(0, name).size());
  for (std::uint32_t i = 0; i < clients; ++i) rows.row(i) = run.shown(i, name).transpose();
  return rows;
}

/// What is said when these options are refused.
inline std::string complaint_about(const CatalogueEntry& entry, const AlgorithmOptions& options) {
  try {
    entry.needs(options);
    entry.make.of_float(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// One client alone: for numbers that can be computed by hand. It is client `self` of as many as there are samples.
class LoneClient {
 public:
  LoneClient(const CatalogueEntry& entry, const AlgorithmOptions& options, Vector<double> start,
             std::unique_ptr<Learner<double>> learner, bool in_rounds = false, ClientId self = {0})
      : learner_{std::move(learner)}, start_{std::move(start)} {
    const ClientView client_view{
        .client = self, .senders = others, .receivers = others, .samples = samples, .in_rounds = in_rounds};
    plan_ = {1, self, 0, &choices};
    algorithm_ = make_algorithm<double>(entry, options)(client_view, view(std::as_const(start_)), pool_);
  }

  void begin() {
    Work<double> work = lend();
    algorithm_->begin(work);
  }
  void compute(std::uint64_t index = 0, bool with_gradient = true) {
    Work<double> work = lend();
    algorithm_->compute(work, {.kind = StepKind::compute, .with_gradient = with_gradient, .index = index});
  }
  Payload publish(std::uint64_t index = 0, MessageKind message = MessageKind::update) {
    std::vector<StepEntry> entries;
    for (const ClientId other : others) entries.push_back({.peer = other});
    Work<double> work = lend();
    return algorithm_->publish(work, {.kind = StepKind::publish, .message = message, .index = index, .entries = entries});
  }
  struct Message {
    ClientId sender;
    double weight;
    const Payload& payload;
    std::uint32_t place = 0;
  };
  void merge(const std::vector<Message>& window, MessageKind message = MessageKind::update) {
    std::vector<Received<double>> received;
    for (const Message& m : window) received.push_back({m.sender, 0, m.weight, Duration{}, m.payload, m.place});
    Work<double> work = lend();
    algorithm_->merge(work, {.kind = StepKind::merge, .message = message}, received);
  }
  bool decide() {
    Work<double> work = lend();
    return algorithm_->decide(work, {.kind = StepKind::decide});
  }
  Payload payload(const Vector<double>& numbers) {
    Payload payload;
    payload.common[0] = copy_of<double>(view(numbers), pool_);
    return payload;
  }
  Payload payload(const Vector<double>& values, const Rows& coordinates) {
    Payload made = payload(values);
    made.common[1] = pool_.make<std::uint32_t>(coordinates.size());
    std::copy(coordinates.begin(), coordinates.end(), made.common[1].writable<std::uint32_t>());
    return made;
  }

  Algorithm<double>& algorithm() { return *algorithm_; }
  Vector<double> model() const { return algorithm_->model(); }
  Vector<double> shown(const std::string& name) const {
    NamedVectors probe;
    algorithm_->inspect(probe);
    return probe.seen.at(name);
  }
  Work<double> lend() { return Work<double>(*learner_, plan_, scratch_, pool_); }

  ChoiceTable choices;
  inline static const std::vector<ClientId> others{{1}, {2}};
  inline static const std::vector<std::uint32_t> samples{1, 2, 5};

 private:
  TensorPool pool_;  // first: it outlives everything that holds tensors
  Scratch<double> scratch_;
  std::unique_ptr<Learner<double>> learner_;
  Vector<double> start_;
  BatchPlan plan_;
  std::unique_ptr<Algorithm<double>> algorithm_;
};

/// f(x) = 1/2 |x|^2: the gradient is x.
inline std::unique_ptr<Learner<double>> pull_to_zero(Index dimension) {
  return make_quadratic<double>(Matrix<double>::Identity(dimension, dimension), Vector<double>::Zero(dimension));
}

}  // namespace rubato::test
