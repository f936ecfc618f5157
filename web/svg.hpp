// Single pictures of a run as SVG, for papers: black and a few colours on white, vectors and text.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rubato::web {

/// Pictures that there are: accuracy, loss, consensus, score.
std::span<const std::string_view> svg_cards();

/// The picture of a run's folder. `stretch`: seconds of the experiment that the score shows; absent: the first few
/// computations of each client. Throws std::invalid_argument for another card, or where the folder lacks what it needs.
std::string svg_card(const std::filesystem::path& folder, std::string_view card,
                     std::optional<std::pair<double, double>> stretch = {});

}  // namespace rubato::web
