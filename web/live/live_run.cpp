#include "web/live/live_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/file/experiment_file.hpp"
#include "experiment/roster.hpp"
#include "results/columns.hpp"
#include "results/summary.hpp"
#include "runtime/words.hpp"
#include "web/page_json.hpp"
#include "web/shown.hpp"

namespace rubato::web {

namespace {

constexpr std::size_t most_rows = 16'384, most_in_a_frame = 1000, most_of_spark = 32;
constexpr std::size_t many_clients = 100'000;  // a look at all of them takes more than a millisecond

const char* word_of_role(Role role) { return role == Role::axis ? "axis" : role == Role::measure ? "measure" : "none"; }

ResultJson row_of(const Sample& sample, double real_seconds) {
  ResultJson row = ResultJson::array();
  for (const SampleColumn& column : sample_columns()) row.push_back(page_number(to_double(column.read(sample))));
  row.push_back(real_seconds);
  return row;
}

template <class Rows>
std::string joined(const Rows& rows, std::size_t from, std::size_t end) {
  std::string text = "[";
  for (std::size_t i = from; i < end; ++i) text += (i > from ? "," : "") + rows[i];
  return text + "]";
}

ResultJson messages_json(const MessageCounts& counts, const std::optional<std::uint64_t>& under_way) {
  return {{"sent", counts.sent},
          {"delivered", counts.kept},
          {"late", counts.late},
          {"capped", counts.capped},
          {"superseded", counts.superseded},
          {"lost", counts.lost},
          {"lost_to_partition", counts.apart},
          {"lost_to_absence", counts.absent},
          {"duplicates", counts.duplicates},
          {"surplus", counts.surplus},
          {"stale", counts.stale},
          {"misshapen", counts.misshapen},
          {"under_way", under_way ? ResultJson(*under_way) : ResultJson(nullptr)}};
}

std::string text_of_value(const RunEvent::Value& value) {
  struct Say {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(double number) const { return fmt::format("{:.6g}", number); }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(const std::vector<std::string>& words) const { return fmt::format("{}", fmt::join(words, ", ")); }
  };
  return std::visit(Say{}, value);
}

const char* word_of_level(EventLevel level) {
  constexpr const char* words[] = {"error", "warn", "info", "debug"};
  return words[static_cast<std::size_t>(level)];
}

ResultJson or_null(const std::optional<double>& value) { return value ? page_number(*value) : ResultJson(nullptr); }

// Into a row of hosts(): what a host has told of its clients, `age` real seconds ago.
void describe(const std::optional<HostView>& view, double age, ResultJson& row) {
  for (const char* name : {"view_seconds", "view_age", "computations", "sent", "delivered", "scored_seconds", "measured",
                           "accuracy", "worst", "worst_client", "loss"})
    row[name] = nullptr;
  if (!view) return;
  row["view_seconds"] = page_number(view->seconds), row["view_age"] = page_number(age);
  row["computations"] = view->computations, row["sent"] = view->sent, row["delivered"] = view->delivered;
  if (!view->scores) return;
  const HostScores& scores = *view->scores;
  row["scored_seconds"] = page_number(scores.seconds), row["measured"] = scores.measured, row["loss"] = page_number(scores.loss);
  if (!scores.accuracy) return;
  row["accuracy"] = page_number(scores.accuracy->mean), row["worst"] = page_number(scores.accuracy->worst);
  row["worst_client"] = scores.accuracy->client.value;
}

ResultJson mark_kinds() {
  ResultJson kinds = ResultJson::array();
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(MarkKind::heal); ++kind) kinds.push_back(word_at(mark_words, kind));
  return kinds;
}

}  // namespace

ResultJson sample_columns_json() {
  ResultJson columns = ResultJson::array();
  for (const SampleColumn& column : sample_columns())
    columns.push_back({{"name", column.name},
                       {"title", column.curve.title.empty() ? column.meaning : column.curve.title},
                       {"unit", column.curve.unit},
                       {"role", word_of_role(column.curve.role)},
                       {"curve", column.curve.name}});
  columns.push_back({{"name", "real_seconds"}, {"title", "since the run began"}, {"unit", "s"}, {"role", "none"}, {"curve", ""}});
  return columns;
}

LiveRun::LiveRun(const config::Experiment& experiment, const LiveFacts& facts)
    : ToldRun(facts, experiment, experiment.seed,
              {{"host", facts.host}, {"hosts", host_names(experiment)}, {"toml", config::write_experiment(experiment)}},
              sample_columns_json(), mark_kinds()),
      until_{experiment.until},
      time_scale_{experiment.time_scale},
      clients_{static_cast<std::size_t>(experiment.clients.count)},
      marks_{[this](MarkKind kind, Time at, std::int32_t client) {
        const std::lock_guard lock(mutex_);
        told_.add(to_seconds(at), std::string(word_at(mark_words, static_cast<std::size_t>(kind))), "info", "", "", client);
      }},
      views_{host_names(experiment)} {}

void LiveRun::enter(const std::string& state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  ++revision_.ticks;
}

void LiveRun::advance(double seconds, double real_seconds, std::uint64_t events) {
  const std::lock_guard lock(mutex_);
  if (!has_begun_ || real_seconds == 0) began_at_ = seconds, began_real_ = real_seconds, began_events_ = events;
  has_begun_ = true;
  seconds_ = seconds, real_seconds_ = real_seconds, events_ = events;
  ++revision_.ticks;
}

void LiveRun::add(const Sample& sample) {
  const std::lock_guard lock(mutex_);
  rows_.push_back(page_text(row_of(sample, real_seconds_)));
  accuracies_.push_back(sample.is_classified ? sample.accuracy_mean : not_known);
  if (rows_.size() > most_rows) rows_.pop_front(), accuracies_.pop_front(), ++first_row_;
  sample_ = sample;
  ++revision_.samples, ++revision_.ticks;
}

void LiveRun::add(const Glance& glance) {
  const std::lock_guard lock(mutex_);
  glance_ = glance;
  ++revision_.ticks;
}

void LiveRun::add(const HostStatus& status) {
  constexpr const char* words[] = {"meeting", "running", "running", "scoring"};
  const std::lock_guard lock(mutex_);
  status_ = status;
  views_.add(hello_["host"].get<std::string>(), status);
  if (end_.empty()) state_ = words[static_cast<std::size_t>(status.state)];
  seconds_ = std::max(seconds_, status.seconds);
  ++revision_.hosts, ++revision_.ticks;
}

void LiveRun::add(const RunEvent& event) {
  std::string text;
  for (const auto& [name, value] : event.fields)
    text += (text.empty() ? "" : " ") + (name == "text" ? "" : name + "=") + text_of_value(value);
  const std::lock_guard lock(mutex_);
  told_.add(seconds_, event.event, word_of_level(event.level), event.host, text);
}

void LiveRun::finish(const std::string& state, const ResultJson& summary, std::optional<std::string> report) {
  const std::lock_guard lock(mutex_);
  if (revision_.is_over) return;
  state_ = state;
  report_ = std::move(report);
  end_ = page_text({{"type", "end"}, {"state", state}, {"summary", summary}, {"has_report", report_.has_value()}});
  revision_.is_over = true;
  ++revision_.ticks;
}

bool LiveRun::wants_glance() {
  if (!is_watched_.load(std::memory_order_relaxed)) return false;
  const Clock::time_point now = Clock::now();
  const auto between = clients_ > many_clients ? std::chrono::milliseconds(5000) : std::chrono::milliseconds(250);
  if (now - glanced_ < between) return false;
  glanced_ = now;
  return true;
}

void LiveRun::look(bool is_watched, bool marks_are_watched) {
  is_watched_.store(is_watched, std::memory_order_relaxed);
  marks_.watch(marks_are_watched);
}

Revision LiveRun::revision() const {
  const std::uint64_t marks = marks_.collect();
  const std::lock_guard lock(mutex_);
  Revision now = revision_;
  now.events = told_.count(), now.views = views_.count(), now.marks = marks;
  return now;
}

ResultJson LiveRun::tick() const {
  const std::lock_guard lock(mutex_);
  const double done = seconds_ - began_at_, passed = real_seconds_ - began_real_;
  const bool is_moving = !revision_.is_over && done > 0 && passed > 0;
  ResultJson tick = {{"type", "tick"},
                     {"state", state_},
                     {"seconds", seconds_},
                     {"until", until_},
                     {"real_seconds", real_seconds_},
                     {"events", events_},
                     {"events_per_second", passed > 0 ? static_cast<double>(events_ - began_events_) / passed : 0},
                     {"speed", is_moving ? ResultJson(done / passed) : ResultJson(nullptr)},
                     {"left_seconds", is_moving ? ResultJson(passed * (until_ - seconds_) / done) : ResultJson(nullptr)},
                     {"accuracy", accuracies_.empty() ? ResultJson(nullptr) : page_number(accuracies_.back())}};
  // The newer of the two knows more.
  const bool has_glance = glance_ && (!sample_ || glance_->at >= sample_->header.at);
  const MessageCounts counts = has_glance ? glance_->counts : sample_ ? sample_->header.counts : MessageCounts{};
  tick["messages"] = messages_json(counts, has_glance ? glance_->under_way : std::nullopt);
  tick["computations"] = counts.computations;
  tick["publications"] = counts.publications;
  tick["unifications"] = glance_ && glance_->unifications ? ResultJson(*glance_->unifications) : ResultJson(nullptr);
  tick["clients_present"] = glance_ ? ResultJson(glance_->present) : ResultJson(nullptr);
  tick["skipped_ticks"] = glance_ ? ResultJson(glance_->skipped) : ResultJson(nullptr);
  tick["staleness"] = nullptr;
  if (glance_ && glance_->staleness)
    tick["staleness"] = {{"count", glance_->staleness->count()},
                         {"mean", glance_->staleness->mean_seconds()},
                         {"p50", glance_->staleness->quantile_seconds(0.5)},
                         {"p95", glance_->staleness->quantile_seconds(0.95)}};
  return tick;
}

std::string LiveRun::samples(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  const std::size_t begin = std::min<std::size_t>(from > first_row_ ? from - first_row_ : 0, rows_.size());
  const std::size_t end = std::min(begin + most_in_a_frame, rows_.size());
  ResultJson head = {{"type", "samples"}, {"first", first_row_ + begin}, {"next", first_row_ + end}, {"more", end < rows_.size()}};
  ResultJson clients = ResultJson::array(), accuracies = ResultJson::array(), losses = ResultJson::array();
  if (sample_ && end == rows_.size())
    for (std::size_t i = 0; i < sample_->accuracies.size(); ++i) {
      clients.push_back(sample_->header.client(i).value);
      accuracies.push_back(sample_->is_classified ? page_number(sample_->accuracies[i]) : page_number(not_known));
      losses.push_back(page_number(sample_->losses[i]));
    }
  head["clients"] = std::move(clients), head["accuracies"] = std::move(accuracies), head["losses"] = std::move(losses);
  std::string text = page_text(head);
  text.pop_back();
  return text + ",\"rows\":" + joined(rows_, begin, end) + "}";
}

std::string LiveRun::hosts() const {
  const std::lock_guard lock(mutex_);
  ResultJson rows = ResultJson::array();
  if (status_) {
    rows.push_back({{"name", hello_["host"]},
                    {"self", true},
                    {"state", state_},
                    {"silent_seconds", 0},
                    {"clock_offset", 0},
                    {"clock_error", 0},
                    {"clients", status_->clients},
                    {"life", status_->life},
                    {"seconds", page_number(status_->seconds)}});
    describe(view_of(*status_), 0, rows.back());
    for (const PeerStatus& peer : status_->peers) {
      std::optional<double> heard_at;  // of the experiment
      if (peer.silent) heard_at = std::max(0.0, status_->seconds - *peer.silent * time_scale_);
      rows.push_back({{"name", peer.name},
                      {"self", false},
                      {"state", peer.state},
                      {"silent_seconds", or_null(peer.silent)},
                      {"clock_offset", or_null(peer.clock_offset)},
                      {"clock_error", or_null(peer.clock_error)},
                      {"clients", peer.clients},
                      {"life", peer.life},
                      {"seconds", or_null(heard_at)}});
      describe(peer.view, peer.view_age, rows.back());
    }
  }
  return page_text({{"type", "hosts"}, {"rows", std::move(rows)}});
}

std::string LiveRun::views(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  return views_.frame(from);
}

std::string LiveRun::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

ResultJson LiveRun::line() const {
  const std::lock_guard lock(mutex_);
  ResultJson spark = ResultJson::array();
  for (const std::size_t i : evenly(accuracies_.size(), most_of_spark)) spark.push_back(page_number(accuracies_[i]));
  return line_of(seconds_, accuracies_.empty() ? ResultJson(nullptr) : page_number(accuracies_.back()), std::move(spark));
}

RunNumbers LiveRun::numbers() const {
  const std::lock_guard lock(mutex_);
  RunNumbers numbers;
  for (const char* label : {"name", "algorithm", "clock", "host", "version", "kind", "run_id"})
    numbers.labels.emplace_back(label, hello_[label].get<std::string>());
  numbers.labels.emplace_back("seed", hello_["seed"].dump());
  numbers.labels.emplace_back("state", state_);
  numbers.seconds = seconds_, numbers.events = events_, numbers.has_failed = state_ == "failed";
  numbers.sample = sample_, numbers.glance = glance_;
  if (status_) numbers.peers = status_->peers;
  return numbers;
}

}  // namespace rubato::web
