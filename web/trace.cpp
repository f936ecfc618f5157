#include "web/trace.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>

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
  TraceWriter(std::ostream& out, const TraceSettings& settings) : out_{out}, settings_{settings} {
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
        return slice("compute", step.client, step.at, short_slice, number("index", step.index));
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

  void finish(bool is_whole, bool is_incomplete, std::uint32_t clients) {
    const Json facts = {{"experiment", settings_.experiment},
                        {"clients", clients},
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

  void event(const char* phase, const std::string& name, ClientId client, Time at, const std::string& rest) {
    out_ << ",\n{\"ph\":\"" << phase << "\",\"pid\":1,\"tid\":" << track(client)
         << ",\"ts\":" << microseconds(at.time_since_epoch()) << ",\"name\":\"" << name << "\"" << rest << "}";
  }

  void slice(const std::string& name, ClientId client, Time from, Duration length, const std::string& facts) {
    event("X", name, client, from, ",\"dur\":" + microseconds(length) + ",\"args\":{" + facts + "}");
  }

  void instant(const std::string& name, ClientId client, Time at, const char* scope, const std::string& facts) {
    event("i", name, client, at, std::string(",\"s\":\"") + scope + "\",\"args\":{" + facts + "}");
  }

  void name_track(ClientId client) {
    if (!named_.insert(client.value).second) return;
    const std::string start = ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + track(client) + ",\"name\":\"thread_";
    out_ << start << "name\",\"args\":{\"name\":\"client " << client.value << "\"}}" << start
         << "sort_index\",\"args\":{\"sort_index\":" << client.value << "}}";
  }

  void add_publication(const Step& step) {
    const bool is_unification = step.message == MessageKind::model && !is_hand_over(step);
    slice(is_unification       ? "unification"
          : is_hand_over(step) ? "hand-over"
                               : "publish",
          step.client, step.at, short_slice, number("index", step.index) + "," + number("receivers", step.entries.size()));
    if (is_unification) instant("unification", step.client, step.at, "g", number("index", step.index));
    for (const StepEntry& entry : step.entries) {
      published_[name_of(step.client, step.message, entry)] = step.at;
      if (entry.lost) instant("lost", step.client, step.at, "t", number("to", entry.peer.value));
    }
  }

  void add_merge(const Step& step) {
    if (settings_.window) {
      const Time opening = opening_of(step, *settings_.window);
      if (opening < step.at) slice("window", step.client, opening, step.at - opening, number("messages", step.entries.size()));
    }
    add_receipt(step, "merge");
  }

  void add_receipt(const Step& step, const char* name) {
    slice(name, step.client, step.at, short_slice, number("messages", step.entries.size()));
    for (const StepEntry& entry : step.entries) {
      const auto published = published_.find(name_of(entry.peer, step.message, entry));
      if (published == published_.end()) continue;
      const std::string id = R"(,"cat":"message","id":)" + std::to_string(++arrows_);
      event("s", "message", entry.peer, published->second, id);
      event("f", "message", step.client, step.at, id + R"(,"bp":"e")");
    }
  }

  void add_drop(const Step& step) {
    for (const StepEntry& entry : step.entries) {
      const bool is_late = settings_.deadline && entry.age > *settings_.deadline;
      instant(is_late ? "drop: late" : "drop", step.client, step.at, "t",
              number("from", entry.peer.value) + ",\"age_us\":" + microseconds(entry.age));
    }
  }

  // A viewer draws an arrow only from a slice: in real time a message leaves a little after its publication began.
  using MessageName = std::tuple<ClientId, MessageKind, std::uint16_t, Sequence>;
  static MessageName name_of(ClientId sender, MessageKind kind, const StepEntry& entry) {
    return {sender, kind, entry.incarnation, entry.sequence};
  }

  std::ostream& out_;
  const TraceSettings& settings_;
  std::map<MessageName, Time> published_;
  std::unordered_set<std::uint32_t> named_;
  std::uint64_t steps_ = 0, messages_ = 0, arrows_ = 0;
  Time last_{};
};

}  // namespace

void write_trace(const std::filesystem::path& record, const std::filesystem::path& trace, const TraceSettings& settings) {
  RecordReader reader = open_record(record);
  std::ofstream out(trace, std::ios::binary);
  TraceWriter writer(out, settings);
  const Step* step = reader.next();
  for (; step && !writer.is_full(); step = reader.next()) writer.add(*step);
  writer.finish(step == nullptr, reader.is_incomplete(), reader.clients());
  out.close();
  if (!out) throw RunFailed("cannot write " + trace.string() + ": " + std::strerror(errno));
}

}  // namespace rubato::web
