// Golden cases of a centre without rounds: what became of every order, in a world of tables.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/golden/script.hpp"
#include "runtime/protocols/async_server.hpp"

namespace rubato::golden {

/// Delays of the k-th message to each worker, and of its k-th answer; the last again and again, null: lost.
struct OrderDelays {
  std::vector<Json> down, up;

  /// Of the k-th in a row of the table; nothing: lost.
  static std::optional<Duration> at(const Json& row, std::size_t k);
};

/// Links that follow such tables, in the order in which they are asked.
class OrderChannel final : public Channel {
 public:
  OrderChannel(OrderDelays delays, ClientId centre)
      : delays_{std::move(delays)}, centre_{centre}, down_(delays_.down.size()), up_(delays_.up.size()) {}
  Fate carry(const LinkUse& use) const override;

 private:
  OrderDelays delays_;
  ClientId centre_;
  mutable std::vector<std::size_t> down_, up_;  // messages so far
};

/// Everything of such a world but the needs: `config` has m, centre, work, down and up.
std::unique_ptr<Timing> make_order_timing(const Json& config);

/// A trace whose records show the model of one client. All changes of that model are merges; the last of an event is that of what
/// the event's record tells.
class ModelTrace : public TraceObserver {
 public:
  void on_start() override { newest_ = probe(owner_, Time{}); }
  void on_merge(Time at, ClientId client, std::span<const StepEntry>) override {
    if (client != owner_) return;
    newest_ = probe(owner_, at);
    if (awaits_model_) models_.back().second = newest_;
  }

  /// Writes the models into the records.
  void complete(const ProbeTable& table) {
    for (const auto& [record, number] : models_) trace[record]["x"] = table.at(number, owner_).at("x");
  }
  Vector<double> last_model(const ProbeTable& table) const { return table.at(newest_, owner_).at("x"); }

 protected:
  explicit ModelTrace(ClientId owner) : owner_{owner} {}
  /// In the newest record; `changes`: merges of this event are still to come.
  void show_model(bool changes) {
    models_.push_back({trace.size() - 1, newest_});
    awaits_model_ = changes;
  }
  const ClientId owner_;

 private:
  std::vector<std::pair<std::size_t, std::uint64_t>> models_;  // record, probe
  std::uint64_t newest_ = 0;                                   // probe of the owner
  bool awaits_model_ = false;
};

/// How long the k-th job of a client takes; null: for ever.
std::vector<std::vector<Duration>> jobs_from(const Json& rows);

/// The parameters of a case as options of its algorithm.
Json order_parameters(const std::string& algorithm, Json config);

}  // namespace rubato::golden
