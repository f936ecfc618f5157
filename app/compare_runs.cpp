#include "app/compare_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "actors/run.hpp"

namespace rubato {

namespace {

using Clock = std::chrono::steady_clock;

// How far a run is in what will end it first.
double share_of(const Progress& progress, const CurvePoint& newest, const config::Experiment& experiment) {
  double share = progress.virtual_seconds / experiment.until;
  if (experiment.budget.bits) share = std::max(share, newest["bits"] / *experiment.budget.bits);
  if (experiment.budget.gradients) share = std::max(share, newest["gradients"] / *experiment.budget.gradients);
  return std::min(share, 1.0);
}

class RunPool {
 public:
  RunPool(const ComparisonPlan& plan, const ComparisonOptions& options)
      : plan_{plan}, options_{options}, shares_(plan.settings.size() * plan.seeds), refused_(plan.settings.size()) {
    comparison_.first_seed = plan.first_seed;
    comparison_.seeds = plan.seeds;
    for (const ComparedSetting& setting : plan.settings) comparison_.outcomes.push_back({setting, {}, {}});
  }

  Comparison perform() {
    {
      std::vector<std::jthread> workers;
      const std::size_t count = std::min<std::size_t>(options_.threads, shares_.size());
      for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
    }
    if (fault_) std::rethrow_exception(fault_);
    for (std::size_t i = 0; i < refused_.size(); ++i) sort_out(refused_[i], comparison_.outcomes[i]);
    refuse_if_none_is_possible();
    for (ComparedOutcome& outcome : comparison_.outcomes) std::ranges::sort(outcome.runs, {}, &ComparedRun::seed);
    return std::move(comparison_);
  }

 private:
  bool is_ending() const { return is_refused_ || (options_.stop && options_.stop->load()); }

  // Job after job: setting by setting, then the next seed.
  void work() {
    for (std::size_t job = next_++; job < shares_.size(); job = next_++) {
      if (is_ending()) {
        const std::lock_guard lock(mutex_);
        comparison_.was_stopped = true;
        return;
      }
      try {
        perform(job);
      } catch (...) {  // it would end the program on this thread
        const std::lock_guard lock(mutex_);
        if (!fault_) fault_ = std::current_exception();
        is_refused_ = true;
      }
    }
  }

  void perform(std::size_t job) {
    const std::size_t setting = job % plan_.settings.size();
    if (!plan_.settings[setting].refusal.empty()) return update([&] { finish(job); });
    config::Experiment experiment = plan_.settings[setting].experiment;
    experiment.seed = plan_.first_seed + static_cast<std::int64_t>(job / plan_.settings.size());
    ComparedRun run{.seed = experiment.seed, .curve = {}, .digests = {}};
    std::atomic<bool> stop{false};
    CurvePoint newest = point_of({});
    RunOptions options;
    options.data_dir = options_.data_dir;
    options.stop = &stop;
    options.keeps_samples = false;  // the curve has them
    options.on_note = [&](const std::string& note) { say(setting, note); };
    options.on_sample = [&](const Sample& sample) {
      newest = point_of(sample);
      run.has_spent = run.has_spent || is_beyond(newest, experiment.budget);
      if (run.has_spent)
        stop = true;
      else
        run.curve.push_back(newest);
    };
    options.on_progress = [&](const Progress& progress) {
      if (is_ending()) stop = true;
      update([&] { shares_[job] = share_of(progress, newest, experiment); });
    };
    try {
      const RunResult result = rubato::run(experiment, options);
      if (!result.was_stopped) run.digests = result.digests;
      for (const std::string& note : result.notes) say(setting, note);  // those of its end, too
      run.diverged_at = result.diverged_at();
      if (result.stopped_by == "metrics.stop_on_nan")
        throw RunFailed(fmt::format("diverged at {:g} s, and metrics.stop_on_nan ended it", run.diverged_at.value_or(0)));
      const bool is_whole = !result.was_stopped || run.has_spent;
      if (run.has_spent && run.curve.empty())
        say(setting, "the budget is spent before the first sample: measure more often, or allow more");
      update([&] {
        finish(job);
        if (is_whole)
          comparison_.outcomes[setting].runs.push_back(std::move(run));
        else
          comparison_.was_stopped = true;
      });
    } catch (const RunFailed& failure) {
      update([&] {
        finish(job);
        comparison_.outcomes[setting].failures.push_back("seed " + std::to_string(experiment.seed) + ": " + failure.what());
      });
    } catch (const std::invalid_argument& fault) {
      update([&] {
        finish(job);
        refused_[setting][experiment.seed] = fault.what();
      });
    }
  }

  // Refused with every seed: the setting is. With some of them: those runs are.
  static void sort_out(const std::map<std::int64_t, std::string>& refused, ComparedOutcome& outcome) {
    if (refused.empty()) return;
    if (outcome.runs.empty() && outcome.failures.empty())
      outcome.setting.refusal = refused.begin()->second;
    else
      for (const auto& [seed, sentence] : refused) outcome.failures.push_back("seed " + std::to_string(seed) + ": " + sentence);
  }

  void refuse_if_none_is_possible() const {
    std::string all;
    for (const ComparedOutcome& outcome : comparison_.outcomes) {
      if (outcome.setting.refusal.empty()) return;
      all += (all.empty() ? "" : "\n") + outcome.setting.label + ": " + outcome.setting.refusal;
    }
    throw std::invalid_argument(all);
  }

  void say(std::size_t setting, const std::string& note) {
    const std::lock_guard lock(mutex_);
    const std::string text = plan_.settings[setting].label + ": " + note;
    if (said_.insert(text).second && options_.on_note) options_.on_note(text);
  }

  // Changes what is known of the runs, and says how far they are.
  template <class Change>
  void update(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    if (!options_.on_progress) return;
    ComparisonProgress progress{shares_.size(), finished_, 0, 0};
    for (const double share : shares_) progress.share += share / static_cast<double>(shares_.size());
    progress.wall_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    options_.on_progress(progress);
  }

  void finish(std::size_t job) {
    shares_[job] = 1;
    ++finished_;
  }

  const ComparisonPlan& plan_;
  const ComparisonOptions& options_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> is_refused_{false};
  std::mutex mutex_;            // guards what follows
  std::vector<double> shares_;  // of every job
  std::size_t finished_ = 0;
  std::set<std::string> said_;
  std::exception_ptr fault_;
  std::vector<std::map<std::int64_t, std::string>> refused_;  // of every setting: seed and sentence
  Comparison comparison_;
};

}  // namespace

Comparison compare(const ComparisonPlan& plan, const ComparisonOptions& options) {
  if (plan.settings.empty() || plan.seeds == 0) throw std::invalid_argument("there is nothing to compare");
  if (options.threads == 0) throw std::invalid_argument("threads must be at least 1");
  return RunPool(plan, options).perform();
}

}  // namespace rubato
