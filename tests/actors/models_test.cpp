// Every model in whole runs: on every data set that is there, and with equal digests on one thread and on two.
#include <doctest/doctest.h>

#include <cstdlib>

#include "learning/data/named_sets.hpp"
#include "learning/models/model_catalogue.hpp"
#include "tests/actors/support.hpp"
#include "tests/support/large_data.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Two seconds of four clients: some gradients, messages and merges of each.
const std::string short_text = R"(
until = 2.5
[clients]
count = 4
[topology]
kind = "ring"
[channel]
kind = "random"
delay = { law = "exponential", mean = 0.05 }
[algorithm]
name = "async_dsgd"
eta = 0.05
[data]
name = "digits"
train_rows = 400
[model]
name = "softmax"
batch = 4
[metrics]
every_events = 0
test_samples = 20
)";

std::vector<std::string> model_keys(const KnownModel& model) {
  std::vector<std::string> keys{"model.name=" + std::string(model.name)};
  std::string list;
  for (const Index width : model.hidden) list += (list.empty() ? "" : ", ") + std::to_string(width);
  if (!model.hidden.empty()) keys.push_back("model.hidden=[" + list + "]");
  list.clear();
  for (const std::string& layer : model.layers) list += (list.empty() ? "\"" : ", \"") + layer + "\"";
  if (!model.layers.empty()) keys.push_back("model.layers=[" + list + "]");
  return keys;
}

RunOptions on_data(unsigned threads) {
  RunOptions options = on_threads(threads);
  options.data_dir = large_data();
  return options;
}

void check_equal_digests(const std::vector<std::string>& overrides) {
  const config::Experiment chosen = experiment(overrides, short_text);
  const RunResult one = run(chosen, on_threads(1)), two = run(chosen, on_threads(2));
  CHECK(digests(one) == digests(two));
}

bool takes_long_to_read(const std::string& set) {
  return set == "mnist" || set == "fashion-mnist" || set == "emnist" || set == "emnist-letters" || set == "cifar10";
}

// Every run reads its data: one model for each of these sets, and DRACO's for MNIST.
bool is_tried_on_large(const std::string& set, const KnownModel& model) {
  if (set == "mnist") return model.name == "cnn_draco" || model.name == "svm";
  if (set == "fashion-mnist") return model.name == "cnn_depositum";
  if (set == "emnist") return model.name == "cnn_kdpdfl";
  return model.name == (set == "cifar10" ? "resnet20" : "softmax");
}

}  // namespace

TEST_CASE("every model with chance, statistics or rules of its own gives one digest on 1 and 2 threads") {
  const std::string layers =
      R"(model.layers=["conv 8 3 same", "norm", "relu", "maxpool 2", "dropout 0.3", "residual 16 stride 2", "meanpool"])";
  for (const std::string normalisation : {"group", "batch"})
    check_equal_digests({"model.name=cnn", layers, "model.normalisation=" + normalisation, "model.l2=0.001"});
  for (const std::string normalisation : {"group", "batch"})
    check_equal_digests({"model.name=resnet20", "model.normalisation=" + normalisation});
  check_equal_digests({"model.name=mlp", "model.hidden=[32, 16]", "model.dropout=0.4", "model.activation=tanh"});
  check_equal_digests({"model.name=mlp", "model.hidden=[32]", "model.clip=0.1", "model.weight_decay=0.01"});
  check_equal_digests({"model.name=svm", "model.hinge=squared", "model.batch=0"});
  check_equal_digests({"model.name=decefl_dnn", "model.label_smoothing=0.1", "precision=float64"});
}

TEST_CASE("dropout and statistics change what is learned, and a seed changes what is dropped") {
  const auto digest = [](const std::vector<std::string>& overrides) {
    return digests(run(experiment(overrides, short_text), on_threads(2)));
  };
  const std::vector<std::string> plain{"model.name=mlp", "model.hidden=[32]", "model.init=he"};
  const std::vector<std::string> dropping = plain + std::vector<std::string>{"model.dropout=0.4"};
  CHECK(digest(plain) == digest(plain + std::vector<std::string>{"model.dropout=0"}));
  CHECK(digest(plain) != digest(dropping));
  CHECK(digest(dropping) == digest(dropping));
}

TEST_CASE("models run on the data sets that they fit, with equal digests on 1 and 2 threads") {
  std::size_t runs = 0;
  for (const std::string& set : dataset_names()) {
    if (takes_long_to_read(set) && !is_nightly()) continue;
    if (find_dataset(set, large_data()).empty()) {
      MESSAGE("skipped: no data set " << set << " in " << large_data().string());
      continue;
    }
    const auto dataset = load_dataset<float>(set, large_data());
    for (const KnownModel& model : known_models()) {
      if (model.name == "torchscript" || model.name.starts_with("resnet18")) continue;  // no module; ten seconds each
      if (!parameters_of(model, dataset->shape, dataset->classes)) continue;
      if (takes_long_to_read(set) && !is_tried_on_large(set, model)) continue;
      CAPTURE(set);
      CAPTURE(model.name);
      const config::Experiment chosen = experiment(std::vector<std::string>{"data.name=" + set} + model_keys(model), short_text);
      const RunResult one = run(chosen, on_data(1)), two = run(chosen, on_data(2));
      CHECK(digests(one) == digests(two));
      CHECK_FALSE(one.samples.empty());
      ++runs;
    }
  }
  CHECK(runs >= 5);  // digits comes along
}
