#include "app/text/score_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>

#include "runtime/record.hpp"

namespace rubato::app {

namespace {

// Later ones are drawn over earlier ones.
enum class Sign : unsigned char { none, window, publication, lost, computation, merge, adoption };

std::string_view text_of_sign(Sign sign, bool has_utf8) {
  constexpr std::string_view drawn[] = {"─", "▒", "┬", "✕", "█", "M", "╫"}, plain[] = {"-", ":", "v", "x", "#", "M", "U"};
  return (has_utf8 ? drawn : plain)[static_cast<std::size_t>(sign)];
}

class Staves {
 public:
  Staves(const ScoreStretch& stretch, std::size_t columns) : stretch_{stretch}, columns_{columns} {
    for (std::size_t i = 0; i < stretch.clients.size(); ++i) row_of_[stretch.clients[i]] = i;
    signs_.assign(stretch.clients.size(), std::vector<Sign>(columns));
  }

  void add(const Step& step) {
    const auto row = row_of_.find(step.client);
    if (row == row_of_.end()) return;
    std::vector<Sign>& staff = signs_[row->second];
    const auto set = [&](Sign sign) {
      if (step.at >= stretch_.from) staff[column(step.at)] = std::max(staff[column(step.at)], sign);
    };
    if (step.kind == StepKind::compute) set(Sign::computation);
    if (step.kind == StepKind::adopt) set(Sign::adoption);
    if (step.kind == StepKind::publish)
      set(std::ranges::any_of(step.entries, [](const StepEntry& entry) { return entry.lost; }) ? Sign::lost : Sign::publication);
    if (step.kind != StepKind::merge) return;
    if (stretch_.window)
      for (std::size_t i = column(std::max(step.at - *stretch_.window, stretch_.from)); i < column(step.at); ++i)
        staff[i] = std::max(staff[i], Sign::window);
    set(Sign::merge);
  }

  std::string staff(std::size_t row, bool has_utf8) const {
    std::string text;
    for (const Sign sign : signs_[row]) text += text_of_sign(sign, has_utf8);
    return text;
  }

 private:
  std::size_t column(Time at) const {
    const double share = to_seconds(at - stretch_.from) / to_seconds(stretch_.to - stretch_.from);
    return std::min(static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns_)), columns_ - 1);
  }

  const ScoreStretch& stretch_;
  std::size_t columns_;
  std::map<ClientId, std::size_t> row_of_;
  std::vector<std::vector<Sign>> signs_;
};

}  // namespace

void set_stretch(const std::string& text, ScoreStretch& stretch) {
  const std::size_t dots = text.find("..");
  double from = 0, to = 0;
  const auto read = [&](std::string_view part, double& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && end == part.data() + part.size() && value >= 0 && value < 1e9;
  };
  const std::string_view whole = text;
  if (dots == text.npos || !read(whole.substr(0, dots), from) || !read(whole.substr(dots + 2), to) || from >= to)
    throw std::invalid_argument("--score " + text + ": must be two seconds of the experiment, as in 1.6..1.8");
  stretch.from = Time{from_seconds(from)}, stretch.to = Time{from_seconds(to)};
}

std::vector<std::string> score_text(const std::filesystem::path& record, const ScoreStretch& stretch, std::size_t columns,
                                    bool has_utf8) {
  constexpr std::size_t label = 13, least = 10;
  const std::size_t wide = std::max(columns > label ? columns - label : 0, least);
  Staves staves(stretch, wide);
  try {
    RecordReader reader(record);
    while (const Step* step = reader.next()) {
      if (step->at >= stretch.from && step->at <= stretch.to) staves.add(*step);
    }
  } catch (const std::runtime_error& fault) {
    throw std::invalid_argument(fault.what());
  }
  std::vector<std::string> lines;
  const std::string first = fmt::format("{:.6g} s", to_seconds(stretch.from)),
                    last = fmt::format("{:.6g} s", to_seconds(stretch.to));
  lines.push_back(std::string(label, ' ') + first + std::string(wide - std::min(wide, first.size() + last.size()), ' ') + last);
  for (std::size_t i = 0; i < stretch.clients.size(); ++i)
    lines.push_back(fmt::format("client {:<5} ", stretch.clients[i].value) + staves.staff(i, has_utf8));
  const auto sign = [&](Sign which) { return std::string(text_of_sign(which, has_utf8)); };
  lines.push_back(sign(Sign::computation) + " computation  " + sign(Sign::publication) + " publication  " + sign(Sign::lost) +
                  " one that a link loses in part");
  lines.push_back(sign(Sign::window) + " window  " + sign(Sign::merge) + " merge  " + sign(Sign::adoption) +
                  " takes the hub's model");
  return lines;
}

}  // namespace rubato::app
