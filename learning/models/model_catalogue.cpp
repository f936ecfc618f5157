#include "learning/models/model_catalogue.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "learning/joined.hpp"
#include "learning/models/torch_script.hpp"

namespace rubato {

namespace {

// The network of DeceFL's experiments on bearings.
const std::vector<std::int64_t> decefl_hidden{256, 512, 512, 256, 256, 128, 128, 64};
// DRACO's network for poker hands.
const std::vector<std::int64_t> draco_hidden{75, 75};

const std::vector<std::int64_t>& hidden_of(const ModelOptions& options) {
  if (options.name == "decefl_dnn") return decefl_hidden;
  return options.name == "mlp_draco" ? draco_hidden : options.hidden;
}

void require_classes(const ModelOptions& options, std::uint32_t classes) {
  if (classes > 0) return;
  throw std::invalid_argument("model.name is \"" + options.name +
                              "\", which tells classes apart; for data with numbers to learn, allowed are linear, mlp");
}

Start start_of(const ModelOptions& options, Start usual) { return options.init == Start::usual ? usual : options.init; }

DenseForm dense_form(const ModelOptions& options, Index inputs, std::uint32_t classes) {
  return {.inputs = inputs,
          .classes = classes,
          .activation = options.activation,
          .dropout = options.dropout,
          .l2 = options.l2,
          .label_smoothing = options.label_smoothing,
          .start = start_of(options, Start::zero)};
}

DenseForm linear_form(const ModelOptions& options, Index inputs, std::uint32_t classes) {
  DenseForm form = dense_form(options, inputs, classes);
  if (options.name == "linear") form.loss = Loss::squared;
  if (options.name == "logistic") form.loss = Loss::logistic;
  if (options.name == "svm") form.loss = options.hinge == HingeKind::squared ? Loss::squared_hinge : Loss::hinge;
  if (form.loss != Loss::squared) require_classes(options, classes);
  return form;
}

// He's start is made for ReLU, Xavier's for activations that bend both ways.
DenseForm perceptron_form(const ModelOptions& options, Index inputs, std::uint32_t classes) {
  DenseForm form = dense_form(options, inputs, classes);
  const std::vector<std::int64_t>& widths = hidden_of(options);
  form.hidden.assign(widths.begin(), widths.end());
  if (classes == 0) form.loss = Loss::squared;
  form.start = start_of(options, options.activation == Activation::relu ? Start::he : Start::xavier);
  return form;
}

bool is_network(const std::string& name) {
  const std::vector<std::string> presets = network_presets();
  return name == "cnn" || std::find(presets.begin(), presets.end(), name) != presets.end();
}

NetworkSpec network_spec(const ModelOptions& options, const Shape& shape, std::uint32_t classes) {
  require_classes(options, classes);
  if (options.init == Start::zero)
    throw std::invalid_argument("model.init = \"zero\" is for linear models: a network that starts at 0 stays there");
  return {.layers = options.name == "cnn" ? options.layers : preset_layers(options.name, shape),
          .normalisation = options.name == "mlp_kdpdfl" ? Normalisation::batch : options.normalisation,
          .l2 = options.l2,
          .label_smoothing = options.label_smoothing,
          .starts_xavier = options.init == Start::xavier};
}

// Faults of a preset's layers are not faults of the experiment, which gives its name alone.
template <class Real>
std::shared_ptr<const Model<Real>> make_named_network(const ModelOptions& options, const Shape& shape, std::uint32_t classes) {
  const NetworkSpec spec = network_spec(options, shape, classes);
  if (options.name == "cnn") return make_network<Real>(spec, shape, classes);
  try {
    return make_network<Real>(spec, shape, classes);
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument("model.name is \"" + options.name + "\", which does not fit the data: " + fault.what());
  }
}

bool is_linear(const std::string& name) { return name == "softmax" || name == "linear" || name == "logistic" || name == "svm"; }

bool is_perceptron(const std::string& name) { return name == "mlp" || name == "mlp_draco" || name == "decefl_dnn"; }

}  // namespace

std::span<const KnownModel> known_models() {
  static const std::array models = std::to_array<KnownModel>({
      {"softmax", "multinomial logistic regression: a linear model with the cross-entropy of its softmax", "label_smoothing"},
      {"linear", "linear regression: half the squared error of a number, or of 1 for the class and 0 for the others", ""},
      {"logistic", "logistic regression of two classes with one row of weights", ""},
      {"svm", "linear support vector machine: the hinge loss of all classes, or its square", "hinge"},
      {"mlp", "perceptron with hidden layers", "hidden, activation, dropout, label_smoothing", {128, 64}},
      {"mlp_draco", "DRACO's perceptron for poker hands: 2 hidden layers of 75, 12,910 parameters",
       "activation, dropout, label_smoothing"},
      {"decefl_dnn", "the network of DeceFL: 8 hidden layers of 256, 512, 512, 256, 256, 128, 128, 64",
       "activation, dropout, label_smoothing"},
      {"cnn",
       "a network of layers in words, such as \"conv 16 5 same\"",
       "layers, normalisation, label_smoothing",
       {},
       {"conv 16 5 same", "relu", "maxpool 2", "conv 32 5 same", "relu", "maxpool 2", "dense 64", "relu"}},
      {"cnn_draco", "DRACO's two convolutions, 149,194 parameters on MNIST", "label_smoothing"},
      {"cnn_depositum", "DEPOSITUM's two convolutions, 268,362 parameters on MNIST", "label_smoothing"},
      {"cnn_kdpdfl", "KD-PDFL's two convolutions, 970,847 parameters on EMNIST", "label_smoothing"},
      {"mlp_kdpdfl", "KD-PDFL's batch normalisation and hidden layer of 128, 39,769 parameters on 296 features and 9 classes",
       "label_smoothing"},
      {"resnet20", "residual network of 19 convolutions, 16 to 64 channels", "normalisation, label_smoothing"},
      {"resnet18", "residual network of 20 convolutions, 64 to 512 channels", "normalisation, label_smoothing"},
      {"resnet18_7x7",
       "the same behind a convolution of 7 x 7 and a pooling, 11,181,642 parameters on CIFAR-10, a fifth of the cost",
       "normalisation, label_smoothing"},
      {"resnet_signal", "residual network of 15 convolutions along a signal, such as the spectra of cwru",
       "normalisation, label_smoothing"},
      {"torchscript", "a PyTorch module of your own, in builds with -DRUBATO_TORCH=ON", "module, label_smoothing"},
  });
  return models;
}

template <class Real>
std::shared_ptr<const Model<Real>> make_model(const ModelOptions& options, const Shape& shape, std::uint32_t classes) {
  if (is_linear(options.name)) return make_dense_model<Real>(linear_form(options, shape.size(), classes));
  if (is_perceptron(options.name)) return make_dense_model<Real>(perceptron_form(options, shape.size(), classes));
  if (is_network(options.name)) return make_named_network<Real>(options, shape, classes);
  if (options.name == "torchscript") {
    require_classes(options, classes);
    return make_torch_model<Real>({.module = options.module, .l2 = options.l2, .label_smoothing = options.label_smoothing}, shape,
                                  classes);
  }
  throw std::invalid_argument("model.name is \"" + options.name + "\"; allowed are " + joined(known_models(), &KnownModel::name));
}

std::optional<Index> parameters_of(const KnownModel& model, const Shape& shape, std::uint32_t classes) {
  ModelOptions options{.name = std::string(model.name), .hidden = model.hidden, .layers = model.layers};
  try {
    return make_model<float>(options, shape, classes)->dimension();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

template std::shared_ptr<const Model<float>> make_model(const ModelOptions&, const Shape&, std::uint32_t);
template std::shared_ptr<const Model<double>> make_model(const ModelOptions&, const Shape&, std::uint32_t);

}  // namespace rubato
