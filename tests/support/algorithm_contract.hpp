// What every algorithm of the catalogue promises, whatever it computes: it is deterministic, finite, of the right
// sizes, and shares no memory with what it hands out or is given.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/performer.hpp"
#include "algos/catalogue.hpp"
#include "learning/problems.hpp"

namespace rubato::test {

template <class Real>
Vector<Real> contract_vector(Index size, std::uint64_t seed) {
  Stream stream(seed, {0}, Purpose::noise);
  Vector<Real> numbers(size);
  for (Index i = 0; i < size; ++i) numbers[i] = static_cast<Real>(stream.normal());
  return numbers;
}

/// One client with everything it needs, in memory of its own.
template <class Real>
class ContractClient {
 public:
  static constexpr Index dimension = 5;
  static constexpr Index samples = 12;

  ContractClient(const AlgorithmFactory<Real>& factory, std::uint32_t number, const Vector<Real>& start)
      : plan_{7, {number}, 4, nullptr}, algorithm_{factory({number}, view(start), pool_)} {
    const Vector<Real> inputs = contract_vector<Real>(samples * dimension, 100 + number);
    learner_ = make_least_squares<Real>(Eigen::Map<const Matrix<Real>>(inputs.data(), samples, dimension),
                                        contract_vector<Real>(samples, 200 + number));
  }

  Algorithm<Real>& operator*() { return *algorithm_; }
  Vector<Real> model() const { return algorithm_->model(); }
  TensorPool& pool() { return pool_; }

  void begin() {
    Work<Real> work = lend();
    algorithm_->begin(work);
  }
  void compute(std::uint64_t index) {
    Work<Real> work = lend();
    algorithm_->compute(work, {.kind = StepKind::compute, .index = index});
  }
  Payload publish(std::uint64_t sequence) {
    const StepEntry receiver{.peer = {99}};
    Work<Real> work = lend();
    return algorithm_->publish(work, {.kind = StepKind::publish, .index = sequence, .entries = {&receiver, 1}});
  }
  void merge(const std::vector<const Payload*>& window) {
    std::vector<Received<Real>> received;
    for (const Payload* payload : window) {
      const auto sender = static_cast<std::uint32_t>(received.size());
      received.push_back({{sender}, 0, 0.25, Duration{1000}, *payload, 0});
    }
    Work<Real> work = lend();
    algorithm_->merge(work, received);
  }

 private:
  Work<Real> lend() { return Work<Real>(*learner_, plan_, scratch_, pool_); }

  TensorPool pool_;
  Scratch<Real> scratch_;
  BatchPlan plan_;
  std::unique_ptr<Learner<Real>> learner_;
  std::unique_ptr<Algorithm<Real>> algorithm_;
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
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(Real)) == 0;
}

/// Two clients that compute, send, absorb and unify for a while; everything they sent, and their last models.
template <class Real>
std::vector<std::byte> contract_story(const AlgorithmFactory<Real>& factory, bool with_begin) {
  const Vector<Real> start = contract_vector<Real>(ContractClient<Real>::dimension, 1);
  ContractClient<Real> one(factory, 1, start), other(factory, 2, start);
  std::vector<std::byte> story;
  const auto note = [&](const std::vector<std::byte>& bytes) { story.insert(story.end(), bytes.begin(), bytes.end()); };
  for (std::uint64_t turn = 0; turn < 6; ++turn) {
    if (with_begin) one.begin();
    one.compute(turn);
    other.compute(2 * turn);
    const Payload from_one = one.publish(turn), from_other = other.publish(turn);
    one.merge({&from_other, &from_one});
    other.merge({&from_one});
    if (turn == 3) (*other).adopt((*one).model());
    note(bytes_of(from_one));
    note(bytes_of(from_other));
  }
  for (ContractClient<Real>* client : {&one, &other}) {
    const Vector<Real> model = client->model();
    const std::span bytes = std::as_bytes(std::span{model.data(), static_cast<std::size_t>(model.size())});
    story.insert(story.end(), bytes.begin(), bytes.end());
  }
  return story;
}

template <class Real>
void algorithm_contract_of(const AlgorithmFactory<Real>& factory) {
  using Client = ContractClient<Real>;
  Vector<Real> start = contract_vector<Real>(Client::dimension, 1);
  const Vector<Real> as_it_was = start;
  const Vector<Real> another = contract_vector<Real>(Client::dimension, 2);

  SUBCASE("it starts from the model it is given, and keeps a copy of it") {
    Client client(factory, 1, start);
    start.setConstant(9);
    CHECK(same_bits<Real>(client.model(), as_it_was));
  }
  SUBCASE("the same calls lead to the same bits") {
    CHECK(contract_story<Real>(factory, true) == contract_story<Real>(factory, true));
    CHECK(contract_story<Real>(factory, false) == contract_story<Real>(factory, false));
  }
  SUBCASE("all numbers are finite and all vectors as long as the model") {
    Client client(factory, 1, start);
    for (std::uint64_t turn = 0; turn < 5; ++turn) {
      client.compute(turn);
      const Payload payload = client.publish(turn);
      client.merge({&payload});
      REQUIRE(payload.common[0]);
      for (const Tensor& tensor : payload.common) {
        if (!tensor) continue;
        CHECK(tensor.count() == static_cast<std::size_t>(Client::dimension));
        CHECK(tensor.scalar() == scalar_of<Real>);
        CHECK(numbers_of<Real>(tensor).allFinite());
      }
      CHECK(client.model().size() == Client::dimension);
      CHECK(client.model().allFinite());
    }
  }
  SUBCASE("what was published never changes, whatever the sender does next") {
    Client client(factory, 1, start);
    client.compute(0);
    const Payload first = client.publish(0);
    const std::vector<std::byte> sent = bytes_of(first);
    client.compute(1);
    CHECK(bytes_of(first) == sent);
    const Payload second = client.publish(1);
    client.merge({&first, &second});
    (*client).adopt(view(another));
    client.compute(2);
    CHECK(bytes_of(first) == sent);
    CHECK(second.common[0].template data<Real>() != first.common[0].template data<Real>());
  }
  SUBCASE("merging changes no payload and keeps none") {
    Client client(factory, 1, start);
    Payload payload;
    payload.common[0] = copy_of<Real>(view(another), client.pool());
    const std::vector<std::byte> received = bytes_of(payload);
    client.merge({&payload});
    CHECK(bytes_of(payload) == received);
    const Vector<Real> merged = client.model();
    numbers_of<Real>(payload.common[0]).setConstant(77);
    CHECK(same_bits<Real>(client.model(), merged));
  }
  SUBCASE("an adopted model is a copy of the other's, bit for bit") {
    Client client(factory, 1, start);
    client.compute(0);
    Vector<Real> given = another;
    (*client).adopt(view(std::as_const(given)));
    CHECK(same_bits<Real>(client.model(), another));
    given.setConstant(5);
    CHECK(same_bits<Real>(client.model(), another));
  }
  SUBCASE("clients of one factory do not touch each other") {
    Client client(factory, 1, start), neighbour(factory, 1, start);
    neighbour.compute(0);
    const Payload payload = neighbour.publish(0);
    neighbour.merge({&payload});
    CHECK(same_bits<Real>(client.model(), as_it_was));
  }
  SUBCASE("an empty window changes nothing") {
    Client client(factory, 1, start);
    client.compute(0);
    const Vector<Real> before = client.model();
    client.merge({});
    CHECK(same_bits<Real>(client.model(), before));
  }
  SUBCASE("a snapshot is a copy, and taking it changes nothing") {
    TensorPool pool;
    const auto learner = make_quadratic<Real>(Matrix<Real>::Identity(Client::dimension, Client::dimension), another);
    PerformerOf<Real> performer(factory({1}, view(std::as_const(start)), pool), *learner, {}, pool);
    ThreadMemory memory;
    performer.compute({.kind = StepKind::compute}, memory);
    const Tensor snapshot = performer.snapshot();
    const Vector<Real> taken = numbers_of<Real>(snapshot);
    CHECK(std::memcmp(performer.model_bytes().data(), taken.data(), performer.model_bytes().size()) == 0);
    Payload model;
    model.common[0] = copy_of<Real>(view(another), pool);
    performer.adopt(model);
    performer.compute({.kind = StepKind::compute, .index = 1}, memory);
    CHECK(same_bits<Real>(numbers_of<Real>(snapshot), taken));
  }
}

/// Call it in a test case of its own: it holds subcases.
inline void algorithm_contract(std::string_view name, const AlgorithmOptions& options = {}) {
  const CatalogueEntry& entry = catalogue_entry(name);
  SUBCASE("in float") {
    algorithm_contract_of<float>(make_algorithm<float>(entry, options));
  }
  SUBCASE("in double") {
    algorithm_contract_of<double>(make_algorithm<double>(entry, options));
  }
}

}  // namespace rubato::test
