#include "web/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "web/report.hpp"
#include "web/run_files.hpp"
#include "web/score_walk.hpp"

namespace rubato::web {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 4> cards{"accuracy", "loss", "consensus", "score"};
constexpr double width = 480, height = 260, left = 58, right = 96, top = 12, bottom = 36;  // points
constexpr const char *blue = "#2a6fc9", *orange = "#c9531b", *green = "#11845b", *red = "#c02f37", *violet = "#6a4fc4";

struct Line {
  std::string name;
  const char* paint;
  const char* dash;  // as stroke-dasharray; empty: none
  std::vector<double> values;
};

// From values to points.
struct Scale {
  double low, high, from, to;
  bool is_log = false;
  double operator()(double value) const {
    const auto f = [&](double v) { return is_log ? std::log10(v) : v; };
    return from + (f(value) - f(low)) / (f(high) - f(low)) * (to - from);
  }
};

std::vector<double> ticks_of(const Scale& scale, double wanted) {
  std::vector<double> ticks;
  if (scale.is_log) {
    for (double power = std::floor(std::log10(scale.low)); power <= std::ceil(std::log10(scale.high)); ++power)
      for (const double digit : {1.0, 3.0})
        if (const double at = digit * std::pow(10, power); at >= scale.low && at <= scale.high) ticks.push_back(at);
    return ticks;
  }
  const double raw = (scale.high - scale.low) / wanted, power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0})
    if ((scale.high - scale.low) / (factor * power) <= wanted) step = factor * power;
  for (double i = std::ceil(scale.low / step - 1e-9); i * step <= scale.high + step * 1e-9; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string text_at(double x, double y, std::string_view text, std::string_view anchor, std::string_view paint = "#333333") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y, anchor, paint,
                     escaped(text));
}

std::string stroke_of(double x1, double y1, double x2, double y2, std::string_view paint, std::string_view more = {}) {
  return fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" {}/>\n", x1, y1, x2, y2, paint,
                     more);
}

std::string framed(double high, std::string_view title, std::string_view inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"Helvetica, "
      "Arial, "
      "sans-serif\" font-size=\"10\">\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{3}</svg>\n",
      width, high, escaped(title), inside);
}

std::string path_of(const std::vector<double>& xs, const Line& line, const Scale& x, const Scale& y) {
  std::string path;
  bool is_drawing = false;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double value = line.values[i];
    if (!std::isfinite(value) || (y.is_log && value <= 0)) {
      is_drawing = false;
      continue;
    }
    path += fmt::format("{}{:.2f} {:.2f}", is_drawing ? "L" : "M", x(xs[i]), y(value));
    is_drawing = true;
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"{}\"/>\n", path,
                     line.paint, line.dash);
}

std::string plot(std::string_view title, const std::vector<double>& xs, const std::vector<Line>& lines, bool is_log,
                 bool is_share) {
  double low = INFINITY, high = -INFINITY;
  for (const Line& line : lines)
    for (const double value : line.values)
      if (std::isfinite(value) && (!is_log || value > 0)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  if (xs.empty() || !(low <= high)) throw std::invalid_argument(fmt::format("--svg {}: the run has measured nothing of it", title));
  if (low == high) high = low + (low == 0 ? 1 : std::abs(low));
  const Scale x{0, std::max(xs.back(), 1e-9), left, width - right}, y{low, high, height - bottom, top, is_log};
  std::string inside;
  for (const double tick : ticks_of(y, 5)) {
    inside += stroke_of(left, y(tick), width - right, y(tick), "#dddddd");
    inside += text_at(left - 5, y(tick) + 3.5,
                      is_share ? fmt::format("{:g} %", std::round(1000 * tick) / 10) : fmt::format("{:g}", tick), "end");
  }
  for (const double tick : ticks_of(x, 5)) inside += text_at(x(tick), height - bottom + 14, fmt::format("{:g}", tick), "middle");
  inside += text_at((left + width - right) / 2, height - 6, "seconds of the experiment", "middle");
  double label = -INFINITY;
  std::vector<std::pair<double, const Line*>> ends;
  for (const Line& line : lines) {
    inside += path_of(xs, line, x, y);
    const auto last =
        std::find_if(line.values.rbegin(), line.values.rend(), [&](double v) { return std::isfinite(v) && (!is_log || v > 0); });
    if (last != line.values.rend()) ends.emplace_back(y(*last), &line);
  }
  std::ranges::sort(ends, {}, &std::pair<double, const Line*>::first);
  for (const auto& [at, line] : ends) {
    label = std::max(at, label + 11);
    inside += text_at(width - right + 5, label + 3.5, line->name, "start", line->paint);
  }
  return framed(height, title, inside);
}

std::string curves(const fs::path& folder, std::string_view card) {
  const Table metrics(folder / "metrics.csv");
  const auto of = [&](std::string_view name) { return metrics.values_of(metrics.column(name)); };
  const std::vector<double> xs = of("seconds");
  if (card == "accuracy")
    return plot(card, xs,
                {{"clients, mean", blue, "", of("accuracy_mean")},
                 {"mean model", orange, "6 3", of("accuracy_mean_model")},
                 {"worst client", red, "2 2", of("accuracy_min")}},
                false, true);
  if (card == "loss")
    return plot(card, xs, {{"clients, mean", blue, "", of("loss_mean")}, {"mean model", orange, "6 3", of("loss_mean_model")}},
                false, false);
  return plot(card, xs, {{"consensus", violet, "", of("consensus")}}, true, false);
}

ScoredRun run_in(const fs::path& folder) {
  const auto summary = nlohmann::json::parse(text_of(folder / "summary.json"));
  ScoredRun run;
  run.is_virtual = summary.value("clock", "") == "virtual";
  run.seconds = summary.value("virtual_seconds", 0.0);
  run.dimension = summary.value("dimension", std::size_t{0});
  run.stopped_early = summary.value("stopped_early", false);
  run.timeline_digest = summary.value("timeline_digest", "");
  return run;
}

// A staff a client: computations, messages from departure to arrival, windows to their merge, what is lost half-way.
std::string score(const fs::path& folder, std::optional<std::pair<double, double>> stretch) {
  constexpr std::uint32_t most_staves = 25;
  const ScoredRun run = run_in(folder);
  const RunScore made = read_score(folder, run);
  const auto clients = std::min<std::uint32_t>(most_staves, static_cast<std::uint32_t>(made.by_client.size()));
  if (made.parts.empty() || clients == 0) throw std::invalid_argument("--svg score: the run left no record of its steps");
  const RunScore::Part& part = made.parts.front();
  const std::size_t usual = std::min<std::size_t>(part.computations.size(), 6 * made.by_client.size());
  const double until = usual == 0 ? run.seconds : to_seconds(part.computations[usual - 1].at);
  const auto [from, to] = stretch.value_or(std::pair{0.0, until});
  constexpr double staff = 18;
  const double high = top + staff * clients + bottom;
  const Scale x{from, to, left, width - 12};
  const auto y = [&](ClientId client) { return top + staff * (client.value + 0.5); };
  const auto is_shown = [&](ClientId client) { return client.value < clients; };
  const auto in = [&](Time at) { return to_seconds(at) >= from && to_seconds(at) <= to; };
  std::string inside;
  for (std::uint32_t i = 0; i < clients; ++i) {
    inside += stroke_of(left, y({i}), width - 12, y({i}), "#cccccc");
    inside += text_at(left - 5, y({i}) + 3.5, fmt::format("client {}", i), "end");
  }
  for (const RunScore::Event& event : made.events)
    if (in(event.at))
      inside += stroke_of(x(to_seconds(event.at)), top, x(to_seconds(event.at)), high - bottom, violet, "stroke-width=\"2\"");
  for (const RunScore::Message& message : part.messages) {
    const RunScore::Computation& sent = part.publications[message.publication];
    const bool is_lost = message.fate >= Ending::lost && message.fate <= Ending::absent;
    if (!in(sent.at) || !is_shown(sent.client) || !is_shown(message.receiver)) continue;
    const Time arrived = message.arrived != never ? message.arrived : message.ended;
    if (arrived == never && !is_lost) continue;
    const double x1 = x(to_seconds(sent.at)), y1 = y(sent.client), y2 = y(message.receiver);
    const double x2 = is_lost ? x1 + 6 : x(std::min(to, to_seconds(arrived)));
    const double reach = is_lost ? 0.5 : 1;
    inside += stroke_of(x1, y1, x2, y1 + reach * (y2 - y1), is_lost ? red : "#555555", "stroke-width=\"0.7\"");
    if (is_lost) inside += text_at(x2, y1 + 0.5 * (y2 - y1) + 3, "×", "middle", red);
    if (message.fate == Ending::merged && message.arrived != never && in(message.ended)) {
      const double x3 = x(to_seconds(message.ended));
      inside += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"6\" fill=\"{}\" fill-opacity=\"0.3\"/>\n",
                            x2, y2 - 3, std::max(0.3, x3 - x2), green);
      inside += stroke_of(x3, y2 - 4, x3, y2 + 4, green, "stroke-width=\"1.3\"");
    }
  }
  for (const RunScore::Computation& computation : part.computations)
    if (in(computation.at) && is_shown(computation.client)) {
      const double at = x(to_seconds(computation.at)), line = y(computation.client);
      inside += stroke_of(at, line - 5, at, line + 5, blue, "stroke-width=\"2\"");
    }
  for (const double tick : ticks_of(x, 6)) inside += text_at(x(tick), high - bottom + 14, fmt::format("{:g}", tick), "middle");
  inside += text_at((left + width) / 2, high - 6, "seconds of the experiment", "middle");
  return framed(high, "score", inside);
}

}  // namespace

std::string svg_card(const fs::path& folder, std::string_view card, std::optional<std::pair<double, double>> stretch) {
  if (std::ranges::find(cards, card) == cards.end())
    throw std::invalid_argument(fmt::format("--svg {}: must be one of {}", card, fmt::join(cards, ", ")));
  if (stretch && !(stretch->first >= 0 && stretch->first < stretch->second))
    throw std::invalid_argument("--stretch: must be two numbers FROM..TO, the first less than the second");
  return card == "score" ? score(folder, stretch) : curves(folder, card);
}

}  // namespace rubato::web
