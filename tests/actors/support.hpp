// Experiments small enough to be run a hundred times, folders that vanish, and runs that must come to an end.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "actors/run.hpp"
#include "experiment/file/experiment_file.hpp"
#include "tests/support/files.hpp"
#include "tests/support/waiting.hpp"

namespace rubato::test {

/// Eight clients with 16 numbers each: everything happens that DRACO's timing knows.
inline const std::string quadratic_text = R"(
name = "quadratic"
seed = 3
until = 30.5
[clients]
count = 8
[clients.compute]
law = "poisson"
rate = 2.0
[clients.transmit]
law = "poisson"
rate = 1.5
[topology]
kind = "ring"
[channel]
kind = "random"
delay = { law = "exponential", mean = 0.2 }
loss = 0.1
[mailbox]
window = 0.05
deadline = 0.5
cap = 6
cap_period = 2.0
[unification]
period = 7.0
[algorithm]
name = "draco"
eta = 0.05
self_apply = true
[data]
name = "quadratic"
dimension = 16
[model]
name = "quadratic"
[metrics]
every_events = 100
)";

/// A few clients in float64 whose clocks tick once a second, on three numbers, over links that are perfect: for a test whose
/// learners and links are its own.
inline const std::string plain_text = R"(
name = "plain"
until = 20.0
precision = "float64"
[clients]
count = 3
[clients.compute]
law = "poisson"
rate = 1.0
[clients.transmit]
law = "poisson"
rate = 1.0
[topology]
kind = "complete"
[algorithm]
name = "draco"
[data]
name = "quadratic"
dimension = 3
[model]
name = "quadratic"
[metrics]
every_events = 0
)";

/// The clocks and links of quadratic_text, learning handwritten digits.
inline std::vector<std::string> digits_instead() {
  return {"data.name=digits", "model.name=softmax", "model.batch=8", "algorithm.local_batches=2", "metrics.test_samples=100"};
}

inline config::Experiment experiment(const std::vector<std::string>& overrides = {}, const std::string& text = quadratic_text) {
  std::ostringstream notes;
  return config::parse_experiment(text, "experiment.toml", overrides, notes);
}

/// The experiment of a file.
inline config::Experiment experiment_of(const std::filesystem::path& file, const std::vector<std::string>& overrides = {}) {
  std::ostringstream notes;
  return config::read_experiment(file, overrides, notes);
}

inline std::vector<std::string> operator+(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

/// One experiment for each algorithm that a file of its own shows.
inline std::vector<std::filesystem::path> all_example_algorithms() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(RUBATO_SOURCE_DIR "/examples/algorithms"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// True in the tests that ctest labels nightly.
inline bool is_nightly() { return std::getenv("RUBATO_NIGHTLY") != nullptr; }

/// One cheap example for each thing that an algorithm may need of its protocol; nightly, all examples.
inline std::vector<std::filesystem::path> example_algorithms() {
  if (is_nightly()) return all_example_algorithms();
  std::vector<std::filesystem::path> files;
  for (const char* name : {
           "draco",            // push of increments
           "decefl",           // push of states
           "sgp",              // push of counters, the newest ever
           "choco",            // messages in order
           "event_triggered",  // decides whether to send
           "async_dsgd",       // fixes its model at the start of a computation
           "kgt",              // several computations a message, and an opening
           "spodgt",           // gradients and links that are used by chance
           "pame",             // absorbs right before a computation
           "kdpdfl",           // pull, and rounds of several phases
           "fedavg",           // a server
           "asgd",             // a server without rounds
           "fragile",          // a tree
           "swarm",            // leaders that gather
           "digest",           // tokens
           "local_only",       // sends nothing
       })
    files.push_back(std::filesystem::path(RUBATO_SOURCE_DIR "/examples/algorithms") / (std::string(name) + ".toml"));
  return files;
}

/// A rule that ends such a run in the middle: at the sample whose last `window` losses of the mean model deviate least, some of the
/// last ones left out. Its place among the samples is `last`.
struct TightRule {
  TightRule(const std::vector<Sample>& samples, std::size_t window) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t end = window; end + 3 < samples.size(); ++end) {
      std::vector<double> losses;
      for (std::size_t i = end - window; i < end; ++i) losses.push_back(samples[i].loss_mean_model);
      if (const double deviation = population_deviation(losses); deviation < least) least = deviation, last = end - 1;
    }
    std::ostringstream below;
    below.precision(17);
    below << least * (1 + 1e-9);
    keys = {"metrics.stop.metric=loss_mean_model", "metrics.stop.window=" + std::to_string(window),
            "metrics.stop.below=" + below.str()};
  }

  std::vector<std::string> keys;
  std::size_t last = 0;
};

/// Until an attempt has had time enough: each runs the experiment in real time at a quarter of the pace of the one
/// before, because a machine that has other things to do keeps only a slow one. False: not even the last one had.
inline bool at_some_pace(config::Experiment& wall, const std::function<bool()>& attempt) {
  for (int i = 0; i < 4; ++i, wall.time_scale /= 4)
    if (attempt()) return true;
  return false;
}

inline RunOptions on_threads(unsigned threads) {
  RunOptions options;
  options.threads = threads;
  return options;
}

/// Runs until a sample shows that enough has happened: it was stopped then, and not when the experiment was over.
inline RunResult run_until(const config::Experiment& experiment, RunOptions options,
                           const std::function<bool(const Sample&)>& is_enough) {
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.on_sample = [&](const Sample& sample) { stop = stop || is_enough(sample); };
  return run(experiment, options);
}

/// Both digests in one text.
inline std::string digests(const RunResult& result) { return result.digests.model + " " + result.digests.timeline; }

/// A note of the run has this in it.
inline bool has_note(const RunResult& result, const std::string& part) {
  return std::ranges::any_of(result.notes, [&](const std::string& note) { return contains(note, part); });
}

/// What an exception says, of this type; "nothing was thrown" otherwise.
template <class Error, class Act>
std::string complaint(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// The first lines of how `act` ended, in a process of its own that is ended by force after `limit`: "hangs" then. For
/// what could wait for ever. Call it while no other thread runs.
inline std::string in_a_process(const std::function<std::string()>& act, std::chrono::seconds limit) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  std::cout << std::flush;  // else both write what is in the buffer
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, SIG_DFL);  // not doctest's
    std::string said;
    try {
      said = act();
    } catch (const std::exception& error) {
      said = error.what();
    }
    const auto written = write(ends[1], said.data(), std::min<std::size_t>(said.size(), 4000));
    _exit(written < 0);
  }
  close(ends[1]);
  const auto until = std::chrono::steady_clock::now() + limit;
  int status = 0;
  bool has_ended = false;
  while (!has_ended && std::chrono::steady_clock::now() < until) {
    has_ended = waitpid(child, &status, WNOHANG) == child;
    if (!has_ended) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // between two looks
  }
  if (!has_ended) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  std::string said;
  char part[512];
  for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(count));
  close(ends[0]);
  if (!has_ended) return "hangs";
  return WIFSIGNALED(status) ? "died of signal " + std::to_string(WTERMSIG(status)) : said;
}

}  // namespace rubato::test
