// Networks of layers: every operation against central differences, oneDNN against plain products, presets, words.
#include "learning/network/network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "learning/network/operations.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;
using test::random_labels;
using test::random_matrix;
using test::random_vector;

namespace {

constexpr std::uint32_t classes = 3;

template <class Real = double>
std::shared_ptr<const Model<Real>> network(std::vector<std::string> layers, const Shape& shape,
                                           Normalisation normalisation = Normalisation::group, double l2 = 0,
                                           double smoothing = 0) {
  NetworkSpec spec;
  spec.layers = std::move(layers);
  spec.normalisation = normalisation;
  spec.l2 = l2;
  spec.label_smoothing = smoothing;
  return make_network<Real>(spec, shape, classes);
}

template <class Real>
Vector<Real> start_of(const Model<Real>& model, std::uint64_t seed = 1) {
  Vector<Real> x(model.dimension());
  Stream stream(seed, no_client, Purpose::init);
  model.initialise(view(x), stream);
  return x;
}

bool is_measured(const Model<double>& model, Index i) {
  const std::vector<Range> all = model.statistics();
  return std::any_of(all.begin(), all.end(), [i](const Range& range) { return i >= range.first && i < range.first + range.count; });
}

/// About `coordinates` of them, spread over all layers.
void check_gradient(const Model<double>& model, Index rows, std::optional<Chance> chance = std::nullopt, Index coordinates = 300) {
  const Matrix<double> inputs = random_matrix<double>(rows, model.inputs(), 3);
  const std::vector<Label> labels = random_labels(static_cast<std::size_t>(rows), classes, 4);
  Batch<double> batch{read_only(inputs), labels};
  batch.chance = chance;
  Vector<double> x = start_of(model) + random_vector<double>(model.dimension(), 5, 0.05);
  for (Index i = 0; i < x.size(); ++i)
    if (is_measured(model, i)) x[i] = 0.5;
  Vector<double> g(x.size()), ignored(x.size());
  Scratch<double> scratch;
  model.gradient(read_only(x), batch, view(g), scratch);
  constexpr double h = 1e-6;
  double worst = 0;
  for (Index i = 0; i < x.size(); i += std::max<Index>(1, x.size() / coordinates)) {
    if (is_measured(model, i)) continue;
    const double centre = x[i];
    x[i] = centre + h;
    const double above = model.gradient(read_only(x), batch, view(ignored), scratch);
    x[i] = centre - h;
    const double below = model.gradient(read_only(x), batch, view(ignored), scratch);
    x[i] = centre;
    worst = std::max(worst, std::abs(g[i] - (above - below) / (2 * h)) / std::max(1.0, std::abs(g[i])));
  }
  CHECK(worst <= 2e-7);
}

/// One operation in float and in double on the same numbers, forwards and backwards.
struct Run {
  Vector<double> out, in_gradient, other_gradient, parameter_gradient;
};

template <class Real>
Run run(const Operation<Real>& operation, Index rows, Index in_size, Index out_size, bool has_other) {
  const auto numbers = [](Index count, std::uint64_t seed) -> Vector<Real> {
    return random_vector<double>(count, seed, 0.5).template cast<Real>();
  };
  const Vector<Real> in = numbers(rows * in_size, 1), other = numbers(rows * out_size, 2), x = numbers(operation.parameters(), 3);
  Vector<Real> out(rows * out_size), kept(rows * operation.kept()),
      delta = numbers(rows * out_size, 4), in_gradient(rows * in_size), other_gradient(has_other ? rows * out_size : 0),
      g(operation.parameters());
  Scratch<Real> scratch;
  const Pass<Real> pass{.rows = rows, .parameters = x.data(), .scratch = scratch, .trains = true};
  const Arrays<Real> arrays{in.data(), has_other ? other.data() : nullptr, out.data(), kept.data()};
  operation.forward(pass, arrays);
  operation.backward(pass, arrays, {delta.data(), in_gradient.data(), has_other ? other_gradient.data() : nullptr, g.data()});
  return {out.template cast<double>(), in_gradient.template cast<double>(), other_gradient.template cast<double>(),
          g.template cast<double>()};
}

bool is_close(const Vector<double>& a, const Vector<double>& b, double tolerance) {
  return a.size() == b.size() && (a - b).norm() <= tolerance * std::max(1.0, b.norm());
}

void check_same(const Run& a, const Run& b, double tolerance) {
  CHECK(is_close(a.out, b.out, tolerance));
  CHECK(is_close(a.in_gradient, b.in_gradient, tolerance));
  CHECK(is_close(a.other_gradient, b.other_gradient, tolerance));
  CHECK(is_close(a.parameter_gradient, b.parameter_gradient, tolerance));
}

std::string layer_complaint(const std::string& layer, const Shape& shape = {1, 8, 8}) {
  return complaint([&] { network({layer}, shape); });
}

}  // namespace

TEST_CASE("gradients of networks agree with central differences: convolutions, poolings, dense layers, penalties") {
  check_gradient(*network({"conv 4 3", "relu", "maxpool 2", "conv 5 3 same", "relu", "dense 6", "relu"}, {1, 8, 8}), 4);
  check_gradient(*network({"conv 16 5 same", "relu", "maxpool 2", "conv 17 3 same", "maxpool 3 stride 2 pad 1"}, {2, 6, 6}), 3);
  check_gradient(*network({"conv 3 3 stride 2 pad 4", "sigmoid", "meanpool", "flatten", "dense 4", "tanh"}, {3, 7, 5}), 3);
  check_gradient(*network({"maxpool 2", "dense 5", "sigmoid"}, {2, 4, 4}), 3);
  check_gradient(*network({"conv 3 3", "relu"}, {1, 5, 5}, Normalisation::group, 0.1, 0.2), 4);
}

TEST_CASE("gradients of normalised and residual networks agree with central differences, whatever is normalised over") {
  for (const Normalisation over : {Normalisation::group, Normalisation::batch}) {
    check_gradient(*network({"conv 4 3 same", "norm", "relu", "norm"}, {2, 5, 5}, over, 0.1), 4);
    check_gradient(*network({"conv 4 3 same", "norm", "relu", "residual 4", "residual 8 stride 2", "meanpool"}, {1, 6, 6}, over),
                   4);
    check_gradient(*network({"residual 6 stride 2 project", "residual 2 project", "meanpool"}, {3, 7, 7}, over), 4);
  }
}

TEST_CASE("gradients of networks along a signal agree with central differences, in both scalars with each other") {
  for (const Normalisation over : {Normalisation::group, Normalisation::batch})
    check_gradient(*network({"signal", "conv 4 5 stride 2 pad 2", "norm", "relu", "maxpool 3 stride 2 pad 1", "residual 4",
                             "residual 6 stride 2 project", "residual 8 stride 2", "meanpool"},
                            {1, 1, 37}, over),
                   4);
  check_gradient(*network({"signal", "conv 3 4", "relu", "maxpool 2", "dense 5", "tanh"}, {2, 1, 12}), 3);
}

TEST_CASE("a convolution along a signal is that of an image of one row, with the row of weights that meets it") {
  const ConvolutionForm along{.in = {3, 1, 20}, .outputs = 4, .kernel = 5, .stride = 2, .padding = 2, .is_row = true};
  const ConvolutionForm square{.in = {3, 1, 20}, .outputs = 4, .kernel = 5, .stride = 2, .padding = 2};
  CHECK(along.out() == Shape{4, 1, 10});
  CHECK(along.weights() == 4 * 3 * 5);
  REQUIRE(square.out() == along.out());
  const Matrix<double> in = random_matrix<double>(2, 60, 3), row = random_matrix<double>(1, along.parameters(), 4);
  Vector<double> few = row.row(0).transpose(), many = Vector<double>::Zero(square.parameters());
  for (Index pair = 0; pair < 12; ++pair) many.segment(25 * pair + 10, 5) = few.segment(5 * pair, 5);
  many.tail(4) = few.tail(4);
  const auto out_of = [&](const ConvolutionForm& form, const Vector<double>& parameters) {
    Vector<double> out(2 * form.out().size());
    Scratch<double> scratch;
    const Pass<double> pass{.rows = 2, .parameters = parameters.data(), .scratch = scratch};
    make_plain_convolution<double>(form)->forward(pass, {in.data(), nullptr, out.data(), nullptr});
    return out;
  };
  CHECK((out_of(along, few) - out_of(square, many)).norm() < 1e-12);
}

TEST_CASE("what comes out of the last hidden layer leads to the logits, and out of any other what it says in a shorter network") {
  const std::vector<std::string> layers{"conv 4 3 same", "norm",    "relu", "residual 8 stride 2",
                                        "maxpool 2",     "dense 6", "relu", "tanh"};
  const auto whole = network(layers, {2, 8, 8}, Normalisation::batch);
  const Matrix<double> inputs = random_matrix<double>(130, 128, 3);  // more rows than are evaluated at once
  const Vector<double> x = start_of(*whole) + random_vector<double>(whole->dimension(), 5, 0.05);
  const std::vector<HiddenLayer> hidden = whole->hidden_layers();
  REQUIRE(hidden.size() == 6);  // a ReLU belongs to what is before it
  Scratch<double> scratch;
  Matrix<double> last(130, 6), logits(130, classes);
  whole->hidden_outputs(5, view(x), read_only(inputs), view(last), scratch);
  whole->logits(view(x), read_only(inputs), view(logits), scratch);
  const Index head = hidden[5].parameters;
  REQUIRE(x.size() == head + 6 * classes + classes);
  const Matrix<double> weights = Eigen::Map<const Matrix<double>>(x.data() + head, classes, 6);
  Matrix<double> by_hand = last * weights.transpose();
  by_hand.rowwise() += x.tail(classes).transpose();
  CHECK((by_hand - logits).norm() < 1e-10);
  for (const auto& [taken, place] : {std::pair<std::size_t, std::size_t>{1, 0}, {3, 1}, {4, 2}, {5, 3}}) {
    CAPTURE(place);
    const auto shorter =
        network({layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(taken)}, {2, 8, 8}, Normalisation::batch);
    const HiddenLayer end = shorter->hidden_layers().back();
    if (taken == 1) continue;  // there the convolution has a bias, because no normalisation follows
    CHECK(end.base == hidden[place].base);
    CHECK(end.parameters == hidden[place].parameters);
    Matrix<double> here(130, end.outputs), there(130, end.outputs);
    whole->hidden_outputs(place, view(x), read_only(inputs), view(here), scratch);
    shorter->hidden_outputs(shorter->hidden_layers().size() - 1, view(x), read_only(inputs), view(there), scratch);
    CHECK(here == there);
  }
}

TEST_CASE("every number of a row is a channel of its own to a normalisation") {
  for (const Normalisation over : {Normalisation::group, Normalisation::batch})
    check_gradient(*network({"norm", "dense 6", "relu", "norm"}, {1, 1, 8}, over, 0.1), 5);
  // Batch normalisation by hand: each column to mean 0 and deviation 1 over the batch.
  const auto normalised = network({"norm"}, {1, 1, 4}, Normalisation::batch), plain = network({"flatten"}, {1, 1, 4});
  const Matrix<double> inputs = random_matrix<double>(7, 4, 3);
  Matrix<double> scaled = inputs;
  for (Index c = 0; c < 4; ++c) {
    scaled.col(c).array() -= inputs.col(c).mean();
    scaled.col(c) /= std::sqrt(scaled.col(c).squaredNorm() / 7 + 1e-5);
  }
  const std::vector<Label> labels = random_labels(7, classes, 2);
  const Vector<double> x = start_of(*normalised), rest = x.tail(x.size() - 16);
  Vector<double> g(x.size()), of_rest(rest.size());
  Scratch<double> scratch;
  const double loss = normalised->gradient(view(x), {read_only(inputs), labels}, view(g), scratch);
  CHECK(loss == doctest::Approx(plain->gradient(view(rest), {read_only(scaled), labels}, view(of_rest), scratch)).epsilon(1e-12));
  CHECK((g.tail(rest.size()) - of_rest).norm() < 1e-12);
}

TEST_CASE("the gradient of a network with dropout agrees with central differences where chance is held") {
  const auto model = network({"conv 4 3", "relu", "dropout 0.3", "dense 12", "relu", "dropout 0.5"}, {1, 6, 6});
  check_gradient(*model, 5, Chance{.seed = 7, .number = 3});
  const Matrix<double> inputs = random_matrix<double>(5, 36, 1);
  const std::vector<Label> labels = random_labels(5, classes, 2);
  const Vector<double> x = start_of(*model);
  Scratch<double> scratch;
  const auto loss = [&](std::optional<Chance> chance) {
    Vector<double> g(x.size());
    Batch<double> batch{read_only(inputs), labels};
    batch.chance = chance;
    return model->gradient(read_only(x), batch, view(g), scratch);
  };
  CHECK(loss(Chance{.seed = 7, .number = 3}) == loss(Chance{.seed = 7, .number = 3}));
  CHECK(loss(Chance{.seed = 7, .number = 3}) != loss(Chance{.seed = 7, .number = 4}));
  CHECK(loss(Chance{.seed = 7, .number = 3}) != loss(std::nullopt));
}

TEST_CASE("oneDNN's convolutions agree with plain products, whatever their channels, windows, strides and borders") {
  struct Case {
    Shape in;
    Index outputs, kernel, stride, padding;
    bool has_bias, has_relu;
  };
  for (const Case& c : {Case{{1, 28, 28}, 16, 5, 1, 2, true, true}, Case{{16, 14, 14}, 32, 5, 1, 2, true, true},
                        Case{{16, 8, 8}, 16, 3, 1, 1, false, false}, Case{{3, 32, 32}, 16, 3, 1, 1, false, false},
                        Case{{16, 16, 16}, 32, 3, 2, 1, false, false}, Case{{32, 8, 8}, 64, 1, 2, 0, false, false},
                        Case{{5, 9, 7}, 6, 3, 2, 0, true, false}, Case{{1, 6, 6}, 10, 2, 1, 1, true, true}}) {
    const ConvolutionForm form{.in = c.in,
                               .outputs = c.outputs,
                               .kernel = c.kernel,
                               .stride = c.stride,
                               .padding = c.padding,
                               .has_bias = c.has_bias,
                               .has_relu = c.has_relu};
    CAPTURE(c.in.channels);
    CAPTURE(c.outputs);
    const Run fast = run(*make_convolution<float>(form), 3, c.in.size(), form.out().size(), false);
    check_same(fast, run(*make_plain_convolution<double>(form), 3, c.in.size(), form.out().size(), false), 3e-6);
    check_same(fast, run(*make_plain_convolution<float>(form), 3, c.in.size(), form.out().size(), false), 3e-6);
  }
}

TEST_CASE("normalisation and pooling in float agree with those in double") {
  for (const Normalisation over : {Normalisation::group, Normalisation::batch})
    for (const bool has_other : {false, true}) {
      const NormalisationForm form{.shape = {16, 9, 9}, .kind = over, .groups = 4, .has_relu = true};
      check_same(run(*make_normalisation<float>(form), 5, form.shape.size(), form.shape.size(), has_other),
                 run(*make_normalisation<double>(form), 5, form.shape.size(), form.shape.size(), has_other), 1e-5);
    }
  for (const Index channels : {1, 16, 35})
    for (const bool masks : {false, true}) {
      const PoolingForm form{.in = {channels, 8, 8}, .masks_relu = masks};
      check_same(run(*make_max_pooling<float>(form), 4, form.in.size(), form.out().size(), false),
                 run(*make_max_pooling<double>(form), 4, form.in.size(), form.out().size(), false), 1e-6);
    }
}

TEST_CASE("max pooling hands everything to the first of equal numbers, and nothing through a ReLU that is shut") {
  const auto pooling = make_max_pooling<double>({.in = {1, 2, 2}, .masks_relu = true});
  const auto back = [&](std::vector<double> in) {
    std::vector<double> out(1), delta{5}, gradient(4, -1);
    Scratch<double> scratch;
    const double none = 0;
    const Pass<double> pass{.rows = 1, .parameters = &none, .scratch = scratch};
    const Arrays<double> arrays{in.data(), nullptr, out.data(), nullptr};
    pooling->forward(pass, arrays);
    pooling->backward(pass, arrays, {delta.data(), gradient.data(), nullptr, nullptr});
    return gradient;
  };
  CHECK(back({1, 3, 3, 2}) == std::vector<double>{0, 5, 0, 0});
  CHECK(back({0, 0, 0, 0}) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("whole networks in float agree with those in double") {
  for (const std::string& name : network_presets()) {
    if (name.starts_with("resnet18")) continue;  // the same layers as resnet20, eleven million of them
    CAPTURE(name);
    const std::vector<Shape> images{{1, 28, 28}, {3, 32, 32}}, signals{{1, 1, 300}};
    for (const Shape& shape : name == "resnet_signal" ? signals : images) {
      const auto coarse = network<float>(preset_layers(name, shape), shape);
      const auto fine = network<double>(preset_layers(name, shape), shape);
      const Vector<double> x = start_of(*fine);
      const Vector<float> rounded = x.cast<float>();
      const Matrix<double> inputs = random_matrix<double>(4, shape.size(), 1);
      const Matrix<float> rounded_inputs = inputs.cast<float>();
      const std::vector<Label> labels = random_labels(4, classes, 2);
      Vector<double> g(x.size());
      Vector<float> rounded_g(x.size());
      Scratch<double> doubles;
      Scratch<float> floats;
      const double loss = fine->gradient(read_only(x), {read_only(inputs), labels}, view(g), doubles);
      const float rounded_loss = coarse->gradient(read_only(rounded), {read_only(rounded_inputs), labels}, view(rounded_g), floats);
      CHECK(static_cast<double>(rounded_loss) == doctest::Approx(loss).epsilon(1e-5));
      CHECK(is_close(rounded_g.cast<double>(), g, 1e-3));
    }
  }
}

TEST_CASE("presets have the papers' numbers of parameters") {
  const auto parameters = [](const std::string& name, const Shape& shape, std::uint32_t of, Normalisation over) {
    NetworkSpec spec;
    spec.layers = preset_layers(name, shape);
    spec.normalisation = over;
    return make_network<float>(spec, shape, of)->dimension();
  };
  const Shape grey{1, 28, 28}, colour{3, 32, 32};
  CHECK(parameters("cnn_draco", grey, 10, Normalisation::group) == 149194);
  CHECK(parameters("cnn_depositum", grey, 10, Normalisation::group) == 268362);
  CHECK(parameters("cnn_depositum", colour, 10, Normalisation::group) == 268650);
  CHECK(parameters("cnn_depositum", grey, 27, Normalisation::group) == 270555);
  CHECK(parameters("cnn_kdpdfl", grey, 47, Normalisation::group) == 970847);
  CHECK(parameters("mlp_kdpdfl", {1, 1, 296}, 9, Normalisation::batch) == 39769 + 592);  // and running statistics
  CHECK(parameters("resnet20", colour, 10, Normalisation::group) == 269722);
  CHECK(parameters("resnet20", colour, 10, Normalisation::batch) == 269722 + 2 * 688);
  CHECK(parameters("resnet18", colour, 10, Normalisation::group) == 11173962);
  CHECK(parameters("resnet18_7x7", colour, 10, Normalisation::group) == 11181642);
  // Rows of 7 and 3 weights: the first, two blocks each of 16, 32 and 64 channels, two shortcuts; scales and shifts; 10 classes.
  CHECK(parameters("resnet_signal", {1, 1, 300}, 10, Normalisation::group) ==
        7 * 16 + 3 * (4 * 16 * 16 + 16 * 32 + 3 * 32 * 32 + 32 * 64 + 3 * 64 * 64) + 16 * 32 + 32 * 64 +
            2 * (5 * 16 + 5 * 32 + 5 * 64) + 65 * 10);
  CHECK(parameters("resnet20", grey, 10, Normalisation::group) == 269722 - 2 * 9 * 16);
}

TEST_CASE("batch normalisation learns the batch's statistics, uses them outside training, and no penalty shrinks them") {
  const auto model = network({"conv 4 3 same", "norm", "meanpool"}, {1, 6, 6}, Normalisation::batch, 0.5);
  const std::vector<Range> statistics = model->statistics();
  REQUIRE(statistics.size() == 1);
  CHECK(statistics.front().count == 8);
  Vector<double> x = start_of(*model);
  const Index mean = statistics.front().first, variance = mean + 4;
  CHECK(x.segment(mean, 4).isZero());
  CHECK(x.segment(variance, 4).isOnes());
  const Matrix<double> inputs = random_matrix<double>(40, 36, 1);
  const std::vector<Label> labels = random_labels(40, classes, 2);
  Vector<double> g(x.size());
  Scratch<double> scratch;
  model->gradient(read_only(x), {read_only(inputs), labels}, view(g), scratch);
  const Vector<double> before = x.segment(mean, 8);
  x.segment(mean, 8) -= 0.25 * g.segment(mean, 8);
  Vector<double> half_way(x.size());
  model->gradient(read_only(x), {read_only(inputs), labels}, view(half_way), scratch);
  CHECK(is_close(half_way.segment(mean, 8), 0.75 * g.segment(mean, 8), 1e-12));

  // With the batch's own statistics a sample alone has the logits it has in a batch of copies of the whole.
  x.segment(mean, 8) -= half_way.segment(mean, 8);
  Matrix<double> together(40, classes), alone(1, classes);
  model->logits(read_only(x), read_only(inputs), view(together), scratch);
  const Matrix<double> first = inputs.row(0);
  model->logits(read_only(x), read_only(first), view(alone), scratch);
  CHECK((together.row(0) - alone).norm() < 1e-12);
}

TEST_CASE("group normalisation treats every sample alone") {
  const auto model = network({"conv 4 3 same", "norm", "relu", "residual 8 stride 2", "meanpool"}, {1, 6, 6});
  const Vector<double> x = start_of(*model);
  const Matrix<double> inputs = random_matrix<double>(300, 36, 1), last = inputs.bottomRows(1);
  Matrix<double> all(300, classes), alone(1, classes);
  Scratch<double> scratch;
  model->logits(read_only(x), read_only(inputs), view(all), scratch);
  model->logits(read_only(x), read_only(last), view(alone), scratch);
  CHECK((all.bottomRows(1) - alone).norm() < 1e-12);
}

TEST_CASE("a network's gradient has the same bits on every thread, and whichever batch sizes came before") {
  const Shape shape{3, 32, 32};
  const auto model = network<float>(preset_layers("resnet20", shape), shape);
  const Vector<float> x = start_of(*model);
  const Matrix<float> inputs = random_matrix<float>(6, shape.size(), 1);
  const std::vector<Label> labels = random_labels(6, classes, 2);
  const auto gradient = [&](Index before) {
    Scratch<float> scratch;
    Vector<float> g(x.size());
    const std::span<const Label> all(labels);
    if (before > 0)
      model->gradient(read_only(x), {{inputs.data(), before, inputs.cols()}, all.first(static_cast<std::size_t>(before))}, view(g),
                      scratch);
    model->gradient(read_only(x), {read_only(inputs), labels}, view(g), scratch);
    return g;
  };
  const Vector<float> here = gradient(0);
  std::vector<Vector<float>> elsewhere(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < elsewhere.size(); ++i)
    threads.emplace_back([&, i] { elsewhere[i] = gradient(static_cast<Index>(2 * i)); });
  for (std::thread& thread : threads) thread.join();
  for (const Vector<float>& g : elsewhere)
    CHECK(std::memcmp(g.data(), here.data(), static_cast<std::size_t>(g.size()) * sizeof(float)) == 0);
}

TEST_CASE("a network that has seen more batch sizes than it keeps code for has the gradient of a fresh one") {
  const Shape shape{1, 6, 6};
  const Matrix<float> inputs = random_matrix<float>(50, shape.size(), 1);
  const std::vector<Label> labels = random_labels(50, classes, 2);
  const std::span<const Label> all(labels);
  const auto seasoned = network<float>({"conv 4 3"}, shape), fresh = network<float>({"conv 4 3"}, shape);
  const Vector<float> x = start_of(*seasoned);
  Scratch<float> scratch;
  Vector<float> g(x.size()), expected(x.size());
  const auto gradient = [&](const Model<float>& model, Index rows, Vector<float>& out) {
    model.gradient(read_only(x), {{inputs.data(), rows, inputs.cols()}, all.first(static_cast<std::size_t>(rows))}, view(out),
                   scratch);
  };
  for (Index rows = 1; rows <= 50; ++rows) gradient(*seasoned, rows, g);
  for (const Index rows : {1, 2, 33, 50}) {
    gradient(*seasoned, rows, g);
    gradient(*fresh, rows, expected);
    CHECK(g == expected);
  }
}

TEST_CASE("He's and Xavier's starts have their variances, biases start at 0 and scales at 1") {
  NetworkSpec spec;
  spec.layers = {"conv 64 5 same", "norm", "relu", "maxpool 4", "dense 128", "relu"};
  const auto deviation = [&](bool is_xavier) {
    spec.starts_xavier = is_xavier;
    const Vector<double> x = start_of(*make_network<double>(spec, {3, 16, 16}, classes));
    return std::pair(std::sqrt(x.head(64 * 75).squaredNorm() / (64 * 75)), Vector<double>(x.segment(64 * 75, 128)));
  };
  CHECK(deviation(false).first == doctest::Approx(std::sqrt(2.0 / 75)).epsilon(0.03));
  CHECK(deviation(true).first == doctest::Approx(std::sqrt(2.0 / (75 + 64 * 25))).epsilon(0.03));
  CHECK(deviation(false).second.head(64).isOnes());
  CHECK(deviation(false).second.tail(64).isZero());
}

TEST_CASE("layers that cannot be read or do not fit are refused with a sentence") {
  CHECK(contains(layer_complaint("convolution 3"), "there is no such layer; allowed are conv"));
  CHECK(contains(layer_complaint("conv 3"), "conv needs 2 numbers"));
  CHECK(contains(layer_complaint("conv 0 3"), "whole numbers from 1"));
  CHECK(contains(layer_complaint("conv 2.5 3"), "whole numbers from 1"));
  CHECK(contains(layer_complaint("conv 3 9"), "its kernel is larger than the image, which is 8 x 8"));
  CHECK(contains(layer_complaint("conv 3 3 stride"), "needs a number behind it"));
  CHECK(contains(layer_complaint("conv 3 3 stride 0"), "stride is a whole number from 1"));
  CHECK(contains(layer_complaint("conv 3 3 dilation 2"), "\"dilation\" is not known to conv"));
  CHECK(contains(layer_complaint("conv 3 4 same"), "same needs an odd kernel"));
  CHECK(contains(layer_complaint("conv 3 3 pad 1 same"), "exclude each other"));
  CHECK(contains(layer_complaint("maxpool 9"), "larger than the image"));
  CHECK(contains(layer_complaint("maxpool 2 pad 2"), "pad must be less than its size"));
  CHECK(contains(layer_complaint("dropout 1"), "its chance is at least 0 and less than 1"));
  CHECK(contains(layer_complaint("residual 2", {4, 8, 8}), "cannot lose channels"));
  CHECK(contains(layer_complaint(""), "there is no such layer"));
  for (const char* huge : {"dense 999999999", "conv 999999999 1", "conv 16 5 pad 100000000", "residual 999999"})
    CHECK(contains(layer_complaint(huge), "more than 268435456 numbers"));
  CHECK(contains(layer_complaint("conv 3 3 same", {1, 1, 12}), "a sample of these data is a row of 12 numbers"));
  CHECK(contains(layer_complaint("conv 3 3 same", {1, 1, 12}), "begin with the layer \"signal\""));
  CHECK(contains(layer_complaint("signal"), "a signal is one row high; a sample of these data is 8 x 8"));
  CHECK(contains(complaint([] { network({"relu", "signal"}, {1, 1, 12}); }), "it can be the first layer only"));
  CHECK(contains(complaint([] { network({"signal", "conv 3 13"}, {1, 1, 12}); }), "larger than the image, which is 1 x 12"));
  CHECK(contains(complaint([] { network({"signal", "conv 3 3 pad 3"}, {1, 1, 12}); }), "pad must be less than its kernel"));
  CHECK(contains(layer_complaint("relu", {1, 1, 12}), "nothing was thrown"));
}
