#include "web/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "results/result_text.hpp"
#include "results/run_result.hpp"
#include "runtime/world/churn.hpp"
#include "web/record_file.hpp"

namespace rubato::web {

namespace {

using Json = nlohmann::ordered_json;

// One nanosecond: slices of a track must not overlap in part, and no two instants of a run are closer.
constexpr Duration short_slice{1};

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace); }

// The format counts microseconds; three decimals keep every nanosecond.
std::string microseconds(Duration duration) {
  const std::string digits = std::to_string(std::abs(duration.count() % 1000));
  return std::to_string(duration.count() / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

// Viewers keep track 0 for themselves.
std::string track(ClientId client) { return std::to_string(client.value + std::uint64_t{1}); }

std::string number(const char* name, std::uint64_t value) { return std::string("\"") + name + "\":" + std::to_string(value); }

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const TraceSettings& settings, std::uint32_t clients)
      : out_{out}, settings_{settings}, clients_{clients} {
    out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
         << R"({"ph":"M","pid":1,"name":"process_name","args":{"name":)" << quoted(settings.experiment) << "}}";
  }

  bool is_full() const { return steps_ >= settings_.most_steps || messages_ >= settings_.most_messages; }

  void add(const Step& step) {
    ++steps_;
    messages_ += step.entries.size();
    last_ = step.at;
    name_track(step.client);
    switch (step.kind) {
      case StepKind::begin:  // happens with a computation; says nothing of its own
      case StepKind::measure:
        return;
      case StepKind::compute:
        return slice("compute", track(step.client), step.at, short_slice, number("index", step.index));
      case StepKind::publish:
        return add_publication(step);
      case StepKind::merge:
        return add_merge(step);
      case StepKind::adopt:
        return add_receipt(step, "adopt");
      case StepKind::discard:
        return add_drop(step);
      default:
        return instant(std::string(rubato::name_of(step.kind)), step.client, step.at, "t", number("index", step.index));
    }
  }

  void finish(bool is_whole, bool is_incomplete) {
    for (const TraceCounter& counter : settings_.counters)
      if (counter.at <= last_ && std::isfinite(counter.value)) count(counter.name, counter.at, shortest(counter.value));
    for (const TraceEvent& happened : settings_.events)
      if (happened.at <= last_) instant(happened.what, ClientId{0}, happened.at, "g", "");
    std::ranges::stable_sort(events_, {}, &Placed::at);
    std::int64_t under_way = 0;
    for (const Placed& placed : events_) {
      out_ << placed.text;
      if (placed.change == 0) continue;
      under_way += placed.change;
      out_ << counted("under way", placed.at, std::to_string(under_way));
    }
    const Json facts = {{"experiment", settings_.experiment},
                        {"clients", clients_},
                        {"steps", steps_},
                        {"until_seconds", to_seconds(last_)},
                        {"is_whole", is_whole && !is_incomplete},
                        {"note", note(is_whole, is_incomplete)}};
    out_ << "\n],\"otherData\":" << facts.dump(-1, ' ', true, Json::error_handler_t::replace) << "}\n";
  }

 private:
  std::string note(bool is_whole, bool is_incomplete) const {
    if (is_incomplete) return "the record ends early: it was cut at its limit or its end is damaged";
    if (is_whole) return "all steps of the record";
    return "the first " + std::to_string(steps_) + " steps of the record; later ones are left out to keep the trace small";
  }

  void event(const char* phase, const std::string& name, const std::string& on, Time at, const std::string& rest) {
    place(at, ",\n{\"ph\":\"" + std::string(phase) + "\",\"pid\":1,\"tid\":" + on +
                  ",\"ts\":" + microseconds(at.time_since_epoch()) + ",\"name\":\"" + name + "\"" + rest + "}");
  }

  void place(Time at, std::string text, int change = 0) { events_.push_back({at, std::move(text), change}); }

  static std::string counted(const char* name, Time at, const std::string& value) {
    return ",\n{\"ph\":\"C\",\"pid\":1,\"ts\":" + microseconds(at.time_since_epoch()) + ",\"name\":\"" + name +
           "\",\"args\":{\"value\":" + value + "}}";
  }
  void count(const char* name, Time at, const std::string& value) { place(at, counted(name, at, value)); }

  // A message from its departure to its end, as a slice that no track holds.
  void message(ClientId sender, ClientId receiver, Time from, Time to, const char* ending) {
    const std::string head = ",\n{\"cat\":\"message\",\"id\":\"m" + std::to_string(++messages_drawn_) +
                             "\",\"pid\":1,\"tid\":" + mailbox(receiver) + ",\"name\":\"" + std::to_string(sender.value) + " to " +
                             std::to_string(receiver.value) + ": " + ending + "\",\"ts\":";
    name_mailbox(receiver);
    place(from, head + microseconds(from.time_since_epoch()) + ",\"ph\":\"b\"}", 1);
    place(std::max(from, to), head + microseconds(std::max(from, to).time_since_epoch()) + ",\"ph\":\"e\"}", -1);
  }

  std::string mailbox(ClientId client) const { return std::to_string(std::uint64_t{clients_} + client.value + 1); }

  void name_mailbox(ClientId client) {
    if (named_mailboxes_.insert(client.value).second) name(mailbox(client), "mailbox ", client, 1);
  }

  void name(const std::string& on, const char* what, ClientId client, unsigned behind) {
    const std::string start = ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + on + ",\"name\":\"thread_";
    out_ << start << "name\",\"args\":{\"name\":\"" << what << client.value << "\"}}" << start
         << "sort_index\",\"args\":{\"sort_index\":" << 2 * std::uint64_t{client.value} + behind << "}}";
  }

  void slice(const std::string& name, const std::string& on, Time from, Duration length, const std::string& facts) {
    event("X", name, on, from, ",\"dur\":" + microseconds(length) + ",\"args\":{" + facts + "}");
  }

  void instant(const std::string& name, ClientId client, Time at, const char* scope, const std::string& facts) {
    event("i", name, track(client), at, std::string(",\"s\":\"") + scope + "\",\"args\":{" + facts + "}");
  }

  void name_track(ClientId client) {
    if (named_.insert(client.value).second) name(track(client), "client ", client, 0);
  }

  void add_publication(const Step& step) {
    const bool is_unification = step.message == MessageKind::model && !is_hand_over(step);
    slice(is_unification       ? "unification"
          : is_hand_over(step) ? "hand-over"
                               : "publish",
          track(step.client), step.at, short_slice, number("index", step.index) + "," + number("receivers", step.entries.size()));
    if (is_unification) instant("unification", step.client, step.at, "g", number("index", step.index));
    for (const StepEntry& entry : step.entries) {
      published_[name_of(step.client, step.message, entry)] = step.at;
      if (entry.lost) instant("lost", step.client, step.at, "t", number("to", entry.peer.value));
    }
  }

  void add_merge(const Step& step) {
    if (settings_.window) {
      Time& merged = merged_[step.client.value];  // a late alarm may have closed the window before a little late
      const Time opening = std::max(opening_of(step, *settings_.window), merged);
      merged = step.at;
      if (opening < step.at) {
        name_mailbox(step.client);
        slice("window", mailbox(step.client), opening, step.at - opening, number("messages", step.entries.size()));
      }
    }
    add_receipt(step, "merge");
  }

  void add_receipt(const Step& step, const char* name) {
    slice(name, track(step.client), step.at, short_slice, number("messages", step.entries.size()));
    for (const StepEntry& entry : step.entries) {
      const auto published = published_.find(name_of(entry.peer, step.message, entry));
      if (published == published_.end()) continue;
      const std::string id = R"(,"cat":"message","id":)" + std::to_string(++arrows_);
      event("s", "message", track(entry.peer), published->second, id);
      event("f", "message", track(step.client), step.at, id + R"(,"bp":"e")");
      message(entry.peer, step.client, published->second, step.at, name == std::string_view("adopt") ? "adopted" : "merged");
    }
  }

  void add_drop(const Step& step) {
    for (const StepEntry& entry : step.entries) {
      const bool is_late = settings_.deadline && entry.age > *settings_.deadline;
      instant(is_late ? "drop: late" : "drop", step.client, step.at, "t",
              number("from", entry.peer.value) + ",\"age_us\":" + microseconds(entry.age));
      const auto published = published_.find(name_of(entry.peer, step.message, entry));
      if (published != published_.end())
        message(entry.peer, step.client, published->second, step.at, is_late ? "late" : "refused or superseded");
    }
  }

  // A viewer draws an arrow only from a slice: in real time a message leaves a little after its publication began.
  using MessageName = std::tuple<ClientId, MessageKind, std::uint16_t, Sequence>;
  static MessageName name_of(ClientId sender, MessageKind kind, const StepEntry& entry) {
    return {sender, kind, entry.incarnation, entry.sequence};
  }

  struct Placed {
    Time at;
    std::string text;
    int change;  ///< of what is under way
  };

  std::ostream& out_;
  const TraceSettings& settings_;
  const std::uint32_t clients_;
  std::vector<Placed> events_;  // sorted at the end: a message is known when it is merged
  std::map<MessageName, Time> published_;
  std::unordered_set<std::uint32_t> named_, named_mailboxes_;
  std::map<std::uint32_t, Time> merged_;  // by client: its last merge
  std::uint64_t steps_ = 0, messages_ = 0, arrows_ = 0, messages_drawn_ = 0;
  Time last_{};
};

}  // namespace

void write_trace(const std::filesystem::path& record, const std::filesystem::path& trace, const TraceSettings& settings) {
  RecordReader reader = open_record(record);
  std::ofstream out(trace, std::ios::binary);
  TraceWriter writer(out, settings, reader.clients());
  const Step* step = reader.next();
  for (; step && !writer.is_full(); step = reader.next()) writer.add(*step);
  writer.finish(step == nullptr, reader.is_incomplete());
  out.close();
  if (!out) throw RunFailed("cannot write " + trace.string() + ": " + std::strerror(errno));
}

}  // namespace rubato::web
