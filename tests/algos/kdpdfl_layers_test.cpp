// KD-PDFL at hidden layers and among models of unlike architecture (docs/references.md#kd-pdfl-decisions, KD-8 and KD-14).
#include <doctest/doctest.h>

#include <numeric>

#include "learning/models/dataset_learner.hpp"
#include "learning/models/model_catalogue.hpp"
#include "runtime/world/topology.hpp"
#include "tests/learning/support.hpp"
#include "tests/support/seated_run.hpp"
#include "tests/support/values.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr std::uint32_t classes = 3;
constexpr Index inputs = 4, samples_each = 6;

std::shared_ptr<const Dataset<double>> random_dataset() {
  const auto dataset = std::make_shared<Dataset<double>>();
  dataset->name = "random";
  dataset->classes = classes;
  dataset->shape = {1, 1, inputs};
  dataset->train = {random_matrix<double>(samples_each, inputs, 1), random_labels(samples_each, classes, 2)};
  dataset->test = dataset->train;
  return dataset;
}

std::shared_ptr<const Model<double>> mlp(std::vector<std::int64_t> hidden) {
  return make_model<double>(ModelOptions{.name = "mlp", .hidden = std::move(hidden)}, {1, 1, inputs}, classes);
}

// Clients with all rows each, and models of these architectures; random numbers where a model has some, else zeros.
struct Party {
  Party(Architectures<double> models, std::vector<std::uint32_t> of_client, const AlgorithmOptions& options)
      : architectures{std::move(of_client)},
        peers(std::make_shared<const Architectures<double>>(padded(std::move(models)))),
        graph(topologies::complete(architectures.size())),
        samples(architectures.size(), samples_each) {
    Rows all(samples_each);
    std::iota(all.begin(), all.end(), 0u);
    for (std::uint32_t i = 0; i < architectures.size(); ++i) {
      const Model<double>& model = *(*peers)[architectures[i]];
      Vector<double> start = Vector<double>::Zero(model.dimension());
      start.head(model.own_dimension()) = random_vector<double>(model.own_dimension(), 10 + i, 0.5);
      starts.push_back(start);
      learners.push_back(std::make_unique<DatasetLearner<double>>((*peers)[architectures[i]], dataset, all, nullptr, peers));
      const ClientView client_view{.client = {i},
                                   .senders = graph.senders_to({i}),
                                   .receivers = graph.receivers_of({i}),
                                   .samples = samples,
                                   .architectures = architectures};
      clients.push_back(make_algorithm<double>(catalogue_entry("kdpdfl"), options)(client_view, view(std::as_const(start)), pool));
    }
  }
  Payload publish(std::uint32_t client) {
    Work<double> work(*learners[client], plan, scratch, pool);
    return clients[client]->publish(work, {.kind = StepKind::publish});
  }
  void hear(std::uint32_t client, const std::vector<std::pair<std::uint32_t, const Payload*>>& messages, std::uint8_t phase = 0) {
    Work<double> work(*learners[client], plan, scratch, pool);
    std::vector<Received<double>> window;
    for (const auto& [peer, payload] : messages) window.push_back({{peer}, 0, 1, Duration{}, *payload, 0});
    clients[client]->merge(work, {.kind = StepKind::merge, .phase = phase}, window);
  }
  Vector<double> model(std::uint32_t client) const { return clients[client]->model(); }
  Vector<double> shown(std::uint32_t client, const char* name) const {
    ShownVectors probe;
    clients[client]->inspect(probe);
    return probe.seen.at(name);
  }

  std::vector<std::uint32_t> architectures;
  std::shared_ptr<const Architectures<double>> peers;
  std::shared_ptr<const Dataset<double>> dataset = random_dataset();
  TensorPool pool;
  Scratch<double> scratch;
  BatchPlan plan;
  Graph graph;
  std::vector<std::uint32_t> samples;
  std::vector<Vector<double>> starts;
  std::vector<std::unique_ptr<Learner<double>>> learners;
  std::vector<std::unique_ptr<Algorithm<double>>> clients;
};

// What a layer of 5 right above the inputs makes of all samples_each, by plain products.
Matrix<double> first_layer(const Vector<double>& x) {
  const Matrix<double> weights = Eigen::Map<const Matrix<double>>(x.data(), 5, inputs),
                       in = random_matrix<double>(samples_each, inputs, 1);
  Matrix<double> out = in * weights.transpose();
  out.rowwise() += x.segment(5 * inputs, 5).transpose();
  return out.cwiseMax(0);
}

const AlgorithmOptions halves =
    options_of({{"mu1", 1.0}, {"mu2", 0.0}, {"beta0", 0.01}, {"c_base", 1.0}, {"layer", std::string("1")}});

}  // namespace

TEST_CASE("at a hidden layer the parameters below it are sent and mixed, and those above stay the client's own") {
  constexpr Index below = 5 * inputs + 5;
  Party party({mlp({5})}, {0, 0}, halves);
  const Payload theirs = party.publish(1);
  CHECK(theirs.common[0].count() == below);
  party.hear(0, {{1, &theirs}});
  const double distance = (first_layer(party.starts[0]) - first_layer(party.starts[1])).squaredNorm() / samples_each;
  CHECK(party.shown(0, "distance")[1] == doctest::Approx(distance).epsilon(1e-12));
  CHECK((party.model(0).head(below) - 0.5 * (party.starts[0] + party.starts[1]).head(below)).norm() < 1e-14);
  CHECK(party.model(0).tail(party.model(0).size() - below) == party.starts[0].tail(party.model(0).size() - below));
  CHECK(party.clients[0]->collaboration() == std::vector<PeerWeight>{{ClientId{1}, party.shown(0, "collab")[1]}});
}

TEST_CASE("models that are alike up to the layer mix what is below it, whatever lies above") {
  constexpr Index below = 5 * inputs + 5;
  Party party({mlp({5}), mlp({5, 4})}, {0, 1}, halves);
  for (const std::uint32_t i : {0u, 1u}) {
    const Payload theirs = party.publish(1 - i);
    CHECK(theirs.common[0].count() == below);
    party.hear(i, {{1 - i, &theirs}});
  }
  CHECK((party.model(0).head(below) - 0.5 * (party.starts[0] + party.starts[1]).head(below)).norm() < 1e-14);
  const Index own = mlp({5})->dimension(), rest = party.model(0).size() - own;
  REQUIRE(rest == mlp({5, 4})->dimension() - own);
  CHECK(party.model(0).tail(rest).isZero(0));  // zeros behind the smaller model
  CHECK(party.model(1).tail(rest) == party.starts[1].tail(rest));
}

TEST_CASE("a peer of another kind has a weight and enters no mean") {
  Party party({mlp({5}), mlp({6, 5})}, {0, 1, 0},
              options_of({{"mu2", 0.0}, {"beta0", 0.01}, {"c_base", 1.0}, {"layer", std::string("-1")}}));
  const Payload unlike = party.publish(1), alike = party.publish(2);
  CHECK(unlike.common[0].count() == 6 * inputs + 6 + 5 * 6 + 5);
  party.hear(0, {{1, &unlike}});
  CHECK(party.shown(0, "distance")[1] > 0);
  CHECK(party.shown(0, "collab")[1] == doctest::Approx(1.0 / 3 - 0.01).epsilon(1e-12));
  CHECK(party.model(0) == party.starts[0]);
  party.hear(0, {{1, &unlike}}, 1);
  party.hear(0, {{1, &unlike}, {2, &alike}});
  constexpr Index below = 5 * inputs + 5;  // c = 1/3: two peers were heard
  CHECK((party.model(0).head(below) - (party.starts[0] / 3 + 2 * party.starts[2] / 3).head(below)).norm() < 1e-14);
}

TEST_CASE("at the output unlike models are compared by their probabilities, and whole models of one kind are mixed") {
  Party party({mlp({5}), mlp({2})}, {0, 1, 0}, options_of({{"mu2", 0.0}, {"c_base", 1.0}}));
  const Payload unlike = party.publish(1), alike = party.publish(2);
  CHECK(static_cast<Index>(unlike.common[0].count()) == mlp({2})->dimension());
  party.hear(0, {{1, &unlike}, {2, &alike}});
  Matrix<double> mine(samples_each, classes), theirs(samples_each, classes);
  party.learners[0]->predict(view(std::as_const(party.starts[0])), {}, view(mine), party.scratch);
  party.learners[1]->predict(view(std::as_const(party.starts[1])), {}, view(theirs), party.scratch);
  CHECK(party.shown(0, "distance")[1] == doctest::Approx((mine - theirs).squaredNorm() / samples_each).epsilon(1e-12));
  CHECK((party.model(0) - (party.starts[0] / 3 + 2 * party.starts[2] / 3)).norm() < 1e-13);
}

TEST_CASE("a message that is not as long as its sender's model has it is left out") {
  Party party({mlp({5})}, {0, 0, 0}, halves);
  const Payload sound = party.publish(1);
  Payload short_one;
  short_one.common[0] = copy_of<double>(view(std::as_const(party.starts[2])), party.pool);
  CHECK(party.clients[0]->fits(short_one, {.kind = StepKind::merge}, 0));
  party.hear(0, {{2, &short_one}});
  CHECK(party.model(0) == party.starts[0]);
  party.hear(0, {{1, &sound}, {2, &short_one}});
  CHECK(party.shown(0, "distance")[2] == 0);
  CHECK(party.shown(0, "confidence")[0] == 0.5);
}

TEST_CASE("a layer is named by its number, from the end, or by words that are there once") {
  const auto model = mlp({5, 7, 5});
  CHECK(cut_of(*model, "2", 0).outputs == 7);
  CHECK(cut_of(*model, "-1", 0).layer == 2);
  CHECK(cut_of(*model, "dense 7", 3).architecture == 3);
  CHECK(cut_of(*model, "output", 0).parameters == model->dimension());
  for (const char* wrong : {"dense 5", "0", "4", "-4", "dense 9"})
    CHECK(contains(complaint([&] { cut_of(*model, wrong, 0); }),
                   "has \"output\", \"1\" (dense 5), \"2\" (dense 7), \"3\" (dense 5)"));
  const auto network = make_model<double>(ModelOptions{.name = "cnn", .layers = {"tanh", "dense 3"}}, {1, 1, inputs}, classes);
  CHECK(contains(complaint([&] { cut_of(*network, "tanh", 0); }), "no parameters are below it"));
  CHECK(cut_of(*network, "2", 0).parameters == 3 * inputs + 3);
  CHECK(cut_of(*mlp({5, 7}), "2", 0).base == cut_of(*mlp({5, 7, 9}), "2", 0).base);
  CHECK(cut_of(*mlp({5, 7}), "2", 0).base != cut_of(*mlp({4, 7}), "2", 0).base);
}

TEST_CASE("zeros behind a smaller model stay zeros and change nothing") {
  const Architectures<double> models = padded<double>({mlp({2}), mlp({20})});
  REQUIRE(models[0]->dimension() == models[1]->dimension());
  const Vector<double> x = [&] {
    Vector<double> start(models[0]->dimension());
    Stream stream(1, no_client, Purpose::init);
    models[0]->initialise(view(start), stream);
    return start;
  }();
  const auto plain = mlp({2});
  const Index own = plain->dimension();
  const Matrix<double> in = random_matrix<double>(samples_each, inputs, 3);
  const std::vector<Label> labels = random_labels(samples_each, classes, 4);
  Vector<double> g = Vector<double>::Ones(x.size()), of_plain(own), moved = x, start = x.head(own);
  Scratch<double> scratch;
  const double loss = models[0]->gradient(view(x), {read_only(in), labels}, view(g), scratch);
  CHECK(loss == plain->gradient(view(std::as_const(start)), {read_only(in), labels}, view(of_plain), scratch));
  CHECK(g.head(own) == of_plain);
  CHECK(g.tail(x.size() - own).isZero(0));
  models[0]->descend(view(moved), {read_only(in), labels}, 0.1, scratch);
  CHECK(moved.tail(x.size() - own).isZero(0));
  CHECK(moved.head(own) != start);
}
