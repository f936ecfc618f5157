#include "app/compare_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "results/came_to.hpp"

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
      : plan_{plan}, options_{options}, refused_(plan.settings.size()) {
    const std::size_t runs = plan.settings.size() * plan.seeds, part = options.share.part;
    shares_.resize(part < runs ? (runs - part - 1) / options.share.parts + 1 : 0);
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
    for (std::size_t i = 0; i < refused_.size(); ++i) sort_out(i);
    if (options_.share.parts == 1) refuse_if_none_is_possible();
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
    const std::size_t place = options_.share.part + job * options_.share.parts, setting = place % plan_.settings.size();
    const std::int64_t seed = plan_.first_seed + static_cast<std::int64_t>(place / plan_.settings.size());
    if (!plan_.settings[setting].refusal.empty()) return update([&] { finish(job); });
    std::optional<KeptResult> result;
    if (options_.kept) result = options_.kept->find(setting, seed);
    if (options_.runs_missing && !(result && result->run)) {
      result = result_of(job, setting, seed);
      if (result && options_.kept) options_.kept->keep(setting, seed, *result);
    }
    update([&] {
      finish(job);
      if (!result)
        comparison_.was_stopped = true;
      else if (result->run)
        comparison_.outcomes[setting].runs.push_back(std::move(*result->run));
      else if (!result->refusal.empty())
        refused_[setting][seed] = result->refusal;
      else
        failures_[setting][seed] = result->failure;
    });
  }

  // Nothing where it was ended early.
  std::optional<KeptResult> result_of(std::size_t job, std::size_t setting, std::int64_t seed) {
    config::Experiment experiment = plan_.settings[setting].experiment;
    experiment.seed = seed;
    ComparedRun run{.seed = seed, .curve = {}, .digests = {}};
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
      if (options_.bring) options_.bring(experiment, options);
      const RunResult result = rubato::run(experiment, options);
      run.met_rule = result.stopped_by == "metrics.stop";
      if (!result.was_stopped || run.met_rule) run.digests = result.digests;
      for (const std::string& note : result.notes) say(setting, note);  // those of its end, too
      run.diverged_at = result.diverged_at();
      if (result.stopped_by == "metrics.stop_on_nan")
        throw RunFailed(fmt::format("diverged at {:g} s, and metrics.stop_on_nan ended it", run.diverged_at.value_or(0)));
      if (run.has_spent && run.curve.empty())
        say(setting, "the budget is spent before the first sample: measure more often, or allow more");
      if (result.was_stopped && !run.has_spent && !run.met_rule) return std::nullopt;
      run.came_to = came_to(experiment, result, run.curve);
      return KeptResult{.run = std::move(run)};
    } catch (const RunFailed& failure) {
      return KeptResult{.failure = failure.what()};
    } catch (const std::invalid_argument& fault) {
      return KeptResult{.refusal = fault.what()};
    }
  }

  // In the order of seeds. Refused with every seed: the setting is. With some of them: those runs are.
  void sort_out(std::size_t setting) {
    ComparedOutcome& outcome = comparison_.outcomes[setting];
    std::map<std::int64_t, std::string>& without = failures_[setting];
    if (!refused_[setting].empty() && outcome.runs.empty() && without.empty())
      outcome.setting.refusal = refused_[setting].begin()->second;
    else
      without.merge(refused_[setting]);
    for (const auto& [seed, sentence] : without) outcome.failures.push_back("seed " + std::to_string(seed) + ": " + sentence);
    std::ranges::sort(outcome.runs, {}, &ComparedRun::seed);
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
  std::vector<std::map<std::int64_t, std::string>> refused_, failures_{refused_.size()};  // of every setting: seed and sentence
  Comparison comparison_;
};

}  // namespace

Share parse_share(const std::string& text) {
  std::size_t part = 0, parts = 0;
  const char* const end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, part);
  const bool is_pair = error == std::errc{} && slash != end && *slash == '/';
  if (!is_pair || std::from_chars(slash + 1, end, parts).ptr != end || part < 1 || part > parts)
    throw std::invalid_argument("--shard " + text + ": must be I/N, I from 1 to N");
  return {part - 1, parts};
}

Comparison compare(const ComparisonPlan& plan, const ComparisonOptions& options) {
  if (plan.settings.empty() || plan.seeds == 0) throw std::invalid_argument("there is nothing to compare");
  if (options.threads == 0) throw std::invalid_argument("threads must be at least 1");
  return RunPool(plan, options).perform();
}

}  // namespace rubato
