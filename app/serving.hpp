// Serving: shows a run to browsers while it goes on, if that is asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "actors/run.hpp"
#include "app/commands.hpp"
#include "results/comparison_plan.hpp"
#include "web/live/live_comparison.hpp"
#include "web/live/live_run.hpp"
#include "web/live/server.hpp"

namespace rubato::app {

/// A server as the command line asks for it; says on standard error where it is, and the token that it wants, if any.
std::unique_ptr<web::LiveServer> open_server(const ServeArguments& arguments, std::vector<std::shared_ptr<web::RunSource>> runs);

class Serving {
 public:
  /// Without an address it does nothing. Throws std::invalid_argument where it cannot listen.
  Serving(const ServeArguments& arguments, const config::Experiment& experiment, const web::LiveFacts& facts);
  /// Says that the run has failed unless finish() was called; then pages have some seconds to hear of the end.
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  /// What the options tell is told to pages as well. Outlives the run.
  void watch(RunOptions& options);
  void watch(HostOptions& options);
  /// The models are scored, the folder is filled.
  void conclude(const config::Experiment& experiment, const RunResult& result);
  /// The folder is in its place; empty: there is none.
  void finish(int code, const std::filesystem::path& folder);

 private:
  std::shared_ptr<web::LiveRun> run_;
  std::unique_ptr<web::LiveServer> server_;
  ResultJson summary_;
};

/// The same of a comparison.
class ServingComparison {
 public:
  ServingComparison(const ServeArguments& arguments, const ComparisonPlan& plan, const Provenance& origin,
                    const std::filesystem::path& folder);
  ~ServingComparison();
  ServingComparison(const ServingComparison&) = delete;
  ServingComparison& operator=(const ServingComparison&) = delete;

  void advance(std::size_t finished, double share, double real_seconds) {
    if (comparison_) comparison_->advance(finished, share, real_seconds);
  }
  void note(const std::string& sentence) {
    if (comparison_) comparison_->note(sentence);
  }
  void finish(int code, const std::filesystem::path& folder);

 private:
  std::shared_ptr<web::LiveComparison> comparison_;
  std::unique_ptr<web::LiveServer> server_;
};

}  // namespace rubato::app
