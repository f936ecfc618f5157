// What clients did in a stretch of a run, from its record, as lines of text: a staff a client.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"

namespace rubato::app {

struct ScoreStretch {
  Time from{}, to{};
  std::vector<ClientId> clients;
  std::optional<Duration> window{};  ///< how long mailboxes collect; absent: that is not shown
};

/// "1.6..1.8", in seconds. Throws std::invalid_argument.
void set_stretch(const std::string& text, ScoreStretch& stretch);

/// Throws std::invalid_argument where the record cannot be read.
std::vector<std::string> score_text(const std::filesystem::path& record, const ScoreStretch& stretch, std::size_t columns,
                                    bool has_utf8);

}  // namespace rubato::app
