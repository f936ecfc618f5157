// A virtual run that goes on from a checkpoint ends like one that nothing interrupted, whatever was under way.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "experiment/file/experiment_file.hpp"
#include "results/run_checkpoint.hpp"
#include "results/run_folder.hpp"
#include "runtime/random.hpp"
#include "runtime/record.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace fs = std::filesystem;

namespace {

// A run in a folder: its record, its samples as rows, its checkpoints.
struct Kept {
  Kept(const Folder& home, const std::string& name) : folder{home / name} { fs::create_directories(folder); }

  RunOptions options(unsigned threads) const {
    RunOptions options = on_threads(threads);
    options.record = folder / "timeline.rbt";
    options.checkpoints = folder / "checkpoint";
    options.samples_file = folder / "metrics.csv";
    options.counts_links = true;
    options.on_sample = [file = folder / "metrics.csv"](const Sample& sample) {
      std::ofstream(file, std::ios::app) << metrics_csv_row(sample);
    };
    return options;
  }
  FoundCheckpoint<RunCheckpointFile> found() const { return find_run_checkpoint(folder / "checkpoint", folder / "metrics.csv"); }
  std::string all() const { return text_of(folder / "metrics.csv") + text_of(folder / "timeline.rbt"); }

  fs::path folder;
};

RunResult begin(const Kept& kept, const config::Experiment& of, RunOptions options) {
  write_text(kept.folder / "metrics.csv", "");
  return run(of, options);
}

// A new life from the newest checkpoint, with everything as a killed process would have left it.
RunResult go_on(const Kept& kept, const config::Experiment& of, RunOptions options) {
  const FoundCheckpoint<RunCheckpointFile> found = kept.found();
  REQUIRE(found.newest);
  options.resume_from = found.newest->file;
  fs::resize_file(options.samples_file, found.newest->head.samples_bytes);
  return run(of, options);
}

// What a run leaves behind that no clock on the wall has to do with.
std::string end_of(const RunResult& result) {
  std::string text = digests(result) + "\n" + clients_csv(result);
  for (const LinkCounts& link : result.by_link)
    text += std::to_string(link.sent) + " " + std::to_string(link.lost) + " " + std::to_string(link.kept) + "\n";
  for (const std::uint64_t count : {result.events, result.steps, result.traffic.bytes, result.traffic.gradients,
                                    result.messages.sent, result.messages.kept, result.unifications, result.under_way})
    text += std::to_string(count) + " ";
  return text + std::to_string(result.cumulated_delay) + " " + std::to_string(result.staleness_p95);
}

std::vector<fs::path> example_files() {
  std::vector<fs::path> files = example_algorithms();
  for (const char* folder : {"channels", "churn"})
    for (const auto& entry : fs::directory_iterator(fs::path(RUBATO_SOURCE_DIR "/examples") / folder))
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> every(double seconds) { return {"checkpoint_every=" + std::to_string(seconds)}; }

Time last_step_of(const Kept& kept) {
  RecordReader record(kept.folder / "timeline.rbt");
  Time last{};
  while (const Step* step = record.next()) last = step->at;
  return last;
}

// The same run without checkpoints, with them, and gone on with from the last one. False: there is none, because nothing happens
// after the first instant at which one could be written.
bool goes_on_alike(const config::Experiment& plain, const config::Experiment& of, unsigned threads) {
  const Folder home;
  const Kept whole(home, "whole"), kept(home, "kept");
  const std::string end = end_of(begin(whole, plain, whole.options(threads)));
  CHECK(end_of(begin(kept, of, kept.options(threads))) == end);
  CHECK(kept.all() == whole.all());
  if (!kept.found().newest) {
    REQUIRE(last_step_of(whole) <= Time{from_seconds(of.checkpoint_every)});
    return false;
  }
  CHECK(end_of(go_on(kept, of, kept.options(3 - threads))) == end);
  CHECK(kept.all() == whole.all());
  return true;
}

}  // namespace

TEST_CASE("every example, gone on with from an instant that is drawn, ends as if nothing had happened") {
  Stream chance(20, {0}, Purpose::noise);
  for (const auto& file : example_files()) {
    CAPTURE(file);
    const double seconds = 0.06 * experiment_of(file).until;
    const std::vector<std::string> shorter = {"until=" + std::to_string(seconds)};
    const config::Experiment plain = experiment_of(file, shorter);
    for (int moment = 0; moment < 2; ++moment) {
      const double at = seconds * (0.1 + 0.8 * chance.uniform());
      CAPTURE(at);
      const bool has_gone_on = goes_on_alike(plain, experiment_of(file, shorter + every(at)), 1 + static_cast<unsigned>(moment));
      CHECK((has_gone_on || file.stem() == "radio_rounds"));  // whose first round waits for one computation
    }
  }
}

TEST_CASE("a checkpoint is written where anything happens after its instant, and where nothing does the run is over") {
  // The last ticks are at 16 s.
  const std::vector<std::string> ticks = {"until=19.0", "clients.compute={law=\"fixed\",period=4.0}",
                                          "clients.transmit={law=\"fixed\",period=4.0}"};
  const auto goes_on = [&](double at) {
    return goes_on_alike(experiment(ticks, plain_text), experiment(ticks + every(at), plain_text), 2);
  };
  CHECK(goes_on(15.9));
  CHECK_FALSE(goes_on(16.1));
  CHECK_FALSE(goes_on(18.9));
}

TEST_CASE("many moments of a run with losses, deadlines, caps and unifications") {
  Stream chance(21, {0}, Purpose::noise);
  for (int moment = 0; moment < 40; ++moment) {
    const double at = 0.2 + 30 * chance.uniform();
    CAPTURE(at);
    CHECK(goes_on_alike(experiment(), experiment(every(at)), 1 + moment % 2));
  }
}

TEST_CASE("what is acknowledged or reclaimed, sent twice, or unified over the links is under way in a checkpoint too") {
  Stream chance(22, {0}, Purpose::noise);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"algorithm.retain_on_loss=true"},
                                               {"channel.duplicate=0.3"},
                                               {"unification.via=transport"},
                                               {"metrics.before_unifications=true"},
                                               {"precision=float64"}})
    for (int moment = 0; moment < 5; ++moment) {
      const double at = 0.2 + 30 * chance.uniform();
      CAPTURE(more.front());
      CAPTURE(at);
      CHECK(goes_on_alike(experiment(more), experiment(more + every(at)), 1 + moment % 2));
    }
}

TEST_CASE("clients that crash, restart from their states, join and leave do so in a later life as well") {
  const std::string churn = quadratic_text + R"(
[churn]
notice = 0.4
checkpoint_every = 2.0
events = [
  { at = 5.0, what = "crash", clients = [0, 1] },
  { at = 8.0, what = "pause", clients = [2] },
  { at = 9.0, what = "partition", groups = [[0, 1, 2], [3, 4]] },
  { at = 11.0, what = "restart", clients = [0], from = "checkpoint" },
  { at = 12.5, what = "restart", clients = [1] },
  { at = 13.0, what = "go_on", clients = [2] },
  { at = 14.0, what = "leave", clients = [3] },
  { at = 16.0, what = "heal" },
  { at = 18.0, what = "join", clients = [3] },
]
random = [{ clients = [4, 6], away = "crash", up = { law = "exponential", mean = 6.0 }, down = 1.0, from = "checkpoint", until = 25.0 }]
)";
  Stream chance(23, {0}, Purpose::noise);
  for (int moment = 0; moment < 12; ++moment) {
    const double at = 4 + 20 * chance.uniform();
    CAPTURE(at);
    CHECK(goes_on_alike(experiment({}, churn), experiment(every(at), churn), 1 + moment % 2));
  }
}

TEST_CASE("a run whose invariants are watched goes on alike, with its samples after unifications and rounds") {
  for (const char* file : {"draco.toml", "dsgt.toml", "kgt.toml"}) {
    CAPTURE(file);
    const fs::path path = fs::path(RUBATO_SOURCE_DIR "/examples/algorithms") / file;
    const double seconds = 0.06 * experiment_of(path).until;
    const config::Experiment of =
        experiment_of(path, every(0.6 * seconds) + std::vector<std::string>{"until=" + std::to_string(seconds)});
    const Folder home;
    const Kept kept(home, "kept");
    RunOptions options = kept.options(2);
    options.checks = true;
    const std::string end = end_of(begin(kept, of, options)), all = kept.all();
    CHECK(end_of(go_on(kept, of, options)) == end);
    CHECK(kept.all() == all);
  }
}

TEST_CASE("dropout, batch normalisation and both precisions go on alike") {
  const std::string layers =
      R"(model.layers=["conv 4 3 same", "norm", "relu", "maxpool 2", "dropout 0.3", "residual 8 stride 2", "meanpool"])";
  for (const std::string precision : {"float32", "float64"}) {
    const std::vector<std::string> network = {
        "data.name=digits",          "data.train_rows=400", "model.name=cnn",          layers,
        "model.normalisation=batch", "model.batch=4",       "metrics.test_samples=20", "until=4.5",
        "precision=" + precision};
    CHECK(goes_on_alike(experiment(network), experiment(network + every(2.3)), 2));
  }
}

TEST_CASE("a life after a life after a life: each goes on where the one before was stopped") {
  const Folder home;
  const Kept whole(home, "whole"), kept(home, "kept");
  const config::Experiment of = experiment(every(1.5));
  const std::string end = end_of(begin(whole, of, whole.options(2)));
  std::atomic<bool> stop{false};
  RunOptions options = kept.options(2);
  options.stop = &stop;
  std::uint64_t last_number = 0;
  const auto stops_at = [&](std::uint64_t events) {
    stop = false;
    options.on_progress = [&stop, events](const Progress& progress) { stop = stop || progress.events >= events; };
  };
  stops_at(200);
  RunResult life = begin(kept, of, options);
  for (const std::uint64_t events : {500, 900, 100'000'000}) {
    stops_at(events);
    const FoundCheckpoint<RunCheckpointFile> found = kept.found();
    if (!found.newest) {  // it was quicker than anybody looks
      life = begin(kept, of, options);
      continue;
    }
    CHECK(found.newest->head.number >= last_number);
    last_number = found.newest->head.number;
    life = go_on(kept, of, options);
  }
  CHECK(end_of(life) == end);
  CHECK(kept.all() == whole.all());
}

TEST_CASE("that models were not finite any more before a checkpoint, and since when, is known when the run goes on") {
  const Folder home;
  const Kept kept(home, "kept");
  const config::Experiment of = experiment(std::vector<std::string>{"algorithm.eta=1e9"} + every(20));
  const RunResult whole = begin(kept, of, kept.options(1));
  REQUIRE_FALSE(whole.diverged.empty());
  REQUIRE(whole.diverged.front().seconds < 20);
  const RunResult again = go_on(kept, of, kept.options(1));
  CHECK(again.diverged_at() == whole.diverged_at());
  CHECK(again.diverged.size() == whole.diverged.size());
  CHECK(again.notes == whole.notes);
}

TEST_CASE("sums over all lives are in the result") {
  const Folder home;
  const Kept kept(home, "kept");
  const config::Experiment of = experiment(digits_instead() + every(20));
  begin(kept, of, kept.options(1));
  const RunCheckpoint head = kept.found().newest->head;
  const RunResult again = go_on(kept, of, kept.options(1));
  CHECK(head.math_seconds > 0);
  CHECK(again.math_seconds > head.math_seconds);
  CHECK(again.wall_seconds > head.wall_seconds);
  CHECK(again.evaluation_seconds > head.evaluation_seconds);
  CHECK(again.peak_payload_bytes >= head.peak_payload_bytes);
}

TEST_CASE("the newest checkpoint that is intact and fits the samples is found, and the others are named") {
  const Folder home;
  const Kept kept(home, "kept");
  const config::Experiment of = experiment(every(7));
  const std::string end = end_of(begin(kept, of, kept.options(1)));
  REQUIRE(kept.found().newest->head.number == 4);
  const fs::path newest = kept.found().newest->file;
  const std::string whole = text_of(newest);
  std::string wrong = whole;
  wrong[whole.size() / 2] = static_cast<char>(wrong[whole.size() / 2] ^ 4);
  for (const std::string& damaged : {wrong, whole.substr(0, whole.size() / 3), std::string()}) {
    write_text(newest, damaged);
    const FoundCheckpoint<RunCheckpointFile> found = kept.found();
    CHECK(found.newest->head.number == 3);
    REQUIRE(found.notes.size() == 1);
    CHECK(contains(found.notes[0], "checkpoint-4.rbc is damaged and passed over"));
  }
  const std::string rows = text_of(kept.folder / "metrics.csv");
  CHECK(end_of(go_on(kept, of, kept.options(2))) == end);
  CHECK(text_of(kept.folder / "metrics.csv") == rows);
  write_text(kept.folder / "metrics.csv", rows.substr(0, 10));
  const FoundCheckpoint<RunCheckpointFile> none = kept.found();
  CHECK_FALSE(none.newest);
  REQUIRE(none.notes.size() == 2);
  CHECK(contains(none.notes[0], "metrics.csv is shorter than it was"));
}

TEST_CASE("another experiment, other checks, other data: each is refused with a sentence, and the record stays as it was") {
  const Folder home;
  const Kept kept(home, "kept");
  begin(kept, experiment(every(7)), kept.options(1));
  const auto said = [&](const config::Experiment& other, bool checks = false) {
    RunOptions options = kept.options(1);
    options.checks = checks;
    const std::string record = text_of(kept.folder / "timeline.rbt");
    const std::string sentence = complaint<std::invalid_argument>([&] { go_on(kept, other, options); });
    CHECK(text_of(kept.folder / "timeline.rbt") == record);
    return sentence;
  };
  CHECK(contains(said(experiment(every(7) + std::vector<std::string>{"seed=4"})), "is of another experiment"));
  CHECK(contains(said(experiment(every(7)), true), "is of a run without --check: resume it without --check"));

  const auto rows = [&](const std::string& number) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += std::to_string(i % 7) + ".25," + number + "," + (i % 2 ? "a" : "b") + "\n";
    write_text(home / "table.csv", text);
  };
  const std::vector<std::string> files = {"data.name=files",     "data.train=" + (home / "table.csv").string(),
                                          "data.label=last",     "data.test_share=0.2",
                                          "data.normalise=none", "model.name=softmax"};
  rows("1.5");
  const config::Experiment of = experiment(files + every(7));
  begin(kept, of, kept.options(1));
  rows("2.5");  // as long as before
  CHECK(contains(said(of), "is of another data set"));
}

TEST_CASE("where nothing happens no checkpoints are written, and none at the end") {
  const Folder home;
  const Kept kept(home, "kept");
  begin(kept,
        experiment({"clients.compute.rate=0.01", "clients.transmit.rate=0.01", "unification.period=none", "mailbox.cap=none",
                    "until=50", "checkpoint_every=0.001"}),
        kept.options(1));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(kept.folder / "checkpoint")) ++files;
  CHECK(files == 2);
  CHECK(kept.found().newest->head.events <= 30);
}

TEST_CASE("a rule on a metric that was half way when the run was cut ends the resumed run at the same sample") {
  const std::vector<std::string> often = {"metrics.every_seconds=1.0", "metrics.every_events=0"};
  const TightRule rule(run(experiment(often), on_threads(1)).samples, 6);
  const config::Experiment plain = experiment(often + rule.keys);
  const Folder home;
  const Kept whole(home, "whole");
  const RunResult ended = begin(whole, plain, whole.options(1));
  REQUIRE(ended.stopped_by == "metrics.stop");
  REQUIRE(ended.virtual_seconds > 4);
  // A checkpoint among the last samples that the rule looks at.
  const config::Experiment kept_often = experiment(often + rule.keys + every(ended.virtual_seconds - 2.5));
  const Kept kept(home, "kept");
  CHECK(end_of(begin(kept, kept_often, kept.options(2))) == end_of(ended));
  const RunResult resumed = go_on(kept, kept_often, kept.options(1));
  CHECK(end_of(resumed) == end_of(ended));
  CHECK(resumed.stopped_by == "metrics.stop");
  CHECK(kept.all() == whole.all());
}
