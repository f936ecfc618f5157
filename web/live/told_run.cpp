#include "web/live/told_run.hpp"

#include <fmt/format.h>

#include <random>

#include "results/summary.hpp"
#include "runtime/words.hpp"

namespace rubato::web {

namespace {

// A random word that no other life of a run has.
std::string new_run_id() {
  std::random_device chance;
  return fmt::format("{:08x}{:08x}", chance(), chance());
}

}  // namespace

ToldRun::ToldRun(const LiveFacts& facts, const config::Experiment& experiment, std::int64_t seed, const ResultJson& more,
                 ResultJson columns, ResultJson mark_kinds)
    : hello_{{"type", "hello"},
             {"protocol", 1},
             {"run_id", new_run_id()},
             {"id", 0},
             {"kind", facts.kind},
             {"state", "running"},
             {"name", experiment.name},
             {"algorithm", experiment.algorithm.name},
             {"clock", rubato::word_of(experiment.clock)},
             {"until", experiment.until},
             {"clients", experiment.clients.count},
             {"seed", seed}} {
  hello_.update(more);
  hello_.update(ResultJson{{"command", facts.origin.command},
                           {"started_at", facts.origin.started_at},
                           {"machine", facts.origin.machine},
                           {"folder", facts.folder},
                           {"version", version()},
                           {"columns", std::move(columns)},
                           {"mark_kinds", std::move(mark_kinds)}});
}

void ToldRun::note(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  told_.add(seconds_, "note", "warn", "", sentence);
}

ResultJson ToldRun::hello() const {
  const std::lock_guard lock(mutex_);
  ResultJson hello = hello_;
  hello["state"] = state_;
  return hello;
}

std::string ToldRun::events(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  return told_.frame(from);
}

std::optional<std::string> ToldRun::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

ResultJson ToldRun::line_of(ResultJson seconds, ResultJson accuracy, ResultJson spark) const {
  return {{"id", 0},
          {"run_id", hello_["run_id"]},
          {"name", hello_["name"]},
          {"algorithm", hello_["algorithm"]},
          {"state", state_},
          {"seconds", std::move(seconds)},
          {"until", hello_["until"]},
          {"accuracy", std::move(accuracy)},
          {"spark", std::move(spark)},
          {"folder", hello_["folder"]},
          {"seed", hello_["seed"]}};
}

}  // namespace rubato::web
