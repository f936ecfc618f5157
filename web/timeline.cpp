#include "web/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/world/churn.hpp"

namespace rubato::web {

namespace {

class Collector {
 public:
  Collector(const TimelineLimits& limits, std::uint32_t clients) : limits_{limits} {
    found_.clients = std::min(limits.clients, clients);
    if (limits.seconds > 0) found_.course.resize(limits.slices);
  }

  void add(const Step& step) {
    ++found_.steps;
    found_.end = is_ended_ ? found_.end : to_seconds(step.at);
    if (step.kind == StepKind::merge) add_ages(step);
    add_marks(step);
    is_ended_ = is_ended_ || marks_ >= limits_.marks;
  }

  Timeline take() { return std::move(found_); }

 private:
  bool is_shown(ClientId client) const { return client.value < found_.clients; }

  void add_ages(const Step& merge) {
    for (const StepEntry& entry : merge.entries) {
      const auto nanoseconds = static_cast<double>(entry.age.count());
      ++found_.ages[nanoseconds < 1 ? -1 : static_cast<int>(std::log2(nanoseconds) * 4)];
      if (!found_.course.empty()) add_to_course(to_seconds(merge.at), to_seconds(entry.age));
    }
  }

  void add_to_course(double at, double age) {
    const auto slice = static_cast<std::size_t>(std::max(0.0, at / limits_.seconds * static_cast<double>(limits_.slices)));
    Timeline::Staleness& staleness = found_.course[std::min(slice, limits_.slices - 1)];
    ++staleness.messages;
    staleness.sum += age;
    staleness.largest = std::max(staleness.largest, age);
  }

  void add_marks(const Step& step) {
    switch (step.kind) {
      case StepKind::compute:
        return mark(found_.computations, step, step.client);
      case StepKind::publish:
        return add_publication(step);
      case StepKind::merge:
        add_window(step);
        return add_messages(step);
      case StepKind::adopt:
        return add_messages(step);
      case StepKind::discard:
        for (const StepEntry& entry : step.entries) mark(found_.drops, step, entry.peer);
        return;
      default:
        return;
    }
  }

  void mark(std::vector<Timeline::Mark>& marks, const Step& step, ClientId other) {
    if (is_ended_ || !is_shown(step.client)) return;
    marks.push_back({to_seconds(step.at), step.client.value, other.value});
    ++marks_;
  }

  void add_publication(const Step& step) {
    // A unification concerns all clients, so it is kept even if the hub is not among the clients shown.
    if (is_hand_over(step))
      for (const StepEntry& entry : step.entries) mark(found_.hand_overs, step, entry.peer);
    if (step.message == MessageKind::model && !is_hand_over(step) && !is_ended_)
      found_.unifications.push_back({to_seconds(step.at), step.client.value, step.client.value});
    if (step.message == MessageKind::update) mark(found_.publications, step, step.client);
    for (const StepEntry& entry : step.entries)
      if (entry.lost) mark(found_.losses, step, entry.peer);
  }

  // What began before the end of the picture is kept even if it ends after it.
  void stretch(std::vector<Timeline::Stretch>& stretches, Time from, const Step& step, ClientId sender) {
    if (!is_shown(step.client) || !is_shown(sender) || to_seconds(from) > found_.end) return;
    stretches.push_back({to_seconds(from), to_seconds(step.at), sender.value, step.client.value});
    marks_ += is_ended_ ? 0 : 1;
  }

  void add_messages(const Step& step) {
    for (const StepEntry& entry : step.entries)
      if (entry.age > Duration{}) stretch(found_.messages, step.at - entry.age, step, entry.peer);
  }

  void add_window(const Step& merge) {
    if (limits_.window) stretch(found_.windows, opening_of(merge, *limits_.window), merge, merge.client);
  }

  const TimelineLimits& limits_;
  Timeline found_;
  std::size_t marks_ = 0;
  bool is_ended_ = false;
};

}  // namespace

RecordReader open_record(const std::filesystem::path& file) try {
  return RecordReader(file);
} catch (const std::runtime_error& error) {
  throw std::invalid_argument(error.what());
}

Time opening_of(const Step& merge, Duration window) {
  // No message arrives before it departed: this matters where a window is closed late, in wall time.
  Duration oldest{};
  for (const StepEntry& entry : merge.entries) oldest = std::max(oldest, entry.age);
  return merge.at - std::min(window, oldest);
}

Timeline read_timeline(const std::filesystem::path& record, const TimelineLimits& limits) {
  RecordReader reader = open_record(record);
  Collector collector(limits, reader.clients());
  std::uint64_t steps = 0;
  const Step* step = nullptr;
  while (steps < limits.steps && (step = reader.next())) {
    collector.add(*step);
    ++steps;
  }
  Timeline timeline = collector.take();
  timeline.was_read_whole = steps < limits.steps || !reader.next();
  timeline.is_incomplete = reader.is_incomplete();
  return timeline;
}

}  // namespace rubato::web
