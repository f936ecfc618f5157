// Golden cases in continuous time: the event table of a case becomes timers, links and hubs of an ordinary run.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "app/golden/cases.hpp"
#include "app/golden/script.hpp"
#include "experiment/build/timing.hpp"

namespace rubato::golden {

/// A value, or nothing where the case says null or says nothing.
const Json* given(const Json& object, const char* key);

/// A link for every weight [receiver][sender] that is not zero.
void add_links(const Json& weights, std::size_t clients, std::set<Edge>& links);
/// These links and those of the matrices Q, A, B, W, P.
Graph to_graph(const Json& config, std::size_t clients, std::set<Edge> links);
/// The weights of the matrix [receiver][sender] by link.
std::vector<double> link_weights(const Json& matrix, const Graph& graph);
/// DRACO's: Q, or what q_norm says.
void set_weights(const Json& config, Timing& timing);
void set_hubs(const Json& hubs, Timing& timing);

/// Everything but weights and needs.
std::unique_ptr<Timing> make_timing(const Json& golden_case);

/// Messages as [sender, sequence].
Json batch_of(std::span<const Arrival> arrivals);
Json used_of(std::span<const StepEntry> entries);
/// The receivers whose links lose the message, and all of them.
Json lost_of(const Step& publish);

// The trace of the mailbox; vectors are asked for by whoever derives from it.
class Trace : public ScriptObserver {
 public:
  explicit Trace(bool has_cap) : has_cap_{has_cap} {}

  void on_period(Time at, std::uint64_t index) override { add(at, "period", {{"index", index}}); }
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens) override {
    static constexpr const char* reasons[] = {"", "deadline", "psi"};
    add(arrival.arrived, "arrival",
        {{"client", receiver.value},
         {"src", arrival.id.sender.value},
         {"seq", arrival.id.sequence},
         {"accepted", offer == Offer::kept},
         {"reason", offer == Offer::kept ? Json(nullptr) : Json(reasons[static_cast<int>(offer)])},
         {"tokens_left", has_cap_ ? Json(tokens) : Json(nullptr)}});
  }
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry>) override {
    if (!batch.empty()) add(at, "window_close", {{"client", client.value}, {"batch", batch_of(batch)}});
  }
  void on_transmit(Time at, ClientId client, const Step* publish) override {
    if (publish) add(at, "transmit", {{"client", client.value}, {"seq", publish->index}, {"lost", lost_of(*publish)}});
  }

  Json trace = Json::array();

 protected:
  void add(Time at, const char* event, Json fields) {
    fields["t"] = to_seconds(at);
    fields["ev"] = event;
    trace.push_back(std::move(fields));
  }

 private:
  bool has_cap_;
};

}  // namespace rubato::golden
