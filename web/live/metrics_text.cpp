#include "web/live/metrics_text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "results/columns.hpp"
#include "results/summary.hpp"

namespace rubato::web {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Backslash, quote and line break are all that the format escapes.
std::string escaped_label(const std::string& value) {
  std::string text;
  for (const char letter : value) {
    if (letter == '\\' || letter == '"') text += '\\';
    letter == '\n' ? text += "\\n" : text += letter;
  }
  return text;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return shortest(value);
}

class Text {
 public:
  explicit Text(std::span<const RunNumbers> runs) : runs_{runs} {}

  /// A name with what it means; then each run adds its lines.
  using Add = std::function<void(const RunNumbers&)>;
  void family(const char* name, const char* type, const char* meaning, const Add& add) {
    name_ = name;
    const std::size_t before = text_.size();
    for (run_ = 0; run_ < runs_.size(); ++run_) add(runs_[run_]);
    if (text_.size() == before) return;
    text_.insert(before, std::string("# HELP ") + name + " " + meaning + "\n# TYPE " + name + " " + type + "\n");
  }
  void line(const Labels& labels, double value, const char* ending = "") {
    std::string list;
    const auto add = [&](const std::string& label, const std::string& text) {
      list += (list.empty() ? "" : ",") + label + "=\"" + escaped_label(text) + "\"";
    };
    if (runs_.size() > 1) add("run", std::to_string(run_));
    for (const auto& [label, text] : labels) add(label, text);
    text_ += name_ + ending + (list.empty() ? "" : "{" + list + "}") + " " + number_text(value) + "\n";
  }
  void line(double value) { line({}, value); }
  std::string take() { return std::move(text_); }

 private:
  std::span<const RunNumbers> runs_;
  std::size_t run_ = 0;
  std::string name_, text_;
};

// The newer of the two.
const MessageCounts* counts_of(const RunNumbers& run) {
  if (run.glance && (!run.sample || run.glance->at >= run.sample->header.at)) return &run.glance->counts;
  return run.sample ? &run.sample->header.counts : nullptr;
}

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return not_known;
  const auto place = static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::ranges::nth_element(values, values.begin() + place);
  return values[static_cast<std::size_t>(place)];
}

void add_messages(Text& text) {
  text.family("rubato_messages_total", "counter", "Messages by what became of them, to a receiver each; sent is all of them.",
              [&](const RunNumbers& run) {
                const MessageCounts* counts = counts_of(run);
                if (!counts) return;
                const std::pair<const char*, std::uint64_t> outcomes[] = {{"sent", counts->sent},
                                                                          {"delivered", counts->kept},
                                                                          {"late", counts->late},
                                                                          {"capped", counts->capped},
                                                                          {"superseded", counts->superseded},
                                                                          {"duplicate", counts->duplicates},
                                                                          {"surplus", counts->surplus},
                                                                          {"stale", counts->stale},
                                                                          {"misshapen", counts->misshapen},
                                                                          {"lost_by_link", counts->lost},
                                                                          {"lost_to_partition", counts->apart},
                                                                          {"lost_to_absence", counts->absent}};
                for (const auto& [outcome, number] : outcomes) text.line({{"outcome", outcome}}, static_cast<double>(number));
              });
}

void add_scores(Text& text) {
  text.family("rubato_accuracy", "gauge", "Accuracy on the test part at the newest sample, a share of 1.",
              [&](const RunNumbers& run) {
                if (!run.sample || !run.sample->is_classified) return;
                const Sample& sample = *run.sample;
                text.line({{"of", "mean_model"}, {"stat", "mean"}}, sample.accuracy_mean_model);
                text.line({{"of", "clients"}, {"stat", "mean"}}, sample.accuracy_mean);
                text.line({{"of", "clients"}, {"stat", "min"}}, sample.accuracy_min);
                if (sample.accuracies.empty()) return;
                for (const auto& [stat, share] : {std::pair{"p5", 0.05}, {"p50", 0.5}, {"p95", 0.95}, {"max", 1.0}})
                  text.line({{"of", "clients"}, {"stat", stat}}, quantile_of(sample.accuracies, share));
              });
  text.family("rubato_loss", "gauge", "Loss on the test part at the newest sample.", [&](const RunNumbers& run) {
    if (!run.sample) return;
    text.line({{"of", "clients"}}, run.sample->loss_mean);
    text.line({{"of", "mean_model"}}, run.sample->loss_mean_model);
  });
  text.family("rubato_consensus", "gauge", "Sum over clients of the squared distance to the mean of their models.",
              [&](const RunNumbers& run) {
                if (run.sample) text.line(run.sample->consensus);
              });
}

void add_costs(Text& text) {
  const auto of_sample = [&](const char* name, const char* meaning, double (*read)(const Sample&)) {
    text.family(name, "counter", meaning, [&text, read](const RunNumbers& run) {
      if (run.sample) text.line(read(*run.sample));
    });
  };
  of_sample("rubato_wire_bytes_total", "Bytes of what was sent: payloads, and 64 bytes a message.",
            [](const Sample& sample) { return static_cast<double>(wire_bytes(sample.traffic)); });
  of_sample("rubato_paper_bits_total", "Bits of what was sent, as papers count them.",
            [](const Sample& sample) { return sample.traffic.paper_bits; });
  of_sample("rubato_gradients_total", "Computations that had a gradient.",
            [](const Sample& sample) { return static_cast<double>(sample.traffic.gradients); });
  of_sample("rubato_joules_total", "Energy that the clients have spent, in joules.",
            [](const Sample& sample) { return sample.header.energy.joules(); });
}

// Bounds of the histogram of staleness, in seconds.
constexpr double bounds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100};

void add_glance(Text& text) {
  text.family("rubato_staleness_seconds", "histogram", "Age of the messages that were absorbed, in seconds of the experiment.",
              [&](const RunNumbers& run) {
                if (!run.glance || !run.glance->staleness) return;
                const DurationHistogram& ages = *run.glance->staleness;
                for (const double bound : bounds)
                  text.line({{"le", shortest(bound)}}, static_cast<double>(ages.count_up_to(from_seconds(bound))), "_bucket");
                text.line({{"le", "+Inf"}}, static_cast<double>(ages.count()), "_bucket");
                text.line({}, ages.sum_seconds(), "_sum");
                text.line({}, static_cast<double>(ages.count()), "_count");
              });
  const auto spread = [&](const char* name, const char* meaning, std::optional<OverClients> Glance::*part) {
    text.family(name, "gauge", meaning, [&text, part](const RunNumbers& run) {
      if (!run.glance || !((*run.glance).*part)) return;
      const OverClients& values = *((*run.glance).*part);
      text.line({{"stat", "mean"}}, values.mean);
      text.line({{"stat", "min"}}, values.min);
      text.line({{"stat", "max"}}, values.max);
    });
  };
  spread("rubato_mailbox_depth", "Messages that wait in a mailbox, over clients.", &Glance::waiting);
  spread("rubato_rate_ratio", "Computations by those that the clock asked for, over clients.", &Glance::pace);
  text.family("rubato_unifications_total", "counter", "Unifications that have taken place.", [&](const RunNumbers& run) {
    if (run.glance && run.glance->unifications) text.line(static_cast<double>(*run.glance->unifications));
  });
  text.family("rubato_messages_under_way", "gauge", "Updates between sender and receiver.", [&](const RunNumbers& run) {
    if (run.glance && run.glance->under_way) text.line(static_cast<double>(*run.glance->under_way));
  });
  text.family("rubato_clients_present", "gauge", "Clients that are there.", [&](const RunNumbers& run) {
    if (run.glance) text.line(static_cast<double>(run.glance->present));
  });
  text.family("rubato_skipped_ticks_total", "counter", "Compute ticks that found the computation before unfinished.",
              [&](const RunNumbers& run) {
                if (run.glance && run.glance->pace) text.line(static_cast<double>(run.glance->skipped));
              });
}

void add_hosts(Text& text) {
  text.family("rubato_host_up", "gauge", "1: the other host is present.", [&](const RunNumbers& run) {
    for (const PeerStatus& peer : run.peers) text.line({{"host", peer.name}}, peer.state == "present" ? 1 : 0);
  });
  text.family("rubato_host_silent_seconds", "gauge", "Real seconds since the other host was heard.", [&](const RunNumbers& run) {
    for (const PeerStatus& peer : run.peers)
      if (peer.silent) text.line({{"host", peer.name}}, *peer.silent);
  });
  text.family("rubato_clock_offset_seconds", "gauge", "How far the clock of the other host is ahead.", [&](const RunNumbers& run) {
    for (const PeerStatus& peer : run.peers)
      if (peer.clock_offset) text.line({{"host", peer.name}}, *peer.clock_offset);
  });
}

}  // namespace

std::string metrics_text(std::span<const RunNumbers> runs, const ServerCounts& server) {
  Text text(runs);
  text.family("rubato_run_info", "gauge", "What the run is.", [&](const RunNumbers& run) { text.line(run.labels, 1); });
  text.family("rubato_experiment_seconds", "gauge", "How far the run has come, in seconds of the experiment.",
              [&](const RunNumbers& run) {
                if (!run.compared) text.line(run.seconds);
              });
  text.family("rubato_events_total", "counter", "Events of the timing: ticks, arrivals, closings of windows.",
              [&](const RunNumbers& run) {
                if (!run.compared) text.line(static_cast<double>(run.events));
              });
  text.family("rubato_steps_total", "counter", "Steps that clients began, by kind.", [&](const RunNumbers& run) {
    const MessageCounts* counts = counts_of(run);
    if (!counts) return;
    text.line({{"kind", "compute"}}, static_cast<double>(counts->computations));
    text.line({{"kind", "publish"}}, static_cast<double>(counts->publications));
  });
  add_messages(text), add_costs(text), add_scores(text), add_glance(text), add_hosts(text);
  text.family("rubato_compared_runs", "gauge", "Runs of a comparison.", [&](const RunNumbers& run) {
    if (!run.compared) return;
    text.line({{"state", "finished"}}, static_cast<double>(run.compared->first));
    text.line({{"state", "planned"}}, static_cast<double>(run.compared->second));
  });
  std::string all = text.take();
  const RunNumbers none;  // of the server itself, whatever its runs
  Text own({&none, 1});
  own.family("rubato_view_dropped_total", "counter", "Frames and marks that a page was too slow for.",
             [&](const RunNumbers&) { own.line(static_cast<double>(server.dropped)); });
  own.family("rubato_viewers", "gauge", "Pages that are connected.",
             [&](const RunNumbers&) { own.line(static_cast<double>(server.viewers)); });
  own.family("rubato_http_requests_total", "counter", "Requests to this server, by status.", [&](const RunNumbers&) {
    for (const auto& [status, number] : server.replies) own.line({{"code", std::to_string(status)}}, static_cast<double>(number));
  });
  return all + own.take();
}

}  // namespace rubato::web
