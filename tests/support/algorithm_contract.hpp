// What every algorithm of the catalogue promises in continuous time, whatever it computes: it is deterministic, finite,
// of the right sizes, and never writes into what it has handed out or is given.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/performer.hpp"
#include "algos/catalogue.hpp"
#include "algos/option_table.hpp"
#include "learning/models/problems.hpp"

namespace rubato::test {

template <class Real>
Vector<Real> contract_vector(Index size, std::uint64_t seed) {
  Stream stream(seed, {0}, Purpose::noise);
  Vector<Real> numbers(size);
  for (Index i = 0; i < size; ++i) numbers[i] = static_cast<Real>(stream.normal());
  return numbers;
}

/// All vectors that an algorithm shows, or its part of what is conserved.
class ContractProbe final : public Probe {
 public:
  void vector(std::string_view name, std::span<const double> values) override {
    seen[std::string(name)] = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  }
  std::map<std::string, Vector<double>> seen;
};

/// One of two clients that hear each other, with everything else it needs in memory of its own. What it is sent waits
/// until it absorbs; which of it is handed over goes by the algorithm's needs, as under push.
template <class Real>
class ContractClient {
 public:
  static constexpr Index dimension = 5;
  static constexpr Index samples = 12;

  /// Two that hear each other share the pool: each may keep some of the other's tensors until its end.
  ContractClient(const CatalogueEntry& entry, const AlgorithmOptions& options, TensorPool& pool, std::uint32_t number,
                 const Vector<Real>& start)
      : pool_{pool},
        needs_{entry.needs(options)},
        merge_weight_{entry.merge == Weights::none ? 1 : 0.5},
        share_weight_{entry.share == Weights::none ? 1 : 0.5},
        neighbours_{ClientId{1 - number}},
        plan_{.seed = 7, .client = {number}, .size = 4, .local_batches = local_batches_of(options)},
        algorithm_{make_algorithm<Real>(entry, options)(client_view(), view(start), pool_)} {
    const Vector<Real> inputs = contract_vector<Real>(samples * dimension, 100 + number);
    learner_ = make_least_squares<Real>(Eigen::Map<const Matrix<Real>>(inputs.data(), samples, dimension),
                                        contract_vector<Real>(samples, 200 + number));
  }
  ContractClient(const ContractClient&) = delete;
  ContractClient& operator=(const ContractClient&) = delete;

  Algorithm<Real>& operator*() { return *algorithm_; }
  const Algorithm<Real>& operator*() const { return *algorithm_; }
  const Needs& needs() const { return needs_; }
  Vector<Real> model() const { return algorithm_->model(); }
  ClientView client_view() const {
    return {
        .client = plan_.client, .senders = neighbours_, .receivers = neighbours_, .samples = all_samples_, .keeps_balance = true};
  }

  void begin() {
    Work<Real> work = lend();
    algorithm_->begin(work);
  }
  void compute() {
    if (needs_.fixes_model_at_start) begin();
    Work<Real> work = lend();
    algorithm_->compute(work, {.kind = StepKind::compute, .index = computations_++});
  }
  /// A transmit tick; nothing where the algorithm does not send now.
  std::optional<Payload> publish() {
    if (!needs_.sends) return {};
    Work<Real> work = lend();
    if (needs_.asks_before_sending && !algorithm_->decide(work, {.kind = StepKind::decide, .index = sequence_})) return {};
    const StepEntry receiver{.peer = neighbours_[0], .sequence = sequence_, .weight = share_weight_, .place = plan_.client.value};
    return algorithm_->publish(work, {.kind = StepKind::publish, .index = sequence_++, .entries = {&receiver, 1}});
  }
  void receive(std::optional<Payload> payload) {
    if (payload) inbox_.push_back(std::move(*payload));
    if (payload && needs_.keep != Keep::all && !needs_.in_order) inbox_.erase(inbox_.begin(), inbox_.end() - 1);
    received_ += payload.has_value();
  }
  /// The window closes.
  void absorb() {
    if (inbox_.empty()) return;
    std::vector<Received<Real>> window;
    const auto first = static_cast<Sequence>(received_ - inbox_.size());
    for (const Payload& payload : inbox_)
      window.push_back({neighbours_[0], static_cast<Sequence>(first + window.size()), merge_weight_, Duration{1000}, payload, 0});
    Work<Real> work = lend();
    algorithm_->merge(work, {.kind = StepKind::merge}, window);
    inbox_.clear();
  }

 private:
  Work<Real> lend() { return Work<Real>(*learner_, plan_, scratch_, pool_); }

  static constexpr std::array<std::uint32_t, 2> all_samples_{samples, samples};

  TensorPool& pool_;
  Needs needs_;
  double merge_weight_, share_weight_;
  std::array<ClientId, 1> neighbours_;
  Scratch<Real> scratch_;
  BatchPlan plan_;
  std::unique_ptr<Learner<Real>> learner_;
  std::unique_ptr<Algorithm<Real>> algorithm_;
  std::vector<Payload> inbox_;
  std::uint64_t computations_ = 0;
  Sequence sequence_ = 0;
  std::uint64_t received_ = 0;
};

/// All numbers of a payload, tensor after tensor, as bytes.
inline std::vector<std::byte> bytes_of(const Payload& payload) {
  std::vector<std::byte> bytes;
  const auto add = [&](const Tensor& tensor) {
    if (tensor) bytes.insert(bytes.end(), tensor.data<std::byte>(), tensor.data<std::byte>() + tensor.bytes());
  };
  for (const Tensor& tensor : payload.common) add(tensor);
  for (const Tensor& tensor : payload.own) add(tensor);
  return bytes;
}

template <class Real>
bool same_bits(const Vector<Real>& a, const Vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(Real)) == 0;
}

/// Two clients that compute, send, absorb and, where that is allowed, unify for a while. In every third turn nobody
/// absorbs, so that two messages share the next window.
template <class Real, class AfterTurn>
void contract_story(ContractClient<Real>& one, ContractClient<Real>& other, bool unifies, AfterTurn after_turn) {
  for (int turn = 0; turn < 9; ++turn) {
    one.compute();
    other.compute();
    if (turn % 2 == 0) other.compute();
    const std::optional<Payload> from_one = one.publish(), from_other = other.publish();
    one.receive(from_other);
    other.receive(from_one);
    if (turn % 3 != 1) one.absorb();
    if (turn % 3 != 1) other.absorb();
    if (unifies && turn == 4) (*other).adopt((*one).model());
    after_turn(from_one, from_other);
  }
}

/// Everything that the two sent, and their last models.
template <class Real>
std::vector<std::byte> contract_bytes(const CatalogueEntry& entry, const AlgorithmOptions& options) {
  const Vector<Real> start = contract_vector<Real>(ContractClient<Real>::dimension, 1);
  TensorPool pool;
  ContractClient<Real> one(entry, options, pool, 0, start), other(entry, options, pool, 1, start);
  std::vector<std::byte> story;
  const auto note = [&](const std::vector<std::byte>& bytes) { story.insert(story.end(), bytes.begin(), bytes.end()); };
  contract_story(one, other, entry.may_be_unified,
                 [&](const std::optional<Payload>& from_one, const std::optional<Payload>& from_other) {
                   if (from_one) note(bytes_of(*from_one));
                   if (from_other) note(bytes_of(*from_other));
                 });
  for (ContractClient<Real>* client : {&one, &other}) {
    const Vector<Real> model = client->model();
    const std::span bytes = std::as_bytes(std::span{model.data(), static_cast<std::size_t>(model.size())});
    story.insert(story.end(), bytes.begin(), bytes.end());
  }
  return story;
}

/// Finite numbers, in the scalars that a message may have; a vector and perhaps its mass.
template <class Real>
void check_tensor(const Tensor& tensor, Index dimension) {
  if (!tensor) return;
  CHECK(tensor.count() > 0);
  CHECK(tensor.count() <= static_cast<std::size_t>(dimension) + 1);
  if (tensor.scalar() == Scalar::uint32)
    for (std::size_t i = 0; i < tensor.count(); ++i) CHECK(tensor.data<std::uint32_t>()[i] < dimension);
  else if (tensor.scalar() == Scalar::float64)
    CHECK(numbers_of<double>(tensor).allFinite());
  else
    CHECK((scalar_of<Real> == Scalar::float32 && numbers_of<float>(tensor).allFinite()));
}

template <class Real>
void algorithm_contract_of(const CatalogueEntry& entry, const AlgorithmOptions& options) {
  using Client = ContractClient<Real>;
  TensorPool pool;
  Vector<Real> start = contract_vector<Real>(Client::dimension, 1);
  const Vector<Real> as_it_was = start;
  const Vector<Real> another = contract_vector<Real>(Client::dimension, 2);

  SUBCASE("it starts from the model it is given, and keeps a copy of it") {
    Client client(entry, options, pool, 1, start);
    start.setConstant(9);
    CHECK(same_bits<Real>(client.model(), as_it_was));
  }
  SUBCASE("the same calls lead to the same bits, and something happens") {
    const std::vector<std::byte> story = contract_bytes<Real>(entry, options);
    CHECK(story == contract_bytes<Real>(entry, options));
    Client one(entry, options, pool, 0, start), other(entry, options, pool, 1, start);
    contract_story(one, other, false, [](const auto&, const auto&) {});
    CHECK_FALSE(same_bits<Real>(one.model(), as_it_was));
    CHECK_FALSE(same_bits<Real>(other.model(), as_it_was));
  }
  SUBCASE("all numbers are finite and all vectors as long as the model") {
    Client one(entry, options, pool, 0, start), other(entry, options, pool, 1, start);
    std::size_t sent = 0;
    contract_story(one, other, entry.may_be_unified, [&](const std::optional<Payload>& from_one, const auto&) {
      CHECK(one.model().size() == Client::dimension);
      CHECK(one.model().allFinite());
      ContractProbe shown;
      (*one).inspect(shown);
      for (const auto& [name, numbers] : shown.seen) {
        CAPTURE(name);
        CHECK(numbers.allFinite());
      }
      if (!from_one) return;
      ++sent;
      CHECK(from_one->message_bytes() > 0);
      CHECK(from_one->message_paper_bits() > 0);
      for (const Tensor& tensor : from_one->common) check_tensor<Real>(tensor, Client::dimension);
      for (const Tensor& tensor : from_one->own) check_tensor<Real>(tensor, Client::dimension);
    });
    CHECK((sent > 0) == one.needs().sends);
  }
  SUBCASE("what was published never changes, whatever sender and receiver do next") {
    Client one(entry, options, pool, 0, start), other(entry, options, pool, 1, start);
    std::vector<std::pair<Payload, std::vector<std::byte>>> sent;
    const auto keep = [&](const std::optional<Payload>& payload) {
      if (payload) sent.emplace_back(*payload, bytes_of(*payload));
    };
    contract_story(one, other, entry.may_be_unified, [&](const auto& from_one, const auto& from_other) {
      keep(from_one);
      keep(from_other);
      for (const auto& [payload, bytes] : sent) CHECK(bytes_of(payload) == bytes);
    });
  }
  SUBCASE("merging changes no payload") {
    Client client(entry, options, pool, 0, start), neighbour(entry, options, pool, 1, start);
    neighbour.compute();
    const std::optional<Payload> payload = neighbour.publish();
    const std::vector<std::byte> sent = payload ? bytes_of(*payload) : std::vector<std::byte>{};
    client.receive(payload);
    client.absorb();
    if (payload) CHECK(bytes_of(*payload) == sent);
  }
  SUBCASE("an adopted model is a copy of the other's, bit for bit") {
    if (!entry.may_be_unified) return;
    Client client(entry, options, pool, 1, start);
    client.compute();
    Vector<Real> given = another;
    (*client).adopt(view(std::as_const(given)));
    CHECK(same_bits<Real>(client.model(), another));
    given.setConstant(5);
    CHECK(same_bits<Real>(client.model(), another));
  }
  SUBCASE("clients of one factory do not touch each other") {
    Client client(entry, options, pool, 0, start), neighbour(entry, options, pool, 1, start);
    neighbour.compute();
    neighbour.publish();
    neighbour.compute();
    CHECK(same_bits<Real>(client.model(), as_it_was));
  }
  SUBCASE("a snapshot is a copy, and taking it changes nothing") {
    Client seated(entry, options, pool, 0, start);
    const auto learner = make_quadratic<Real>(Matrix<Real>::Identity(Client::dimension, Client::dimension), another);
    PerformerOf<Real> performer(make_algorithm<Real>(entry, options)(seated.client_view(), view(std::as_const(start)), pool),
                                *learner, {}, pool);
    ThreadMemory memory;
    const auto compute = [&](std::uint64_t index) {
      if (seated.needs().fixes_model_at_start) performer.perform({.kind = StepKind::begin}, {}, memory);
      performer.perform({.kind = StepKind::compute, .index = index}, {}, memory);
    };
    compute(0);
    const auto model_of = [&] {
      const auto bytes = performer.model_bytes();
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    const std::vector<std::byte> before = model_of();
    const Tensor snapshot = performer.snapshot(memory);
    CHECK(model_of() == before);
    CHECK(snapshot.bytes() == before.size());
    const Vector<Real> taken = numbers_of<Real>(snapshot);
    if (entry.may_be_unified) CHECK(std::memcmp(before.data(), taken.data(), before.size()) == 0);
    const Tensor again = performer.snapshot(memory);
    CHECK(same_bits<Real>(numbers_of<Real>(again), taken));
    if (entry.may_be_unified) {
      Payload model;
      model.common[0] = copy_of<Real>(view(another), pool);
      const Payload* const adopted = &model;
      const StepEntry from{.peer = {1}};
      performer.perform({.kind = StepKind::adopt, .entries = {&from, 1}}, {&adopted, 1}, memory);
    }
    compute(1);
    CHECK(same_bits<Real>(numbers_of<Real>(snapshot), taken));
  }
  SUBCASE("what is conserved is conserved, messages under way or not") {
    Client one(entry, options, pool, 0, start), other(entry, options, pool, 1, start);
    contract_story(one, other, false, [&](const auto&, const auto&) {
      ContractProbe parts, others;
      (*one).balance(parts);
      (*other).balance(others);
      CHECK(parts.seen.size() == others.seen.size());
      for (const auto& [name, part] : parts.seen) {
        CAPTURE(name);
        CHECK((part + others.seen.at(name)).norm() < 1e-5 * (1 + part.norm()));
      }
    });
  }
}

/// Call it in a test case of its own: it holds subcases.
inline void algorithm_contract(std::string_view name, const AlgorithmOptions& options = {}) {
  const CatalogueEntry& entry = catalogue_entry(name);
  SUBCASE("in float") { algorithm_contract_of<float>(entry, options); }
  SUBCASE("in double") { algorithm_contract_of<double>(entry, options); }
}

}  // namespace rubato::test
