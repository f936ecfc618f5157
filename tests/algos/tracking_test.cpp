// Gradient tracking and push-sum (docs/references.md#tracking-mass): hand-computed steps, the mass balance under
// everything a network does, and the identities between the algorithms. The duller road is a dense matrix loop.
#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "algos/entries.hpp"
#include "algos/parts.hpp"
#include "algos/penalty.hpp"
#include "algos/tracking_mass.hpp"
#include "learning/models/problems.hpp"
#include "tests/support/lockstep.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

Vector<double> vector(std::initializer_list<double> numbers) {
  Vector<double> all(static_cast<Index>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), all.begin());
  return all;
}

AlgorithmOptions options(std::initializer_list<std::pair<const char*, AlgorithmOptions::Value>> set) {
  AlgorithmOptions all;
  for (const auto& [name, value] : set) all.set(name, value);
  return all;
}

// A word, because a literal would become a flag.
std::string word(const char* text) { return text; }

double far(const Matrix<double>& a, const Matrix<double>& b) { return (a - b).cwiseAbs().maxCoeff(); }

// ---- the world of the dense loops: six clients with quadratics of their own in three dimensions ---------------------

constexpr std::uint32_t clients = 6;
constexpr Index dimension = 3;

Matrix<double> bend(std::uint32_t i) {
  Matrix<double> a = Matrix<double>::Identity(dimension, dimension);
  for (Index d = 0; d < dimension; ++d) a(d, d) = 0.6 + 0.2 * static_cast<double>((i + static_cast<std::uint32_t>(d)) % 4);
  a(0, 1) = a(1, 0) = 0.1;
  return a;
}

Vector<double> point(std::uint64_t seed, std::uint32_t i) {
  Stream stream(seed, {i}, Purpose::noise);
  Vector<double> x(dimension);
  for (double& value : x) value = stream.normal();
  return x;
}

Vector<double> centre(std::uint32_t i) { return 2 * point(7, i); }

template <class Real>
std::vector<std::unique_ptr<Learner<Real>>> quadratics() {
  std::vector<std::unique_ptr<Learner<Real>>> all;
  for (std::uint32_t i = 0; i < clients; ++i) {
    const Vector<Real> c = centre(i).cast<Real>();
    all.push_back(make_quadratic<Real>(bend(i).cast<Real>(), c));
  }
  return all;
}

std::vector<Vector<double>> starts() {
  std::vector<Vector<double>> all;
  for (std::uint32_t i = 0; i < clients; ++i) all.push_back(point(3, i));
  return all;
}

// The minimiser of the sum of all clients' losses.
Vector<double> minimiser() {
  Matrix<double> a = Matrix<double>::Zero(dimension, dimension);
  Vector<double> b = Vector<double>::Zero(dimension);
  for (std::uint32_t i = 0; i < clients; ++i) {
    a += bend(i);
    b += bend(i) * centre(i);
  }
  Vector<double> x = b / 6;  // Richardson: no decompositions here
  for (int k = 0; k < 2000; ++k) x += (b - a * x) / 12;
  return x;
}

Graph directed() {
  return Graph(clients, true,
               {{{0}, {1}}, {{1}, {2}}, {{2}, {3}}, {{3}, {4}}, {{4}, {5}}, {{5}, {0}}, {{0}, {3}}, {{4}, {1}}, {{2}, {5}}});
}

Graph undirected() {
  return Graph(clients, false, {{{0}, {1}}, {{1}, {2}}, {{2}, {3}}, {{3}, {4}}, {{4}, {5}}, {{0}, {5}}, {{0}, {2}}, {{1}, {4}}});
}

Graph complete() {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t j = i + 1; j < clients; ++j) edges.push_back({{i}, {j}});
  return Graph(clients, false, edges);
}

Matrix<double> uniform_row(const Graph& graph) {
  Matrix<double> a = Matrix<double>::Zero(clients, clients);
  for (std::uint32_t i = 0; i < clients; ++i) {
    a(i, i) = 1.0 / static_cast<double>(1 + graph.in_degree({i}));
    for (const ClientId j : graph.senders_to({i})) a(i, j.value) = a(i, i);
  }
  return a;
}

Matrix<double> uniform_column(const Graph& graph) {
  Matrix<double> b = Matrix<double>::Zero(clients, clients);
  for (std::uint32_t j = 0; j < clients; ++j) {
    b(j, j) = 1.0 / static_cast<double>(1 + graph.out_degree({j}));
    for (const ClientId i : graph.receivers_of({j})) b(i.value, j) = b(j, j);
  }
  return b;
}

Matrix<double> metropolis(const Graph& graph) {
  Matrix<double> w = Matrix<double>::Zero(clients, clients);
  for (std::uint32_t i = 0; i < clients; ++i)
    for (const ClientId j : graph.senders_to({i}))
      w(i, j.value) = 1.0 / static_cast<double>(1 + std::max(graph.in_degree({i}), graph.in_degree(j)));
  for (std::uint32_t i = 0; i < clients; ++i) w(i, i) = 1 - w.row(i).sum();
  return w;
}

// Rows are clients.
Matrix<double> gradients(const Matrix<double>& x) {
  Matrix<double> g(clients, dimension);
  for (std::uint32_t i = 0; i < clients; ++i) g.row(i) = (bend(i) * (x.row(i).transpose() - centre(i))).transpose();
  return g;
}

Matrix<double> first_models() {
  Matrix<double> x(clients, dimension);
  for (std::uint32_t i = 0; i < clients; ++i) x.row(i) = starts()[i].transpose();
  return x;
}

Matrix<double> mean_rows(const Matrix<double>& x) { return Matrix<double>::Ones(clients, 1) * (x.colwise().sum() / clients); }

LockStepWorld digraph_world(const CatalogueEntry& entry, const AlgorithmOptions& chosen) {
  const Graph graph = directed();
  return {.graph = graph, .program = entry.needs(chosen).program, .merge = {uniform_row(graph)}, .share = {uniform_column(graph)}};
}

LockStepWorld doubly_world(const CatalogueEntry& entry, const AlgorithmOptions& chosen) {
  const Graph graph = undirected();
  const Matrix<double> w = metropolis(graph);
  return {.graph = graph, .program = entry.needs(chosen).program, .merge = {w}, .share = {w}};
}

LockStep play(const CatalogueEntry& entry, const AlgorithmOptions& chosen, LockStepWorld world) {
  return LockStep(std::move(world), quadratics<double>(), entry.make.of_double(chosen), starts());
}

Matrix<double> all(const LockStep& run, const char* name) {
  Matrix<double> rows(clients, dimension);
  for (std::uint32_t i = 0; i < clients; ++i) rows.row(i) = run.shown(i, name).transpose();
  return rows;
}

// Runs, and compares x (and what else is named) with `step`'s dense matrices after every round.
using Dense = std::map<std::string, Matrix<double>>;
double farthest(LockStep& run, std::uint64_t rounds, Dense dense, const std::function<void(Dense&, std::uint64_t)>& step) {
  double worst = 0;
  run.run(rounds, [&](std::uint64_t done) {
    if (done > 0) step(dense, done - 1);
    for (const auto& [name, rows] : dense)
      if (name[0] != '_') worst = std::max(worst, far(all(run, name.c_str()), rows));
  });
  return worst;
}

// A fair or unfair coin that belongs to (what, k, i, j).
bool coin(double chance, std::uint64_t what, std::uint64_t k, std::uint32_t i, std::uint32_t j = 0) {
  return Stream(1000 * what + k, {i * 64 + j}, Purpose::indicator).uniform() < chance;
}

// ---- one client by hand ---------------------------------------------------------------------------------------------

// Client 1 of three who all hear each other, at x = (3, 1) with f = (x - 1)^2 / 2 + y^2: the gradient is (x - 1, 2 y).
struct HandClient {
  HandClient(const CatalogueEntry& entry, const AlgorithmOptions& chosen, bool in_rounds = false) {
    algorithm = entry.make.of_double(chosen)(ClientView{.client = {1},
                                                        .senders = others,
                                                        .receivers = others,
                                                        .samples = samples,
                                                        .in_rounds = in_rounds,
                                                        .keeps_balance = true},
                                             view(start), pool);
  }
  Work<double> lend() { return Work<double>(*learner, plan, scratch, pool); }
  void compute(bool with_gradient = true) {
    Work<double> work = lend();
    algorithm->compute(work, {.kind = StepKind::compute, .with_gradient = with_gradient, .client = {1}, .index = count++});
  }
  Payload publish(double share_of_0, double share_of_2) {
    const StepEntry entries[] = {{.peer = {0}, .weight = share_of_0}, {.peer = {2}, .weight = share_of_2}};
    Work<double> work = lend();
    return algorithm->publish(work, {.kind = StepKind::publish, .client = {1}, .entries = entries});
  }
  // One message of client `sender` with a model and a counter.
  void merge(std::uint32_t sender, double weight, const std::optional<Vector<double>>& model, const Vector<double>& counter) {
    Payload payload;
    if (model) payload.common[0] = copy_of<double>(view(*model), pool);
    payload.own.push_back(copy_of<double>(view(counter), pool));
    const Received<double> message{{sender}, 0, weight, Duration{}, payload, 0};
    Work<double> work = lend();
    algorithm->merge(work, {.kind = StepKind::merge, .client = {1}}, {&message, 1});
  }
  Vector<double> shown(const char* name) const {
    NamedVectors probe;
    algorithm->inspect(probe);
    return probe.seen.at(name);
  }

  const Vector<double> start = vector({3, 1});
  const std::vector<ClientId> others{{0}, {2}};
  const std::vector<std::uint32_t> samples{1, 1, 1};
  TensorPool pool;
  Scratch<double> scratch;
  BatchPlan plan{1, {1}, 0, nullptr};
  std::unique_ptr<Learner<double>> learner =
      make_quadratic<double>((Matrix<double>(2, 2) << 1, 0, 0, 2).finished(), vector({1, 0}));
  std::unique_ptr<Algorithm<double>> algorithm;
  std::uint64_t count = 0;
};

Vector<double> own(const Payload& payload, std::size_t place) { return numbers_of<double>(payload.own.at(place)); }
Vector<double> common(const Payload& payload) { return numbers_of<double>(payload.common[0]); }

// ---- a network that loses, delays and reorders ----------------------------------------------------------------------

// Clients compute, send to some receivers and receive in any order; what is lost is lost, and like the protocol this
// hands over the newest message of a link and nothing older than the last one.
template <class Real>
class RoughMail {
 public:
  RoughMail(const CatalogueEntry& entry, const AlgorithmOptions& chosen, Graph graph, Matrix<double> merge, Matrix<double> share,
            std::uint64_t seed)
      : graph_{std::move(graph)}, merge_{std::move(merge)}, share_{std::move(share)}, chance_{seed} {
    const AlgorithmFactory<Real> factory = [&] {
      if constexpr (std::is_same_v<Real, float>)
        return entry.make.of_float(chosen);
      else
        return entry.make.of_double(chosen);
    }();
    for (std::uint32_t i = 0; i < clients; ++i) {
      const Vector<Real> start = starts()[i].cast<Real>();
      algorithms_.push_back(factory(ClientView{.client = {i},
                                               .senders = graph_.senders_to({i}),
                                               .receivers = graph_.receivers_of({i}),
                                               .samples = samples_,
                                               .keeps_balance = true},
                                    view(start), pool_));
    }
  }

  static constexpr double loss = 0.3;
  static constexpr std::uint64_t deadline = 300;  // events
  bool has_equal_clocks = false;                  // else clients with low numbers are quicker
  std::uint64_t merged = 0, lost = 0, skipped = 0;

  void act() {
    ++events_;
    const std::uint32_t dice = pick(10);
    const std::uint32_t i = has_equal_clocks ? pick(clients) : std::min(pick(clients), pick(clients));
    if (dice < 2) return compute(i);
    if (dice < 5) return publish(i);
    receive();
  }

  double imbalance() const {
    std::map<std::string, Vector<double>> sums;
    for (const auto& algorithm : algorithms_) {
      NamedVectors probe;
      algorithm->balance(probe);
      for (const auto& [name, part] : probe.seen) sums.try_emplace(name, Vector<double>::Zero(part.size())).first->second += part;
    }
    REQUIRE(!sums.empty());
    double largest = 0;
    for (const auto& [name, sum] : sums) largest = std::max(largest, sum.cwiseAbs().maxCoeff());
    return largest;
  }

  Vector<double> model(std::uint32_t i) const { return algorithms_[i]->model().template cast<double>(); }

 private:
  struct Message {
    ClientId from, to;
    Sequence sequence;
    std::uint32_t place;
    std::uint64_t written;
    std::shared_ptr<const Payload> payload;
  };

  std::uint32_t pick(std::uint32_t bound) { return static_cast<std::uint32_t>(chance_() % bound); }
  Work<Real> lend(std::uint32_t i) {
    plan_.client = {i};
    return Work<Real>(*learners_[i], plan_, scratch_, pool_);
  }

  void compute(std::uint32_t i) {
    Work<Real> work = lend(i);
    algorithms_[i]->compute(work, {.kind = StepKind::compute, .client = {i}, .index = computations_[i]++});
  }

  void publish(std::uint32_t i) {
    std::vector<StepEntry> entries;
    for (const ClientId to : graph_.receivers_of({i}))
      if (pick(4) > 0) entries.push_back({.peer = to, .sequence = sequences_[i], .weight = share_(to.value, i)});
    Work<Real> work = lend(i);
    const auto payload = std::make_shared<const Payload>(
        algorithms_[i]->publish(work, {.kind = StepKind::publish, .client = {i}, .index = sequences_[i], .entries = entries}));
    for (std::uint32_t place = 0; place < entries.size(); ++place) {
      if (pick(1000) < 1000 * loss)
        ++lost;
      else
        letters_.push_back({{i}, entries[place].peer, sequences_[i], place, events_, payload});
    }
    ++sequences_[i];
  }

  // Takes some letter, old or new, and what two more reaches into the pile find for the same client.
  void receive() {
    if (letters_.empty()) return;
    const std::uint32_t i = letters_[pick(static_cast<std::uint32_t>(letters_.size()))].to.value;
    std::map<std::uint32_t, Message> newest;
    for (int k = 0; k < 3 && !letters_.empty(); ++k) {
      const std::size_t at = pick(static_cast<std::uint32_t>(letters_.size()));
      if (letters_[at].to.value != i) continue;
      const Message letter = letters_[at];
      letters_.erase(letters_.begin() + static_cast<std::ptrdiff_t>(at));
      if (letter.written + deadline < events_) continue;
      const auto [found, is_new] = newest.try_emplace(letter.from.value, letter);
      if (!is_new && letter.sequence > found->second.sequence) found->second = letter;
    }
    std::vector<Received<Real>> window;
    for (const auto& [from, letter] : newest) {
      const auto seen = last_.find({i, from});
      if (seen != last_.end() && seen->second >= letter.sequence) {
        ++skipped;
        continue;
      }
      last_[{i, from}] = letter.sequence;
      window.push_back({{from}, letter.sequence, merge_(i, from), Duration{}, *letter.payload, letter.place});
    }
    merged += window.size();
    Work<Real> work = lend(i);
    algorithms_[i]->merge(work, {.kind = StepKind::merge, .client = {i}}, window);
  }

  TensorPool pool_;  // first: it outlives everything that holds tensors
  Scratch<Real> scratch_;
  Graph graph_;
  Matrix<double> merge_, share_;
  std::mt19937 chance_;
  BatchPlan plan_{1, {}, 0, nullptr};
  std::vector<std::uint32_t> samples_ = std::vector<std::uint32_t>(clients, 1);
  std::vector<std::unique_ptr<Learner<Real>>> learners_ = quadratics<Real>();
  std::vector<std::unique_ptr<Algorithm<Real>>> algorithms_;
  std::array<std::uint64_t, clients> computations_{};
  std::array<Sequence, clients> sequences_{};
  std::vector<Message> letters_;
  std::uint64_t events_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sequence> last_;
};

template <class Real>
double worst_imbalance(const CatalogueEntry& entry, const AlgorithmOptions& chosen, std::uint64_t seed,
                       bool has_equal_clocks = false) {
  const Graph graph = entry.graphs == Graphs::undirected ? undirected() : directed();
  const bool doubly = entry.graphs == Graphs::undirected;
  RoughMail<Real> mail(entry, chosen, graph, doubly ? metropolis(graph) : uniform_row(graph),
                       doubly ? metropolis(graph) : uniform_column(graph), seed);
  mail.has_equal_clocks = has_equal_clocks;
  double worst = mail.imbalance();
  for (int event = 0; event < 600; ++event) {
    mail.act();
    worst = std::max(worst, mail.imbalance());
  }
  REQUIRE(mail.merged > 20);
  REQUIRE(mail.lost > 30);
  REQUIRE(mail.skipped > 0);
  return worst;
}

}  // namespace

// ---- counters -------------------------------------------------------------------------------------------------------

TEST_CASE("a counter sums all shares of its receiver, and who lost a message gets its share with the next") {
  TensorPool pool;  // first: it outlives the counters
  const std::vector<ClientId> one{{1}}, zero{{0}};
  TrackingMass sender(ClientView{{0}, {}, one, {}}), receiver(ClientView{{1}, zero, {}, {}});
  const StepEntry entry{.peer = {1}, .weight = 0.25};
  const Step step{.kind = StepKind::publish, .entries = {&entry, 1}};
  const Vector<double> mass = vector({8, -4});
  Payload lost, arrived;
  Vector<double> rest = mass;
  sender.assign<double>(view(mass), view(rest), step, pool, lost);
  CHECK(rest == vector({6, -3}));
  CHECK(own(lost, 0) == vector({2, -1}));
  sender.assign<double>(view(mass), view(rest), step, pool, arrived);
  CHECK(rest == vector({4, -2}));
  CHECK(own(arrived, 0) == vector({4, -2}));
  CHECK(own(lost, 0) == vector({2, -1}));  // what is on its way never changes

  Vector<double> in_flight = Vector<double>::Zero(2), taken = vector({1, 1});
  sender.add_in_flight(in_flight);
  receiver.add_in_flight(in_flight);
  CHECK(in_flight == vector({4, -2}));
  const Received<double> message{{0}, 1, 1, Duration{}, arrived, 0};
  receiver.absorb<double>({&message, 1}, view(taken));
  CHECK(taken == vector({5, -1}));
  receiver.absorb<double>({&message, 1}, view(taken));
  CHECK(taken == vector({5, -1}));
  receiver.add_in_flight(in_flight);
  CHECK(in_flight == vector({0, 0}));
}

TEST_CASE("receivers with the same share have one counter until one of them is left out, and an archive keeps that") {
  TensorPool pool;
  const std::vector<ClientId> three{{1}, {2}, {3}};
  TrackingMass sender(ClientView{{0}, {}, three, {}});
  Vector<double> mass = vector({8, -4});
  const auto publish = [&](std::vector<StepEntry> entries) {
    Payload payload;
    sender.assign<double>(view(std::as_const(mass)), view(mass), {.kind = StepKind::publish, .entries = entries}, pool, payload);
    return payload;
  };
  const Payload all = publish({{.peer = {1}, .weight = 0.25}, {.peer = {2}, .weight = 0.25}, {.peer = {3}, .weight = 0.125}});
  CHECK(mass == vector({3, -1.5}));
  CHECK(all.own[0].is_same(all.own[1]));
  CHECK_FALSE(all.own[0].is_same(all.own[2]));
  CHECK(own(all, 1) == vector({2, -1}));
  CHECK(own(all, 2) == vector({1, -0.5}));
  const auto repeated = [&](TrackingMass& counters) {
    const StepEntry entries[] = {{.peer = {1}}, {.peer = {2}}, {.peer = {3}}};
    Payload payload;
    counters.repeat<double>(2, {.kind = StepKind::publish, .entries = entries}, pool, payload);
    return payload;
  };
  Archive written;
  sender.archive(written, 2);
  const std::vector<std::byte> bytes = written.take();
  Archive read(bytes, pool);
  TrackingMass again(ClientView{{0}, {}, three, {}});
  again.archive(read, 2);
  read.expect_end();
  const Payload restored = repeated(again);
  CHECK(restored.own[0].is_same(restored.own[1]));
  for (std::size_t i = 0; i < 3; ++i) CHECK(own(restored, i) == own(all, i));

  publish({{.peer = {2}, .weight = 0.25}});
  const Payload last = publish({{.peer = {1}, .weight = 0.25}, {.peer = {2}, .weight = 0.25}, {.peer = {3}, .weight = 0.25}});
  CHECK_FALSE(last.own[0].is_same(last.own[1]));
  CHECK(own(last, 0) == vector({2.5625, -1.28125}));  // 2 and a quarter of 2.25
  CHECK(own(last, 1) == vector({3.3125, -1.65625}));  // 0.75 more
}

TEST_CASE("where nothing is lost messages carry their shares alone, in the model's precision, and no mass is lost by that") {
  constexpr std::uint32_t many = 10;
  constexpr Index numbers = 50;
  const auto relative_defect = [&]<class Real>(Real) {
    TensorPool pool;
    std::vector<ClientId> ids;
    for (std::uint32_t i = 0; i < many; ++i) ids.push_back({i});
    std::vector<TrackingMass> parts;
    std::vector<Vector<double>> masses;
    Vector<double> total = Vector<double>::Zero(numbers);
    std::mt19937_64 chance(3);
    const auto normal = [&] { return std::normal_distribution<double>()(chance); };
    for (std::uint32_t i = 0; i < many; ++i) {
      parts.emplace_back(ClientView{.client = {i}, .senders = ids, .receivers = ids, .samples = {}, .loses_nothing = true});
      masses.push_back(Vector<double>::NullaryExpr(numbers, [&] { return normal() * std::exp(3 * normal()); }));
      total += masses.back();
    }
    for (int round = 0; round < 3000; ++round) {
      std::vector<Payload> payloads(many);
      for (std::uint32_t i = 0; i < many; ++i) {  // a ring with a chord, all with a share of their own
        const StepEntry entries[] = {{.peer = {(i + 1) % many}, .weight = 0.3}, {.peer = {(i + 4) % many}, .weight = 0.3}};
        parts[i].assign<Real>(view(std::as_const(masses[i])), view(masses[i]), {.kind = StepKind::publish, .entries = entries},
                              pool, payloads[i]);
        CHECK(payloads[i].own[0].is_same(payloads[i].own[1]));
        CHECK(payloads[i].own[0].scalar() == scalar_of<Real>);
      }
      for (std::uint32_t i = 0; i < many; ++i) {
        const ClientId near{(i + many - 1) % many}, far{(i + many - 4) % many};
        const Received<Real> window[] = {{near, 0, 1, Duration{}, payloads[near.value], 0},
                                         {far, 0, 1, Duration{}, payloads[far.value], 1}};
        parts[i].absorb<Real>(window, view(masses[i]));
      }
    }
    Vector<double> sum = Vector<double>::Zero(numbers);
    for (const Vector<double>& mass : masses) sum += mass;
    return ((sum - total).array().abs() / total.array().abs()).maxCoeff();
  };
  CHECK(relative_defect(double{}) < 1e-9);
  CHECK(relative_defect(float{}) < 1e-9);  // 1e-6 is promised
}

TEST_CASE("a vector that no cache holds is written part by part as it is, and a number that is not finite is told") {
  TensorPool pool;
  constexpr Index size = static_cast<Index>(beyond_caches / sizeof(float)) + 5;
  for (const bool is_read : {false, true})
    for (const Index odd : {Index{-1}, Index{7}, size - 1}) {
      Tensor tensor = pool.make<float>(static_cast<std::size_t>(size));
      bool are_finite = true;
      for_each_part(size, [&](Index first, Index length) {
        are_finite &= write_part<float>(tensor, is_read, first, length, [&](VectorRef<float> part) {
          for (Index i = 0; i < length; ++i)
            part[i] = first + i == odd ? std::numeric_limits<float>::infinity() : static_cast<float>(first + i);
        });
      });
      CHECK(are_finite == (odd < 0));
      CHECK(tensor.is_finite() == are_finite);
      const ConstVectorRef<float> numbers = numbers_of<float>(std::as_const(tensor));
      Index wrong = 0;
      for (Index i = 0; i < size; ++i) wrong += i != odd && numbers[i] != static_cast<float>(i);
      CHECK(wrong == 0);
    }
}

TEST_CASE("what was assigned for later is there until the parts of the mass are added, and nothing is missing then") {
  TensorPool pool;
  const std::vector<ClientId> others{{1}, {2}};
  TrackingMass counters(ClientView{
      .client = {0}, .senders = others, .receivers = others, .samples = {}, .loses_nothing = true, .keeps_balance = true});
  Vector<double> mass = vector({6, -4});
  const StepEntry entries[] = {{.peer = {1}, .weight = 0.25}, {.peer = {2}, .weight = 0.5}};
  Payload payload;
  const auto finish = [](Index, VectorRef<double> part) { part[0] += 2; };
  counters.assign_for_later<double>(view(mass), finish, {.kind = StepKind::publish, .entries = entries}, pool, payload);
  CHECK(mass == vector({8, -4}));
  CHECK_FALSE(counters.is_settled());
  const Received<double> window[] = {{{1}, 1, 1, Duration{}, payload, 0}, {{2}, 1, 1, Duration{}, payload, 1}};
  counters.receive<double>({window, 1});
  counters.add_all<double>(view(mass));
  CHECK(counters.is_settled());
  CHECK(mass == vector({4, -2}));  // 8 - 2 - 4 + 2
  Vector<double> whole = mass;
  counters.add_in_flight(whole);
  CHECK(whole == vector({8, -4}));
}

TEST_CASE("a share takes the place of a tensor that nothing else holds, once it was read, and of no other") {
  constexpr Index size = part_size + 3;
  TensorPool pool;
  const std::vector<ClientId> others{{1}, {2}};
  TrackingMass counters(ClientView{.client = {0}, .receivers = others, .samples = {}, .loses_nothing = true});
  const StepEntry entries[] = {{.peer = {1}, .weight = 0.5}, {.peer = {2}, .weight = 0.25}};
  for (const bool is_held : {false, true}) {
    Vector<double> mass = Vector<double>::Constant(size, 8);
    Tensor spare = pool.make<double>(static_cast<std::size_t>(size));
    numbers_of<double>(spare).setConstant(4);
    const double* const read = spare.data<double>();
    const Tensor other = is_held ? spare : Tensor();
    const auto finish = [&](Index first, VectorRef<double> part) { part += ConstVectorRef<double>(read + first, part.size()); };
    Payload payload;
    counters.assign_for_later<double>(view(mass), finish, {.kind = StepKind::publish, .entries = entries}, pool, payload, &spare);
    CHECK(bool(spare) == is_held);
    CHECK((payload.own[0].data<double>() == read) == !is_held);
    CHECK(payload.own[1].data<double>() != read);
    CHECK(own(payload, 0) == Vector<double>::Constant(size, 6));
    CHECK(own(payload, 1) == Vector<double>::Constant(size, 3));
    if (is_held) CHECK(numbers_of<double>(other) == Vector<double>::Constant(size, 4));
    counters.add_all<double>(view(mass));
    CHECK(mass == Vector<double>::Constant(size, 3));
  }
}

TEST_CASE("a share that was received is spare when its message is gone, and a counter never") {
  TensorPool pool;
  const std::vector<ClientId> zero{{0}}, one{{1}};
  const Vector<double> mass = vector({8, -4});
  for (const bool loses_nothing : {true, false}) {
    TrackingMass sender(ClientView{.client = {0}, .receivers = one, .samples = {}, .loses_nothing = loses_nothing});
    TrackingMass receiver(ClientView{.client = {1}, .senders = zero, .samples = {}, .loses_nothing = loses_nothing});
    const StepEntry entry{.peer = {1}, .weight = 0.25};
    Vector<double> rest = mass;
    auto payload = std::make_unique<Payload>();
    sender.assign<double>(view(mass), view(rest), {.kind = StepKind::publish, .entries = {&entry, 1}}, pool, *payload);
    CHECK(receiver.spare() == nullptr);
    const Received<double> message{{0}, 1, 1, Duration{}, *payload, 0};
    receiver.receive<double>({&message, 1});
    CHECK(receiver.spare() == nullptr);
    payload.reset();
    CHECK((receiver.spare() != nullptr) == loses_nothing);
    receiver.settled();
    CHECK(receiver.spare() == nullptr);
  }
}

TEST_CASE("a message that is the model keeps the model that it was made of") {
  HandClient client(entries::spodgt, options({{"eta", 0.5}}));
  client.compute();
  const Payload sent = client.publish(0.25, 0.5);
  client.compute();
  client.merge(2, 0.25, vector({7, -3}), vector({1, 0}));
  CHECK(client.shown("x") != vector({3, 1}));
  CHECK(common(sent) == vector({3, 1}));
}

// ---- Spod-GT --------------------------------------------------------------------------------------------------------

TEST_CASE("spodgt computes, sends and merges as on paper") {
  HandClient client(entries::spodgt, options({{"eta", 0.5}}));
  client.compute();  // y was 0: x stays; g = (2, 2)
  CHECK(client.shown("x") == vector({3, 1}));
  CHECK(client.shown("y") == vector({2, 2}));
  const Payload first = client.publish(0.25, 0.5);
  CHECK(common(first) == vector({3, 1}));
  CHECK(own(first, 0) == vector({0.5, 0.5}));
  CHECK(own(first, 1) == vector({1, 1}));
  CHECK(client.shown("y") == vector({0.5, 0.5}));
  client.merge(2, 0.25, vector({7, -3}), vector({1, 0}));
  CHECK(client.shown("x") == vector({4, 0}));
  CHECK(client.shown("y") == vector({1.5, 0.5}));
  client.compute();  // x -= y / 2 = (3.25, -0.25); g = (2.25, -0.5); y += g - (2, 2)
  CHECK(client.shown("x") == vector({3.25, -0.25}));
  CHECK(client.shown("y") == vector({1.75, -2}));
  CHECK(client.shown("ghat") == vector({2.25, -0.5}));
  client.merge(2, 0.25, vector({3.25, -0.25}), vector({1.5, 0}));  // of its counter 1 was absorbed
  CHECK(client.shown("y") == vector({2.25, -2}));
}

TEST_CASE("a window compares every sender with the model as it was") {
  HandClient client(entries::spodgt, options({{"eta", 0.5}}));
  TensorPool& pool = client.pool;
  Payload payloads[2];
  const Vector<double> models[] = {vector({7, 1}), vector({3, 5})}, nothing = vector({0, 0});
  std::vector<Received<double>> window;
  for (std::uint32_t k = 0; k < 2; ++k) {
    payloads[k].common[0] = copy_of<double>(view(models[k]), pool);
    payloads[k].own.push_back(copy_of<double>(view(nothing), pool));
    window.push_back({{2 * k}, 0, 0.25, Duration{}, payloads[k], 0});
  }
  Work<double> work = client.lend();
  client.algorithm->merge(work, {.kind = StepKind::merge, .client = {1}}, window);
  CHECK(client.shown("x") == vector({4, 2}));
}

TEST_CASE("without a gradient paper forgets the last one, memory keeps it, inverse_p forgets it and weighs the others") {
  const auto after = [](const char* mode, double p) {
    HandClient client(entries::spodgt, options({{"eta", 0.5}, {"gradient_mode", word(mode)}, {"p", p}}));
    client.compute();       // y = ghat = g or g / p, x = (3, 1)
    client.compute(false);  // x -= y / 2
    Matrix<double> rows(3, 2);
    rows << client.shown("x").transpose(), client.shown("y").transpose(), client.shown("ghat").transpose();
    return rows;
  };
  CHECK(after("paper", 1) == (Matrix<double>(3, 2) << 2, 0, 0, 0, 0, 0).finished());
  CHECK(after("memory", 1) == (Matrix<double>(3, 2) << 2, 0, 2, 2, 2, 2).finished());
  CHECK(after("inverse_p", 0.5) == (Matrix<double>(3, 2) << 1, -1, 0, 0, 0, 0).finished());
}

TEST_CASE("by default spodgt forgets gradients in rounds and keeps them in continuous time") {
  for (const bool in_rounds : {true, false}) {
    HandClient client(entries::spodgt, options({{"eta", 0.5}}), in_rounds);
    client.compute();
    client.compute(false);
    CHECK(client.shown("ghat") == (in_rounds ? vector({0, 0}) : vector({2, 2})));
  }
}

TEST_CASE("a unification changes the model and nothing that is balanced") {
  HandClient client(entries::spodgt, options({{"eta", 0.5}}));
  client.compute();
  const Vector<double> hub = vector({9, 9});
  client.algorithm->adopt(view(hub));
  CHECK(client.shown("x") == hub);
  CHECK(client.shown("y") == vector({2, 2}));
}

TEST_CASE("spodgt with sporadic gradients and links is the dense loop of equations 2 to 6, in every gradient mode") {
  const Graph graph = directed();
  const Matrix<double> a = uniform_row(graph), b = uniform_column(graph);
  const std::vector<double> p{0.3, 0.9, 0.5, 0.7, 1, 0.4};
  const auto v = [&](std::uint64_t k, std::uint32_t i) { return coin(p[i], 1, k, i); };
  const auto up = [&](std::uint64_t k, std::uint32_t i, std::uint32_t j) { return coin(0.6, 2, k, i, j); };
  for (const char* mode : {"paper", "memory", "inverse_p"}) {
    CAPTURE(mode);
    const AlgorithmOptions chosen = options({{"eta", 0.04}, {"gradient_mode", word(mode)}, {"p", p}});
    const auto estimate = [&](const Matrix<double>& x, const Matrix<double>& last, std::uint64_t k) {
      Matrix<double> g = gradients(x);
      for (std::uint32_t i = 0; i < clients; ++i) {
        if (!v(k, i))
          g.row(i) = word(mode) == "memory" ? Matrix<double>(last.row(i)) : Matrix<double>::Zero(1, dimension);
        else if (word(mode) == "inverse_p")
          g.row(i) /= p[i];
      }
      return g;
    };
    LockStepWorld world = digraph_world(entries::spodgt, chosen);
    world.with_gradient = [&](std::uint64_t k, ClientId i) { return v(k, i.value); };
    world.uses_link = [&](std::uint64_t k, std::uint8_t, ClientId i, ClientId j) { return up(k, i.value, j.value); };
    LockStep run = play(entries::spodgt, chosen, std::move(world));
    double defect = 0;
    run.after_step = [&](ClientId) { defect = std::max(defect, run.imbalance()); };
    const Matrix<double> x0 = first_models(), g0 = estimate(x0, Matrix<double>::Zero(clients, dimension), 0);
    const double worst = farthest(run, 25, {{"x", x0}, {"y", g0}, {"ghat", g0}}, [&](Dense& d, std::uint64_t k) {
      Matrix<double> ah = a, bh = b;
      for (std::uint32_t i = 0; i < clients; ++i)
        for (std::uint32_t j = 0; j < clients; ++j)
          if (i != j && !up(k, i, j)) {
            ah(i, i) += ah(i, j);
            bh(j, j) += bh(i, j);
            ah(i, j) = bh(i, j) = 0;
          }
      const Matrix<double> half = bh * d["y"];
      d["x"] = ah * d["x"] - 0.04 * half;
      const Matrix<double> g = estimate(d["x"], d["ghat"], k + 1);
      d["y"] = half + g - d["ghat"];
      d["ghat"] = g;
      d["y_half"] = half;
    });
    CHECK(worst < 1e-12);
    CHECK(defect < 1e-12);
  }
}

TEST_CASE("the continuous form of spodgt, with everybody in step, is its round form") {
  const AlgorithmOptions chosen = options({{"eta", 0.05}});
  LockStepWorld world = digraph_world(entries::spodgt, chosen);
  world.in_rounds = false;
  LockStep free = play(entries::spodgt, chosen, std::move(world));
  LockStep rounds = play(entries::ab, chosen, digraph_world(entries::ab, chosen));
  free.run(15);
  rounds.run(15);
  CHECK(far(all(free, "x"), all(rounds, "x")) == 0);
  CHECK(far(all(free, "y"), all(rounds, "y")) == 0);
}

TEST_CASE("spodgt whose shares and models take the place of others is bit by bit the spodgt that is looked at after every step") {
  const AlgorithmOptions chosen = options({{"eta", 0.05}});
  LockStepWorld world = digraph_world(entries::ab, chosen);
  world.loses_nothing = true;
  world.keeps_balance = false;
  LockStep alone = play(entries::ab, chosen, world);
  LockStep watched = play(entries::ab, chosen, world);
  watched.after_step = [&](ClientId client) { watched.shown(client.value, "y"); };
  alone.run(15);
  watched.run(15);
  CHECK(far(all(alone, "x"), all(watched, "x")) == 0);
  CHECK(far(all(alone, "y"), all(watched, "y")) == 0);
  LockStep counted = play(entries::ab, chosen, digraph_world(entries::ab, chosen));
  counted.run(15);
  CHECK(far(all(alone, "x"), all(counted, "x")) < 1e-12);
}

TEST_CASE("with everything always on spodgt is pushpull with x_mix cta, y_mix atc and y0 Bg") {
  const AlgorithmOptions step = options({{"eta", 0.05}});
  const AlgorithmOptions chosen = options({{"eta", 0.05}, {"x_mix", word("cta")}, {"y_mix", word("atc")}, {"y0", word("Bg")}});
  LockStep ab = play(entries::ab, step, digraph_world(entries::ab, step));
  LockStep pull = play(entries::pushpull, chosen, digraph_world(entries::pushpull, chosen));
  std::vector<Matrix<double>> models, trackers;
  pull.run(15, [&](std::uint64_t) {
    models.push_back(all(pull, "x"));
    trackers.push_back(all(pull, "y"));
  });
  ab.run(15, [&](std::uint64_t done) {
    CHECK(far(all(ab, "x"), models[done]) < 1e-12);
    if (done > 0) CHECK(far(all(ab, "y_half"), trackers[done - 1]) < 1e-12);
  });
}

TEST_CASE("the four baselines are spodgt with another schedule") {
  const auto sporadic = [](const CatalogueEntry& entry) { return entry.needs({}).sporadic; };
  CHECK((sporadic(entries::spodgt).computes && sporadic(entries::spodgt).links));
  CHECK((!sporadic(entries::ab).computes && !sporadic(entries::ab).links));
  CHECK((!sporadic(entries::g_push_pull).computes && sporadic(entries::g_push_pull).links));
  CHECK((sporadic(entries::sporadic_kgt).computes && !sporadic(entries::sporadic_kgt).links));
  CHECK((!sporadic(entries::kgt_directed).computes && !sporadic(entries::kgt_directed).links));
}

TEST_CASE("directed K-GT exchanges in the rounds k with (k + 1) mod K = 0 and descends in every round") {
  const AlgorithmOptions chosen = options({{"eta", 0.04}, {"local_steps", std::int64_t{3}}});
  const Needs needs = entries::kgt_directed.needs(chosen);
  CHECK(needs.send_every == 3);
  for (std::uint64_t round = 0; round < 9; ++round) CHECK(needs.program.round[0].happens_in(round) == ((round + 1) % 3 == 0));
  LockStep run = play(entries::kgt_directed, chosen, digraph_world(entries::kgt_directed, chosen));
  const Graph graph = directed();
  const Matrix<double> x0 = first_models(), identity = Matrix<double>::Identity(clients, clients);
  const double worst =
      farthest(run, 12, {{"x", x0}, {"y", gradients(x0)}, {"ghat", gradients(x0)}}, [&](Dense& d, std::uint64_t k) {
        const bool meets = (k + 1) % 3 == 0;
        const Matrix<double> half = (meets ? uniform_column(graph) : identity) * d["y"];
        d["x"] = (meets ? uniform_row(graph) : identity) * d["x"] - 0.04 * half;
        const Matrix<double> g = gradients(d["x"]);
        d["y"] = half + g - d["ghat"];
        d["ghat"] = g;
      });
  CHECK(worst < 1e-12);
}

TEST_CASE("memory mode finds the minimiser of the mean loss, however unequal the chances of a gradient") {
  const std::vector<double> p{0.3, 0.9, 0.5, 0.7, 1, 0.4};
  const AlgorithmOptions chosen = options({{"eta", 0.03}, {"gradient_mode", word("memory")}});
  LockStepWorld world = digraph_world(entries::spodgt, chosen);
  world.with_gradient = [&](std::uint64_t k, ClientId i) { return coin(p[i.value], 1, k, i.value); };
  world.uses_link = [&](std::uint64_t k, std::uint8_t, ClientId i, ClientId j) { return coin(0.6, 2, k, i.value, j.value); };
  LockStep run = play(entries::spodgt, chosen, std::move(world));
  run.run(3000);
  for (std::uint32_t i = 0; i < clients; ++i) CHECK((run.model(i) - minimiser()).norm() < 1e-6);
}

TEST_CASE("spodgt finds the minimiser although 30 % of the messages are lost, reordered and late, at unequal rates") {
  const Graph graph = directed();
  RoughMail<double> mail(entries::spodgt, options({{"eta", 0.02}}), graph, uniform_row(graph), uniform_column(graph), 5);
  for (int event = 0; event < 120'000; ++event) mail.act();
  for (std::uint32_t i = 0; i < clients; ++i) CHECK((mail.model(i) - minimiser()).norm() < 1e-6);
}

// ---- the balance ----------------------------------------------------------------------------------------------------

TEST_CASE("no mass is lost or made at any instant, whatever is lost, late or out of order") {
  const std::pair<const CatalogueEntry*, AlgorithmOptions> cases[] = {
      {&entries::spodgt, options({{"eta", 0.02}})},
      {&entries::spodgt, options({{"eta", 0.02}, {"gradient_mode", word("paper")}})},
      {&entries::dsgt, options({{"alpha", 0.02}})},
      {&entries::depositum, options({{"alpha", 0.02}, {"beta", 0.8}, {"h", word("l1")}, {"h_lam", 0.1}})},
      {&entries::depositum, options({{"alpha", 0.02}, {"option", word("II")}})},
      {&entries::kgt, options({{"eta_c", 0.02}, {"local_steps", std::int64_t{3}}})},
  };
  for (const auto& [entry, chosen] : cases)
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(entry->name);
      CAPTURE(seed);
      CHECK(worst_imbalance<double>(*entry, chosen, seed) < 1e-12);
    }
}

TEST_CASE("models may be float32: the mass is not") {
  for (const CatalogueEntry* entry : {&entries::spodgt, &entries::dsgt, &entries::depositum, &entries::kgt}) {
    CAPTURE(entry->name);
    CHECK(worst_imbalance<float>(*entry, {}, 3) < 1e-12);
  }
}

// Its step in z is eta / w. A client that sends much more often than it hears gives nearly all of its w away, and then
// any eta is too large: hence equal clocks and a small step.
TEST_CASE("push-sum neither loses nor makes weight or mass") {
  const AlgorithmOptions chosen = options({{"eta", 1e-4}});
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    CHECK(worst_imbalance<double>(entries::sgp, chosen, seed, true) < 1e-12);
    CHECK(worst_imbalance<float>(entries::sgp, chosen, seed, true) < 1e-12);
  }
}

// ---- Push-Pull, DSGT ------------------------------------------------------------------------------------------------

TEST_CASE("pushpull is the dense loop of its equations in all eight forms") {
  const Graph graph = directed();
  const Matrix<double> a = uniform_row(graph), b = uniform_column(graph);
  for (const char* x_mix : {"cta", "atc"})
    for (const char* y_mix : {"cta", "atc"})
      for (const char* y0 : {"g", "Bg"}) {
        CAPTURE(x_mix);
        CAPTURE(y_mix);
        CAPTURE(y0);
        const AlgorithmOptions chosen = options({{"eta", 0.05}, {"x_mix", word(x_mix)}, {"y_mix", word(y_mix)}, {"y0", word(y0)}});
        LockStep run = play(entries::pushpull, chosen, digraph_world(entries::pushpull, chosen));
        double defect = 0;
        run.after_step = [&](ClientId) { defect = std::max(defect, run.imbalance()); };
        const Matrix<double> x0 = first_models(), g0 = gradients(x0);
        const Matrix<double> first = word(y0) == "g" ? g0 : Matrix<double>(b * g0);
        const double worst = farthest(run, 12, {{"x", x0}, {"y", first}, {"g", g0}}, [&](Dense& d, std::uint64_t) {
          const Matrix<double> x = d["x"], y = d["y"];
          d["x"] = word(x_mix) == "cta" ? Matrix<double>(a * x - 0.05 * y) : Matrix<double>(a * (x - 0.05 * y));
          const Matrix<double> change = gradients(d["x"]) - d["g"];
          d["y"] = word(y_mix) == "cta" ? Matrix<double>(b * y + change) : Matrix<double>(b * (y + change));
          d["g"] += change;
        });
        CHECK(worst < 1e-12);
        CHECK(defect < 1e-12);
      }
}

TEST_CASE("dsgt is the dense loop of its equations in both forms, and its mean tracker is the mean gradient") {
  const Matrix<double> w = metropolis(undirected());
  for (const char* y_mix : {"cta", "atc"}) {
    CAPTURE(y_mix);
    const AlgorithmOptions chosen = options({{"alpha", 0.1}, {"y_mix", word(y_mix)}});
    LockStep run = play(entries::dsgt, chosen, doubly_world(entries::dsgt, chosen));
    const Matrix<double> x0 = first_models(), g0 = gradients(x0);
    const double worst = farthest(run, 15, {{"x", x0}, {"y", g0}, {"g", g0}}, [&](Dense& d, std::uint64_t) {
      d["x"] = w * (d["x"] - 0.1 * d["y"]);
      const Matrix<double> change = gradients(d["x"]) - d["g"];
      d["y"] = word(y_mix) == "cta" ? Matrix<double>(w * d["y"] + change) : Matrix<double>(w * (d["y"] + change));
      d["g"] += change;
      CHECK(far(mean_rows(all(run, "y")), mean_rows(all(run, "g"))) < 1e-13);
    });
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("a diminishing step is eta / (k + offset) in round k, for one form and the other") {
  const AlgorithmOptions chosen = options({{"eta", 0.2}, {"step", word("diminishing")}, {"step_offset", 2.0}});
  const Graph graph = directed();
  const Matrix<double> a = uniform_row(graph), b = uniform_column(graph);
  const Matrix<double> x0 = first_models(), g0 = gradients(x0);
  LockStep spod = play(entries::ab, chosen, digraph_world(entries::ab, chosen));
  CHECK(farthest(spod, 6, {{"x", x0}, {"y", g0}, {"ghat", g0}}, [&](Dense& d, std::uint64_t k) {
          const Matrix<double> half = b * d["y"];
          d["x"] = a * d["x"] - 0.2 / (static_cast<double>(k) + 2) * half;
          d["y"] = half + gradients(d["x"]) - d["ghat"];
          d["ghat"] = gradients(d["x"]);
        }) < 1e-12);
  LockStep pull = play(entries::pushpull, chosen, digraph_world(entries::pushpull, chosen));
  CHECK(farthest(pull, 6, {{"x", x0}, {"y", g0}, {"_g", g0}}, [&](Dense& d, std::uint64_t k) {
          d["x"] = a * (d["x"] - 0.2 / (static_cast<double>(k) + 2) * d["y"]);
          d["y"] = b * d["y"] + gradients(d["x"]) - d["_g"];
          d["_g"] = gradients(d["x"]);
        }) < 1e-12);
}

// ---- DEPOSITUM ------------------------------------------------------------------------------------------------------

TEST_CASE("depositum is the dense loop of its equations, with both momenta, a penalty and local rounds") {
  const Matrix<double> w = metropolis(undirected());
  for (const char* option : {"I", "II"})
    for (const char* h : {"none", "l1", "mcp", "scad"})
      for (const std::int64_t period : {1, 3})
        for (const char* prox_mode : {"paper", "consistent"}) {
          CAPTURE(option);
          CAPTURE(h);
          CAPTURE(period);
          const double alpha = 0.1, beta = 0.6, gamma = 0.4;
          const AlgorithmOptions chosen = options({{"alpha", alpha},
                                                   {"beta", beta},
                                                   {"gamma", gamma},
                                                   {"T0", period},
                                                   {"option", word(option)},
                                                   {"h", word(h)},
                                                   {"h_lam", 0.3},
                                                   {"prox_mode", word(prox_mode)}});
          const Penalty penalty(chosen);
          const double prox_step = word(prox_mode) == "paper" ? alpha : alpha * beta;
          LockStep run = play(entries::depositum, chosen, doubly_world(entries::depositum, chosen));
          double defect = 0;
          run.after_step = [&](ClientId) { defect = std::max(defect, run.imbalance()); };
          const Matrix<double> zero = Matrix<double>::Zero(clients, dimension);
          const double worst =
              farthest(run, 14, {{"x", first_models()}, {"y", zero}, {"nu", zero}, {"mu", zero}, {"g", zero}},
                       [&](Dense& d, std::uint64_t t) {
                         const bool meets = t > 0 && t % static_cast<std::uint64_t>(period) == 0;
                         if (word(option) == "I") {
                           d["nu"] = gamma * d["nu"] + (1 - gamma) * d["y"];
                         } else {
                           d["mu"] = gamma * d["mu"] + (1 - gamma) * d["y"];
                           d["nu"] = gamma * d["mu"] + (1 - gamma) * d["y"];
                         }
                         d["x"] = (d["x"] - alpha * d["nu"]).unaryExpr([&](double z) { return penalty.prox(z, prox_step); }).eval();
                         if (meets) d["x"] = (w * d["x"]).eval();
                         d["y"] += beta * (gradients(d["x"]) - d["g"]);
                         if (meets) d["y"] = (w * d["y"]).eval();
                         d["g"] = gradients(d["x"]);
                         CHECK(far(mean_rows(all(run, "y")), beta * mean_rows(all(run, "g"))) < 1e-13);  // J y = beta J g
                       });
          CHECK(worst < 1e-12);
          CHECK(defect < 1e-12);
        }
}

TEST_CASE("depositum without penalty and momentum, beta = 1 and T0 = 1 is dsgt one round later") {
  const AlgorithmOptions chosen = options({{"alpha", 0.1}, {"beta", 1.0}, {"gamma", 0.0}});
  const AlgorithmOptions reference = options({{"alpha", 0.1}});
  const std::vector<Vector<double>> equal(clients, point(3, 0));
  LockStep shifted(doubly_world(entries::depositum, chosen), quadratics<double>(), entries::depositum.make.of_double(chosen),
                   equal);
  LockStep dsgt(doubly_world(entries::dsgt, reference), quadratics<double>(), entries::dsgt.make.of_double(reference), equal);
  std::vector<Matrix<double>> models;
  dsgt.run(12, [&](std::uint64_t) { models.push_back(all(dsgt, "x")); });
  shifted.run(12, [&](std::uint64_t done) {
    if (done > 0) CHECK(far(all(shifted, "x"), models[done - 1]) < 1e-12);
  });
}

TEST_CASE("depositum that tracks nothing is SHB or SNAG at every client, and models meet: equations 3 and 4") {
  const double alpha = 0.1, beta = 0.5, gamma = 0.4;
  for (const char* option : {"I", "II"})
    for (const std::int64_t period : {std::int64_t{1000}, std::int64_t{3}}) {
      CAPTURE(option);
      CAPTURE(period);
      const AlgorithmOptions chosen = options({{"alpha", alpha},
                                               {"beta", beta},
                                               {"gamma", gamma},
                                               {"T0", period},
                                               {"option", word(option)},
                                               {"tracks", word("nothing")}});
      LockStep run = play(entries::depositum, chosen, doubly_world(entries::depositum, chosen));
      const Matrix<double> w = metropolis(undirected());
      const double step = alpha * beta * (1 - gamma);
      std::vector<Matrix<double>> x, z;
      run.run(14, [&](std::uint64_t done) {
        x.push_back(all(run, "x"));
        if (done == 1) CHECK(far(x[1], x[0]) == 0);  // x^0 = x^1, z^1 = x^1
        if (done <= 1) return z.push_back(x.back());
        if (period == 1000) {
          const std::size_t t = done - 1;
          if (word(option) == "I") {
            CHECK(far(x[t + 1], x[t] - step * gradients(x[t]) + gamma * (x[t] - x[t - 1])) < 1e-12);
          } else {
            z.push_back(x[t] - step * gradients(x[t]));
            CHECK(far(x[t + 1], z[t + 1] + gamma * (z[t + 1] - z[t])) < 1e-12);
          }
        }
      });
      if (period == 1000) continue;
      LockStep mixed = play(entries::depositum, chosen, doubly_world(entries::depositum, chosen));
      const Matrix<double> zero = Matrix<double>::Zero(clients, dimension);
      const double worst = farthest(mixed, 14, {{"x", first_models()}, {"y", zero}, {"nu", zero}, {"mu", zero}, {"g", zero}},
                                    [&](Dense& d, std::uint64_t t) {
                                      if (word(option) == "I") {
                                        d["nu"] = gamma * d["nu"] + (1 - gamma) * beta * d["g"];
                                      } else {
                                        d["mu"] = gamma * d["mu"] + (1 - gamma) * beta * d["g"];
                                        d["nu"] = gamma * d["mu"] + (1 - gamma) * beta * d["g"];
                                      }
                                      d["x"] -= alpha * d["nu"];
                                      if (t > 0 && t % 3 == 0) d["x"] = (w * d["x"]).eval();
                                      d["g"] = gradients(d["x"]);
                                      d["y"] = beta * d["g"];
                                    });
      CHECK(worst < 1e-12);
      const MessageForm form{10, 8, 8};
      CHECK(entries::depositum.message_bytes(chosen, form) == 80);
    }
}

TEST_CASE("depositum that tracks momenta is DSMT of remark 2, and its trackers sum to beta times the momenta") {
  const double alpha = 0.1, gamma = 0.4;
  for (const char* option : {"I", "II"})
    for (const double beta : {1.0, 0.5})
      for (const std::int64_t period : {std::int64_t{1}, std::int64_t{3}}) {
        CAPTURE(option);
        CAPTURE(beta);
        CAPTURE(period);
        const AlgorithmOptions chosen = options({{"alpha", alpha},
                                                 {"beta", beta},
                                                 {"gamma", gamma},
                                                 {"T0", period},
                                                 {"option", word(option)},
                                                 {"tracks", word("momentum")}});
        LockStep run = play(entries::depositum, chosen, doubly_world(entries::depositum, chosen));
        const Matrix<double> w = metropolis(undirected()), zero = Matrix<double>::Zero(clients, dimension);
        double defect = 0;
        run.after_step = [&](ClientId) { defect = std::max(defect, run.imbalance()); };
        const double worst =
            farthest(run, 14, {{"x", first_models()}, {"y", zero}, {"nu", zero}, {"mu", zero}}, [&](Dense& d, std::uint64_t t) {
              const bool meets = t > 0 && t % static_cast<std::uint64_t>(period) == 0;
              d["x"] -= alpha * d["y"];
              if (meets) d["x"] = (w * d["x"]).eval();
              const Matrix<double> g = gradients(d["x"]), before = d["nu"];
              if (word(option) == "I") {
                d["nu"] = gamma * d["nu"] + (1 - gamma) * g;
              } else {
                d["mu"] = gamma * d["mu"] + (1 - gamma) * g;
                d["nu"] = gamma * d["mu"] + (1 - gamma) * g;
              }
              d["y"] += beta * (d["nu"] - before);
              if (meets) d["y"] = (w * d["y"]).eval();
              CHECK(far(mean_rows(all(run, "y")), beta * mean_rows(all(run, "nu"))) < 1e-13);
            });
        CHECK(worst < 1e-12);
        CHECK(defect < 1e-12);
      }
}

TEST_CASE("what has no tracker of gradients stays away from the optimum, what tracks momenta comes to it") {
  const auto distance_of = [](const char* tracks) {
    const AlgorithmOptions chosen = options({{"alpha", 0.05}, {"beta", 1.0}, {"gamma", 0.5}, {"tracks", word(tracks)}});
    LockStep run = play(entries::depositum, chosen, doubly_world(entries::depositum, chosen));
    run.run(3000);
    return far(all(run, "x"), mean_rows(all(run, "x")));
  };
  CHECK(distance_of("gradient") < 1e-9);
  CHECK(distance_of("momentum") < 1e-9);
  CHECK(distance_of("nothing") > 1e-3);
}

TEST_CASE("dsgt in rounds without exchanges steps and tracks alone, and the sum of its trackers stays that of the gradients") {
  const AlgorithmOptions chosen = options({{"alpha", 0.05}});
  LockStepWorld world = doubly_world(entries::dsgt, chosen);
  world.program.round = with_period(world.program.round, 3);
  LockStep run = play(entries::dsgt, chosen, std::move(world));
  const Matrix<double> w = metropolis(undirected()), g0 = gradients(first_models());
  const double worst = farthest(run, 14, {{"x", first_models()}, {"y", g0}, {"g", g0}}, [&](Dense& d, std::uint64_t t) {
    const bool meets = (t + 1) % 3 == 0;
    d["x"] -= 0.05 * d["y"];
    if (meets) d["x"] = (w * d["x"]).eval();
    d["y"] += gradients(d["x"]) - d["g"];
    if (meets) d["y"] = (w * d["y"]).eval();
    d["g"] = gradients(d["x"]);
    CHECK(far(mean_rows(all(run, "y")), mean_rows(all(run, "g"))) < 1e-13);
  });
  CHECK(worst < 1e-12);
}

TEST_CASE("the two momenta of depositum are one at gamma = 0") {
  const AlgorithmOptions first = options({{"gamma", 0.0}, {"T0", std::int64_t{2}}});
  const AlgorithmOptions second = options({{"gamma", 0.0}, {"T0", std::int64_t{2}}, {"option", word("II")}});
  LockStep one = play(entries::depositum, first, doubly_world(entries::depositum, first));
  LockStep two = play(entries::depositum, second, doubly_world(entries::depositum, second));
  one.run(12);
  two.run(12);
  CHECK(far(all(one, "x"), all(two, "x")) == 0);
  CHECK(far(all(one, "nu"), all(two, "nu")) == 0);
}

TEST_CASE("with averaging weights all models are equal after depositum communicates") {
  const AlgorithmOptions chosen = options({{"T0", std::int64_t{3}}});
  LockStepWorld world = doubly_world(entries::depositum, chosen);
  world.graph = complete();
  world.merge = world.share = {Matrix<double>::Constant(clients, clients, 1.0 / clients)};
  LockStep run = play(entries::depositum, chosen, std::move(world));
  run.run(10, [&](std::uint64_t done) {
    if (done > 1 && (done - 1) % 3 == 0) CHECK(far(all(run, "x"), mean_rows(all(run, "x"))) < 1e-14);
  });
}

TEST_CASE("as printed depositum minimises f + h / beta; the consistent operator minimises f + h") {
  // One coordinate, everybody f = (x - 2)^2 / 2 and h = |x| / 2: f + h has its minimum at 1.5, f + 2 h at 1.
  for (const char* mode : {"paper", "consistent"}) {
    const AlgorithmOptions chosen =
        options({{"alpha", 0.2}, {"beta", 0.5}, {"gamma", 0.2}, {"h", word("l1")}, {"h_lam", 0.5}, {"prox_mode", word(mode)}});
    std::vector<std::unique_ptr<Learner<double>>> learners;
    for (std::uint32_t i = 0; i < clients; ++i)
      learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), vector({2})));
    LockStep run(doubly_world(entries::depositum, chosen), std::move(learners), entries::depositum.make.of_double(chosen),
                 std::vector<Vector<double>>(clients, vector({0})));
    run.run(800);
    CHECK(run.model(0)[0] == doctest::Approx(word(mode) == "paper" ? 1.0 : 1.5).epsilon(1e-9));
  }
}

// ---- K-GT -----------------------------------------------------------------------------------------------------------

TEST_CASE("kgt is the dense loop of its equations, and its corrections sum to zero") {
  const Matrix<double> w = metropolis(undirected());
  const double eta_c = 0.05, eta_s = 0.8;
  const AlgorithmOptions chosen = options({{"eta_c", eta_c}, {"eta_s", eta_s}, {"local_steps", std::int64_t{4}}});
  LockStep run = play(entries::kgt, chosen, doubly_world(entries::kgt, chosen));
  const Matrix<double> zero = Matrix<double>::Zero(clients, dimension);
  double defect = 0;
  run.after_step = [&](ClientId) { defect = std::max(defect, run.imbalance()); };
  const double worst = farthest(run, 12, {{"x", first_models()}, {"c", zero}}, [&](Dense& d, std::uint64_t) {
    Matrix<double> x = d["x"];
    for (int k = 0; k < 4; ++k) x -= eta_c * (gradients(x) + d["c"]);
    const Matrix<double> z = (d["x"] - x) / (4 * eta_c);
    d["c"] += w * z - z;
    d["x"] = w * (d["x"] - 4 * eta_c * eta_s * z);
    d["z"] = z;
    CHECK(mean_rows(all(run, "c")).cwiseAbs().maxCoeff() < 1e-13);
  });
  CHECK(worst < 1e-11);
  CHECK(defect < 1e-12);
}

TEST_CASE("kgt with one local step is dsgt with alpha = eta_c eta_s and y_mix cta") {
  const AlgorithmOptions chosen = options({{"eta_c", 0.1}, {"eta_s", 0.7}, {"local_steps", std::int64_t{1}}});
  const AlgorithmOptions reference = options({{"alpha", 0.1 * 0.7}, {"y_mix", word("cta")}});
  LockStep kgt = play(entries::kgt, chosen, doubly_world(entries::kgt, chosen));
  LockStep dsgt = play(entries::dsgt, reference, doubly_world(entries::dsgt, reference));
  std::vector<Matrix<double>> models;
  dsgt.run(15, [&](std::uint64_t) { models.push_back(all(dsgt, "x")); });
  kgt.run(15, [&](std::uint64_t done) { CHECK(far(all(kgt, "x"), models[done]) < 1e-12); });
}

TEST_CASE("on a complete graph the corrections of kgt can start at the mean gradient minus the own") {
  const AlgorithmOptions chosen = options({{"c0", word("paper")}, {"local_steps", std::int64_t{2}}});
  LockStepWorld world = doubly_world(entries::kgt, chosen);
  world.graph = complete();
  world.merge = world.share = {metropolis(complete())};
  LockStep run = play(entries::kgt, chosen, std::move(world));
  const Matrix<double> g = gradients(first_models());
  run.run(3, [&](std::uint64_t done) {
    if (done == 0) CHECK(far(all(run, "c"), mean_rows(g) - g) < 1e-13);
    if (done == 0) CHECK(far(all(run, "x"), first_models()) == 0);
    CHECK(mean_rows(all(run, "c")).cwiseAbs().maxCoeff() < 1e-13);
  });
  CHECK((entries::kgt.check != nullptr));
  bool is_refused = false;
  try {
    entries::kgt.check(chosen, undirected());
  } catch (const std::invalid_argument&) {
    is_refused = true;
  }
  CHECK(is_refused);
}

TEST_CASE("kgt sends what its local steps found once: a second message adds nothing to the counters") {
  HandClient client(entries::kgt, options({{"eta_c", 0.5}, {"local_steps", std::int64_t{1}}}));
  client.compute();  // g = (2, 2): x = (2, 0), z = (2, 2)
  CHECK(client.shown("z") == vector({2, 2}));
  const Payload first = client.publish(0.25, 0.5);
  CHECK(common(first) == vector({2, 0}));
  CHECK(own(first, 1) == vector({1, 1}));
  CHECK(client.shown("c") == vector({-1.5, -1.5}));
  const Payload second = client.publish(0.25, 0.5);
  CHECK(own(second, 1) == vector({1, 1}));
  CHECK(client.shown("c") == vector({-1.5, -1.5}));
}

// ---- push-sum -------------------------------------------------------------------------------------------------------

TEST_CASE("sgp moves shares of model and weight alike, and its model is their quotient") {
  HandClient client(entries::sgp, options({{"eta", 0.5}, {"weigh_step", false}}));
  client.compute();  // x = (3, 1) - (2, 2) / 2
  CHECK(client.shown("x") == vector({2, 0}));
  const Payload sent = client.publish(0.25, 0.25);
  CHECK(own(sent, 0) == vector({0.5, 0, 0.25}));
  CHECK(client.shown("x") == vector({1, 0}));
  CHECK(client.shown("w") == vector({0.5}));
  CHECK(client.shown("z") == vector({2, 0}));
  client.merge(0, 1, std::nullopt, vector({1, 2, 1.5}));
  CHECK(client.shown("x") == vector({2, 2}));
  CHECK(client.shown("w") == vector({2}));
  CHECK(client.shown("z") == vector({1, 1}));
  client.compute();  // at z: g = (0, 2)
  CHECK(client.shown("x") == vector({2, 1}));
  CHECK(client.shown("z") == vector({1, 0.5}));
}

TEST_CASE("outside rounds a step of sgp moves its model by eta g, whatever its weight is") {
  HandClient client(entries::sgp, options({{"eta", 0.5}}));
  client.publish(0.25, 0.25);
  CHECK(client.shown("w") == vector({0.5}));
  client.compute();  // z = (3, 1) - (2, 2) / 2
  CHECK(client.shown("z") == vector({2, 0}));
}

TEST_CASE("a client of sgp that is given nothing back keeps the last of its weight, and its model stays what it learns") {
  HandClient client(entries::sgp, options({{"eta", 0.5}}));
  Payload last;
  for (int i = 0; i < 3000; ++i) last = client.publish(0.25, 0.5);
  CHECK(client.shown("w")[0] > 1e-7);
  CHECK(own(last, 1) == client.shown("sigma 2"));
  client.compute();  // z = (3, 1) - (2, 2) / 2
  CHECK((client.shown("z") - vector({2, 0})).norm() < 1e-9);
  client.merge(0, 1, std::nullopt, vector({1, 2, 1}));  // of z = (1, 2)
  CHECK((client.shown("z") - vector({1, 2})).norm() < 1e-5);
  client.publish(0.25, 0.5);
  CHECK(client.shown("w")[0] < 0.3);
}

TEST_CASE("sgp with doubly stochastic shares is gradient descent before averaging, and all weights stay one") {
  const Matrix<double> w = metropolis(undirected());
  const AlgorithmOptions chosen = options({{"eta", 0.1}});
  LockStep run = play(entries::sgp, chosen, doubly_world(entries::sgp, chosen));
  const double worst = farthest(run, 20, {{"x", first_models()}, {"z", first_models()}}, [&](Dense& d, std::uint64_t) {
    d["x"] = (w * (d["x"] - 0.1 * gradients(d["x"]))).eval();
    d["z"] = d["x"];
    for (std::uint32_t i = 0; i < clients; ++i) CHECK(run.shown(i, "w")[0] == doctest::Approx(1).epsilon(1e-13));
  });
  CHECK(worst < 1e-12);
}

TEST_CASE("sgp with shares that change from round to round is the dense loop of its equations") {
  const Graph graph = directed();
  const Matrix<double> p = uniform_column(graph);
  const std::vector<Matrix<double>> cycle{p, 0.5 * p + 0.5 * Matrix<double>::Identity(clients, clients)};
  const AlgorithmOptions chosen = options({{"eta", 0.1}});
  LockStepWorld world = digraph_world(entries::sgp, chosen);
  world.share = cycle;
  LockStep run = play(entries::sgp, chosen, std::move(world));
  Vector<double> weights = Vector<double>::Ones(clients);
  double defect = 0;
  run.after_step = [&](ClientId) { defect = std::max(defect, run.imbalance()); };
  const double worst = farthest(run, 20, {{"x", first_models()}, {"z", first_models()}}, [&](Dense& d, std::uint64_t k) {
    d["x"] = (cycle[k % 2] * (d["x"] - 0.1 * gradients(d["z"]))).eval();
    weights = (cycle[k % 2] * weights).eval();
    for (std::uint32_t i = 0; i < clients; ++i) d["z"].row(i) = d["x"].row(i) / weights[i];
    CHECK(weights.sum() == doctest::Approx(clients).epsilon(1e-13));
  });
  CHECK(worst < 1e-12);
  CHECK(defect < 1e-12);  // of w, and of x with all steps
}

// ---- messages and options -------------------------------------------------------------------------------------------

TEST_CASE("a paper counts a model and a tracker for a message, or a model and one number with push-sum") {
  HandClient tracking(entries::spodgt, {}), push_sum(entries::sgp, {}), kgt(entries::kgt, {});
  CHECK(tracking.publish(0.25, 0.25).message_paper_bits() == 64 * 4);
  CHECK(kgt.publish(0.25, 0.25).message_paper_bits() == 64 * 4);
  CHECK(push_sum.publish(0.25, 0.25).message_paper_bits() == 64 * 3);
}

TEST_CASE("a tracking option that cannot be is refused when the factory is made, with what is allowed") {
  const auto complaint = [](const CatalogueEntry& entry, const char* name, AlgorithmOptions::Value value) -> std::string {
    try {
      entry.make.of_float(options({{name, std::move(value)}}));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(complaint(entries::spodgt, "eta", -1.0) == "algorithm.eta = -1: must be greater than 0");
  CHECK(complaint(entries::spodgt, "p", std::vector<double>{0.5, 0}) == "algorithm.p = 0: must be greater than 0 and at most 1");
  CHECK(complaint(entries::spodgt, "gradient_mode", word("last")) ==
        "algorithm.gradient_mode = \"last\": must be \"by_form\", \"paper\", \"memory\" or \"inverse_p\"");
  CHECK(complaint(entries::kgt_directed, "local_steps", std::int64_t{0}) == "algorithm.local_steps = 0: must be at least 1");
  CHECK(complaint(entries::pushpull, "y_mix", word("both")) == "algorithm.y_mix = \"both\": must be \"cta\" or \"atc\"");
  CHECK(complaint(entries::pushpull, "y0", word("0")) == "algorithm.y0 = \"0\": must be \"g\" or \"Bg\"");
  CHECK(complaint(entries::dsgt, "alpha", 0.0) == "algorithm.alpha = 0: must be greater than 0");
  CHECK(complaint(entries::depositum, "gamma", 1.0) == "algorithm.gamma = 1: must be at least 0 and less than 1");
  CHECK(complaint(entries::depositum, "T0", std::int64_t{0}) == "algorithm.T0 = 0: must be at least 1");
  CHECK(complaint(entries::depositum, "option", word("III")) == "algorithm.option = \"III\": must be \"I\" or \"II\"");
  CHECK(complaint(entries::kgt, "c0", word("one")) == "algorithm.c0 = \"one\": must be \"zero\" or \"paper\"");
  CHECK(complaint(entries::sgp, "eta", 0.0) == "algorithm.eta = 0: must be greater than 0");
}
