#include "web/live/marks.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace rubato::web {

namespace {

constexpr std::size_t most_kept = std::size_t{1} << 16;
constexpr std::size_t most_marks_sent = 20'000;

std::int32_t number_of(ClientId client) { return static_cast<std::int32_t>(client.value); }

MarkKind kind_of(Offer offer) {
  using enum MarkKind;
  constexpr MarkKind kinds[] = {kept, late, capped, duplicate, superseded};
  static_assert(std::size(kinds) == static_cast<std::size_t>(Offer::superseded) + 1);
  return kinds[static_cast<std::size_t>(offer)];
}

// Nothing: it is not told.
std::optional<MarkKind> kind_of(ChurnEvent::Kind kind) {
  using enum MarkKind;
  constexpr std::optional<MarkKind> kinds[] = {std::nullopt, heal, partition, leave, crash, std::nullopt, pause, go_on, come};
  static_assert(std::size(kinds) == static_cast<std::size_t>(ChurnEvent::Kind::come) + 1);
  return kinds[static_cast<std::size_t>(kind)];
}

}  // namespace

void MarkWatch::on_compute(Time at, ClientId client) {
  if (is_watched()) fresh_.add({at, at, number_of(client), 0, MarkKind::compute});
}

void MarkWatch::on_transmit(Time at, ClientId client, const Step* publish) {
  if (!publish || !is_watched()) return;
  fresh_.add({at, at, number_of(client), static_cast<std::int32_t>(publish->entries.size()), MarkKind::publish});
  for (const StepEntry& entry : publish->entries)
    if (entry.lost) fresh_.add({at, at, number_of(entry.peer), number_of(client), MarkKind::lost});
}

void MarkWatch::on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t) {
  if (is_watched()) fresh_.add({arrival.arrived, arrival.sent, number_of(receiver), number_of(arrival.id.sender), kind_of(offer)});
}

void MarkWatch::merged(Time at, Time opened, ClientId client, std::span<const StepEntry> used) {
  for (const StepEntry& entry : used)
    fresh_.add({at, at - entry.age, number_of(client), number_of(entry.peer), MarkKind::absorbed});
  fresh_.add({at, opened, number_of(client), static_cast<std::int32_t>(used.size()), MarkKind::merge});
}

void MarkWatch::on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) {
  if (is_watched()) merged(at, batch.empty() ? at : batch.front().arrived, client, used);
}

void MarkWatch::on_merge(Time at, ClientId client, std::span<const StepEntry> used) {
  if (is_watched()) merged(at, at, client, used);
}

void MarkWatch::happened(MarkKind kind, Time at, std::int32_t client) {
  if (is_watched()) fresh_.add({at, at, client, 0, kind});
  if (on_event_) on_event_(kind, at, client);
}

void MarkWatch::on_unify(Time at, std::uint64_t, ClientId hub) { happened(MarkKind::unification, at, number_of(hub)); }

void MarkWatch::on_churn(const ChurnEvent& event) {
  if (const auto kind = kind_of(event.kind)) happened(*kind, event.at, event.is_of_links() ? -1 : number_of(event.client));
}

std::uint64_t MarkWatch::collect() const {
  const std::lock_guard lock(mutex_);
  fresh_.take_all([this](const Mark& mark) { kept_.push_back(mark); });
  for (; kept_.size() > most_kept; ++first_) kept_.pop_front();
  return first_ + kept_.size();
}

std::string MarkWatch::frame(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = first_ + kept_.size();
  std::uint64_t first = std::clamp(from, first_, end);
  first = std::max(first, end - std::min<std::uint64_t>(end, most_marks_sent));
  const std::uint64_t left_out = first > from ? first - from : 0;
  std::string text = fmt::format(R"({{"type":"marks","first":{},"next":{},"dropped":{})", first, end, fresh_.dropped() + left_out);
  const auto begin = kept_.begin() + static_cast<std::ptrdiff_t>(first - first_);
  const auto add = [&](std::string_view name, auto read) {
    fmt::format_to(std::back_inserter(text), ",\"{}\":[", name);
    for (auto mark = begin; mark != kept_.end(); ++mark)
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}{}"), mark == begin ? "" : ",", read(*mark));
    text += ']';
  };
  add("kind", [](const Mark& mark) { return static_cast<int>(mark.kind); });
  add("at", [](const Mark& mark) { return to_seconds(mark.at); });
  add("client", [](const Mark& mark) { return mark.client; });
  add("other", [](const Mark& mark) { return mark.other; });
  add("since", [](const Mark& mark) { return to_seconds(mark.since); });
  return text + '}';
}

}  // namespace rubato::web
