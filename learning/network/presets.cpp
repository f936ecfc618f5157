// The networks of the papers (docs/references.md#the-five-sources) as lists of layers.
#include <stdexcept>

#include "learning/network/network.hpp"

namespace rubato {

namespace {

using Layers = std::vector<std::string>;

// 149,194 parameters for 28 x 28 and 10 classes.
Layers cnn_draco() { return {"conv 16 5", "relu", "maxpool 2", "conv 32 5", "relu", "dense 64", "relu", "dense 64", "relu"}; }

// 268,362 parameters for 28 x 28 and 10 classes, 268,650 for three channels: every image is framed to 32 x 32.
Layers cnn_depositum(const Shape& input) {
  const Index frame = input.height < 32 ? (32 - input.height) / 2 : 0;
  return {"conv 16 3 pad " + std::to_string(frame + 1),
          "relu",
          "maxpool 2",
          "conv 32 3 same",
          "relu",
          "maxpool 2",
          "dense 128",
          "relu"};
}

// 970,847 parameters for 28 x 28 and 47 classes.
Layers cnn_kdpdfl() { return {"conv 32 5", "relu", "maxpool 2", "conv 64 5", "relu", "maxpool 2", "dense 857", "relu"}; }

// 39,769 parameters for 296 numbers and 9 classes, of which 592 of the normalisation; its 592 running statistics come on top.
Layers mlp_kdpdfl() { return {"norm", "dense 128", "relu"}; }

// Behind the first layers: `blocks` of each width, all but those of the first width at half the size, and a mean.
Layers resnet(Layers layers, const std::vector<int>& widths, int blocks, const std::string& shortcut) {
  for (std::size_t stage = 0; stage < widths.size(); ++stage)
    for (int block = 0; block < blocks; ++block) {
      const bool halves = stage > 0 && block == 0;
      layers.push_back("residual " + std::to_string(widths[stage]) + (halves ? " stride 2" + shortcut : ""));
    }
  layers.push_back("meanpool");
  return layers;
}

}  // namespace

std::vector<std::string> network_presets() {
  return {"cnn_draco", "cnn_depositum", "cnn_kdpdfl", "mlp_kdpdfl", "resnet20", "resnet18", "resnet18_7x7", "resnet_signal"};
}

std::vector<std::string> preset_layers(const std::string& name, const Shape& input) {
  if (name == "cnn_draco") return cnn_draco();
  if (name == "cnn_depositum") return cnn_depositum(input);
  if (name == "cnn_kdpdfl") return cnn_kdpdfl();
  if (name == "mlp_kdpdfl") return mlp_kdpdfl();
  if (name == "resnet20") return resnet({"conv 16 3 same", "norm", "relu"}, {16, 32, 64}, 3, "");
  if (name == "resnet18") return resnet({"conv 64 3 same", "norm", "relu"}, {64, 128, 256, 512}, 2, " project");
  // The first layers of He and others for large images: 11,181,642 parameters for three channels and 10 classes.
  if (name == "resnet18_7x7")
    return resnet({"conv 64 7 stride 2 pad 3", "norm", "relu", "maxpool 3 stride 2 pad 1"}, {64, 128, 256, 512}, 2, " project");
  // The same idea for signals such as the 300 numbers of a spectrum.
  if (name == "resnet_signal")
    return resnet({"signal", "conv 16 7 stride 2 pad 3", "norm", "relu", "maxpool 3 stride 2 pad 1"}, {16, 32, 64}, 2, " project");
  throw std::invalid_argument("there is no network \"" + name + "\"");
}

}  // namespace rubato
