// Networks of convolutions, normalisations, poolings and dense layers, from a list of layers in words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learning/choices.hpp"
#include "learning/model.hpp"
#include "learning/shape.hpp"

namespace rubato {

/// What `norm` stands for in a list of layers: over groups of channels of each sample (its groups are 8, or as many as
/// divide the channels), or over the batch, with running statistics among the parameters. Every number of a row is a channel.
/// A network from a sample's shape to the classes. A layer is a word with its numbers:
///   conv OUTPUTS KERNEL [stride S] [pad P | same]     maxpool SIZE [stride S] [pad P]     meanpool
///   dense OUTPUTS     relu     sigmoid     tanh       dropout CHANCE     norm             flatten
///   residual OUTPUTS [stride S] [project]     two 3x3 convolutions with norms and a shortcut around them, which is
///   thinned
///                                             out and filled with zeros where shapes differ, or a 1x1 convolution
///   signal     the first layer, of samples that are one row high: so are all windows
/// A dense layer to the classes follows the last of them. A convolution right before a norm has no bias.
struct NetworkSpec {
  std::vector<std::string> layers;
  Normalisation normalisation = Normalisation::group;
  double l2 = 0;
  double label_smoothing = 0;
  bool starts_xavier = false;  ///< else with He's normal weights; biases are 0, scales 1
};

/// Throws std::invalid_argument with the first layer that cannot be read or does not fit what is before it.
/// Batches of more rows than a fixed amount of memory allows are taken in blocks; with `batch` each has its own
/// statistics.
template <class Real>
std::shared_ptr<const Model<Real>> make_network(const NetworkSpec& spec, const Shape& input, std::uint32_t classes);

/// cnn_draco, cnn_depositum, cnn_kdpdfl, mlp_kdpdfl, resnet20, resnet18, resnet18_7x7, resnet_signal.
std::vector<std::string> network_presets();

/// The layers of a preset for samples of this shape. Throws std::invalid_argument for an unknown name.
std::vector<std::string> preset_layers(const std::string& name, const Shape& input);

}  // namespace rubato
