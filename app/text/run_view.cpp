#include "app/text/run_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/text/fitted_line.hpp"
#include "app/text/text_plot.hpp"
#include "runtime/printable.hpp"

namespace rubato::app {

namespace {

using Json = nlohmann::json;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view green = "\x1b[32m", blue = "\x1b[34m", red = "\x1b[31m";

double number(const Json& value) { return value.is_number() ? value.get<double>() : unknown; }

double number(const Json& object, const char* name) { return object.contains(name) ? number(object[name]) : unknown; }

std::string word(const Json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? printable(object[name].get<std::string>()) : "";
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }

std::string seconds_text(double seconds) { return std::isfinite(seconds) ? fmt::format("{:.4g} s", seconds) : "-"; }

std::string share_of(double part, double whole) {
  return std::isfinite(part) && whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

// What is too wide goes on in the next line, cut between words.
std::vector<std::string> wrapped(const std::vector<std::string>& words, std::size_t columns, const std::string& between) {
  std::vector<std::string> lines{""};
  for (const std::string& each : words) {
    std::string& last = lines.back();
    if (!last.empty() && columns_of(last) + columns_of(between) + columns_of(each) > columns)
      lines.push_back(cut(each, columns));
    else
      last += (last.empty() ? "" : between) + cut(each, columns);
  }
  return lines;
}

struct Measure {
  const char* title;
  std::vector<std::string> columns;
};

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all{
      {"accuracy: mean of clients, mean model, worst client", {"accuracy_mean", "accuracy_mean_model", "accuracy_min"}},
      {"loss: mean of clients, mean model", {"loss_mean", "loss_mean_model"}},
      {"consensus distance", {"consensus"}},
      {"messages lost", {"messages_lost"}}};
  return all;
}

}  // namespace

std::string RunView::target(const std::string& path) const {
  return "/api/v1/" + path + (path.find('?') == path.npos ? "?" : "&") + "run=" + std::to_string(run_);
}

void RunView::refresh() {
  const Json hello = Json::parse(fetch_(target("run")));
  if (hello.value("run_id", "") != hello_.value("run_id", "")) rows_.clear(), events_.clear(), next_row_ = next_event_ = 0;
  hello_ = hello;
  tick_ = Json::parse(fetch_(target("tick")));
  hosts_ = Json::parse(fetch_(target("hosts")));
  bool has_more = true;
  while (has_more) {
    const std::string after = next_row_ > 0 ? "samples?after=" + std::to_string(next_row_ - 1) : "samples";
    newest_ = Json::parse(fetch_(target(after)));
    for (const Json& row : newest_["rows"]) {
      rows_.emplace_back();
      for (const Json& value : row) rows_.back().push_back(number(value));
    }
    next_row_ = newest_.value("next", next_row_);
    has_more = newest_.value("more", false) && !newest_["rows"].empty();
  }
  const Json events = Json::parse(fetch_(target(next_event_ > 0 ? "events?after=" + std::to_string(next_event_ - 1) : "events")));
  for (const Json& event : events["rows"]) events_.push_back(event);
  next_event_ = events.value("next", next_event_);
  constexpr std::size_t most_events = 100;
  if (events_.size() > most_events) events_.erase(events_.begin(), events_.end() - most_events);
}

bool RunView::is_over() const {
  const std::string state = word(tick_, "state");
  return state == "complete" || state == "stopped" || state == "failed";
}

bool RunView::has(const std::string& name) const {
  const std::vector<double> values = column(name);
  return std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
}

std::vector<double> RunView::column(const std::string& name) const {
  std::size_t place = 0;
  const Json& columns = hello_["columns"];
  while (place < columns.size() && columns[place]["name"] != name) ++place;
  std::vector<double> values;
  if (place == columns.size()) return values;
  for (const std::vector<double>& row : rows_) values.push_back(place < row.size() ? row[place] : unknown);
  return values;
}

double RunView::newest(const std::string& name) const {
  const std::vector<double> values = column(name);
  return values.empty() ? unknown : values.back();
}

std::string RunView::line(std::size_t columns) const {
  const double at = number(tick_, "seconds"), until = number(tick_, "until");
  const std::vector<LinePart> parts{
      {.text = word(hello_, "name"), .leaves = Leaves::earlier},
      {.text = word(tick_, "state"), .leaves = Leaves::early},
      {.text = fmt::format("{:.0f} of {:.0f} s", std::isfinite(at) ? at : 0, std::isfinite(until) ? until : 0)},
      {.text = "accuracy " + percent(newest("accuracy_mean")), .brief = percent(newest("accuracy_mean"))}};
  return fitted(parts, columns, false);
}

std::vector<std::string> RunView::head(const ViewSize& size) const {
  constexpr std::size_t bar_columns = 20;
  const double at = number(tick_, "seconds"), until = number(tick_, "until"), share = number(tick_, "share");
  const double done = std::isfinite(share) ? share : until > 0 && std::isfinite(at) ? at / until : 0;
  const double left = number(tick_, "left_seconds"), rate = number(tick_, "events_per_second");
  std::vector<LinePart> parts{{.text = word(hello_, "name"), .leaves = Leaves::earlier},
                              {.text = word(tick_, "state")},
                              {.text = bar(done, bar_columns, size.has_utf8), .leaves = Leaves::early, .colour = blue},
                              {.text = fmt::format("{:.0f} %", 100 * done), .brief = fmt::format("{:.0f}%", 100 * done)}};
  if (std::isfinite(share))
    parts.push_back({.text = fmt::format("{:.0f} of {:.0f} runs finished", number(tick_, "finished"), number(tick_, "runs"))});
  else
    parts.push_back({.text = fmt::format("{:.0f} of {:.0f} s", std::isfinite(at) ? at : 0, until),
                     .brief = fmt::format("{:.0f}/{:.0f} s", std::isfinite(at) ? at : 0, until)});
  if (rate > 0) parts.push_back({.text = counted_text(rate) + " events/s", .leaves = Leaves::first});
  if (std::isfinite(left)) parts.push_back({.text = clock_text(left) + " left", .leaves = Leaves::at_last});
  std::vector<std::string> lines{fitted(parts, size.columns, size.has_colour)};
  std::vector<std::string> words;
  if (has("accuracy_mean"))
    words = {"accuracy " + percent(newest("accuracy_mean")),
             fmt::format("worst {} client {:.0f}", percent(newest("accuracy_min")), newest("accuracy_min_client")),
             "mean model " + percent(newest("accuracy_mean_model"))};
  if (has("loss_mean")) words.push_back(fmt::format("loss {:.4g}", newest("loss_mean")));
  if (has("consensus")) words.push_back(fmt::format("consensus {:.4g}", newest("consensus")));
  for (std::string& each : wrapped(words, size.columns, ", ")) lines.push_back(std::move(each));
  if (tick_.contains("messages")) {
    const Json& messages = tick_["messages"];
    const double sent = number(messages, "sent");
    const auto part = [&](const char* name) {
      const double value = number(messages, name);
      return std::isfinite(sent) ? share_of(value, sent) : counted_text(std::isfinite(value) ? value : 0);
    };
    words = {std::isfinite(sent) ? "messages " + counted_text(sent) : std::string("messages"), "delivered " + part("delivered")};
    for (const auto& [name, text] : {std::pair{"lost", "lost"},
                                     {"lost_to_partition", "lost to a partition"},
                                     {"lost_to_absence", "for absent clients"},
                                     {"late", "late"},
                                     {"capped", "capped"},
                                     {"superseded", "superseded"}})
      if (number(messages, name) > 0) words.push_back(std::string(text) + " " + part(name));
    if (tick_["staleness"].is_object())
      words.push_back(fmt::format("age {} (95 % below {})", seconds_text(number(tick_["staleness"], "mean")),
                                  seconds_text(number(tick_["staleness"], "p95"))));
    for (std::string& each : wrapped(words, size.columns, ", ")) lines.push_back(std::move(each));
  }
  const double clients = number(hello_, "clients"), present = number(tick_, "clients_present");
  if (word(hello_, "kind") == "folder" && present < clients)  // a host at work tells of its own clients alone
    lines.push_back(
        cut(sentence_about_absence(static_cast<std::size_t>(present), static_cast<std::size_t>(clients)), size.columns));
  return lines;
}

std::string sentence_about_absence(std::size_t there, std::size_t clients) {
  return fmt::format("the results are of {} of {} clients, the others were absent at the end", there, clients);
}

std::vector<std::string> RunView::plot(const std::vector<std::string>& columns, const std::string& title, const ViewSize& size,
                                       std::size_t rows) const {
  constexpr std::string_view colours[] = {green, blue, red};
  TextPlot plot{.title = title, .xs = column("seconds"), .lines = {}, .y_text = {}, .x_text = seconds_text};
  const bool is_share = columns.front().starts_with("accuracy");
  plot.y_text = is_share ? percent : [](double value) { return fmt::format("{:.3g}", value); };
  for (std::size_t i = 0; i < columns.size(); ++i) plot.lines.push_back({column(columns[i]), colours[i % 3]});
  return drawn(plot, size.columns, rows, size.has_utf8, size.has_colour);
}

// The clients of the newest sample, the worst first.
std::vector<std::string> RunView::worst(std::size_t columns) const {
  const Json& clients = newest_["clients"];
  const Json& scores = has("accuracy_mean") ? newest_["accuracies"] : newest_["losses"];
  std::vector<std::pair<double, std::uint64_t>> order;
  for (std::size_t i = 0; i < std::min(clients.size(), scores.size()); ++i)
    order.emplace_back(has("accuracy_mean") ? number(scores[i]) : -number(scores[i]), clients[i].get<std::uint64_t>());
  if (order.empty()) return {};
  std::ranges::sort(order);
  std::vector<std::string> words;
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
    words.push_back(has("accuracy_mean") ? fmt::format("{}: {}", order[i].second, percent(order[i].first))
                                         : fmt::format("{}: {:.4g}", order[i].second, -order[i].first));
  words.front() = "worst clients  " + words.front();
  return wrapped(words, columns, "  ");
}

std::vector<std::string> RunView::hosts() const {
  std::vector<std::string> lines;
  for (const Json& host : hosts_["rows"]) {
    std::string line = fmt::format("host {:<12} {}", word(host, "name"), word(host, "state"));
    const double silent = number(host, "silent_seconds");
    if (silent >= 1) line += fmt::format(", silent for {:.1f} s", silent);
    if (const double accuracy = number(host, "accuracy"); std::isfinite(accuracy))
      line += fmt::format(", accuracy {}, worst {} of client {:.0f}", percent(accuracy), percent(number(host, "worst")),
                          number(host, "worst_client"));
    if (const double age = number(host, "view_age"); age > 3) line += fmt::format(" ({:.0f} s ago)", age);
    if (std::isfinite(number(host, "clock_error")) && !host.value("self", false))
      line += fmt::format(", clock {:+.3f} ms +- {:.3f} ms", 1e3 * number(host, "clock_offset"), 1e3 * number(host, "clock_error"));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> RunView::events(std::size_t most) const {
  std::vector<std::string> lines;
  for (std::size_t i = events_.size(); i-- > 0 && lines.size() < most;) {
    const Json& event = events_[i];
    std::string line = fmt::format("{:>10}  {}", seconds_text(number(event, "seconds")), word(event, "what"));
    for (const Json& client : event["clients"]) line += fmt::format(" client {}", client.get<std::uint64_t>());
    if (!word(event, "host").empty()) line += " host " + word(event, "host");
    if (!word(event, "text").empty()) line += " " + word(event, "text");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> RunView::page(const ViewSize& size) const {
  std::vector<std::string> lines = head(size);
  const auto add = [&](std::vector<std::string> more, bool is_plain = true) {
    for (std::string& each : more) lines.push_back(is_plain ? cut(each, size.columns) : std::move(each));
  };
  const std::vector<std::string> of_hosts = hosts(), of_clients = worst(size.columns);
  constexpr std::size_t few_events = 5, least_plot = 6;
  const std::size_t taken = lines.size() + of_hosts.size() + of_clients.size();
  const std::size_t of_events = std::min(few_events, events_.size());
  const std::size_t left = size.rows > taken + of_events + 1 ? size.rows - taken - of_events - 1 : 0;
  std::vector<const Measure*> shown;
  for (const Measure& measure : measures())
    if (has(measure.columns.front())) shown.push_back(&measure);
  if (!shown.empty() && left >= least_plot) {
    const Measure& first = *shown[measure_ % shown.size()];
    const bool has_two = left >= 3 * least_plot && shown.size() > 1;
    add(plot(first.columns, first.title, size, has_two ? left / 2 : left), false);
    if (has_two) {
      const Measure& second = *shown[(measure_ + (shown.size() > 2 ? 2 : 1)) % shown.size()];
      add(plot(second.columns, second.title, size, left - left / 2), false);
    }
  }
  add(of_clients);
  add(of_hosts);
  add(events(of_events));
  if (lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

}  // namespace rubato::app
