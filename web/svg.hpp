// Single pictures of a run as SVG, for papers: black and a few colours on white, vectors and text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rubato::web {

/// The picture of a run's folder: accuracy, loss, consensus or score. `stretch`: seconds of the experiment that the score shows;
/// absent: the first few computations of each client. Throws std::invalid_argument for another card, or where the folder lacks what
/// it needs.
std::string svg_card(const std::filesystem::path& folder, std::string_view card,
                     std::optional<std::pair<double, double>> stretch = {});

}  // namespace rubato::web
