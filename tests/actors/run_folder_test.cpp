// What a run leaves behind, and what is left when it cannot.
#include "results/run_folder.hpp"

#include <doctest/doctest.h>
#include <sys/mount.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "experiment/build/timing.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/summary.hpp"
#include "runtime/record.hpp"
#include "tests/actors/support.hpp"

namespace fs = std::filesystem;
using namespace rubato;
using namespace rubato::test;
using nlohmann::json;

namespace {

struct Done {
  explicit Done(const std::vector<std::string>& overrides = {}) : of{experiment(overrides)} {
    RunOptions options = on_threads(2);
    options.keeps_models = options.counts_links = true;
    result = run(of, options);
  }
  config::Experiment of;
  RunResult result;
};

std::string metrics_csv(const RunResult& result) {
  std::string text = metrics_csv_head();
  for (const Sample& sample : result.samples) text += metrics_csv_row(sample);
  return text;
}

void leave(const fs::path& place, const Done& done) {
  RunFolder folder(place);
  folder.write("metrics.csv", metrics_csv(done.result));
  write_results(folder, done.of, done.result);
  folder.complete();
}

// Rows of a CSV file by the names of its columns.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> all(1);
    for (const char message : line)
      if (message == ',')
        all.emplace_back();
      else
        all.back() += message;
    return all;
  };
  const std::vector<std::string> names = cells(lines.at(0));
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> values = cells(lines[i]);
    REQUIRE(values.size() == names.size());
    rows.emplace_back();
    for (std::size_t k = 0; k < names.size(); ++k) rows.back()[names[k]] = values[k];
  }
  return rows;
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// A disk of 64 KB in memory; nothing if this machine does not let us mount one.
class TinyDisk {
 public:
  TinyDisk() : is_mounted_{mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=64k") == 0} {}
  ~TinyDisk() {
    if (is_mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  explicit operator bool() const { return is_mounted_; }
  const fs::path& path() const { return folder_.path(); }

 private:
  Folder folder_;
  bool is_mounted_;
};

}  // namespace

TEST_CASE("a run folder appears when it is complete and not before") {
  const Folder home;
  {
    RunFolder folder(home / "runs/first");
    folder.write("summary.json", "{}");
    CHECK_FALSE(fs::exists(home / "runs/first"));
    folder.write("experiment.toml", "");
    folder.complete();
    CHECK(text_of(home / "runs/first/summary.json") == "{}");
    CHECK_FALSE(fs::exists(home / "runs/first.partial"));
  }
  CHECK(files_in(home / "runs") == 1);
}

TEST_CASE("a folder name with a slash behind it or dots in it means the same folder") {
  const Folder home;
  const Done done;
  leave(home / "a/", done);
  leave(home / "x/../b/.", done);
  CHECK(fs::exists(home / "a/summary.json"));
  CHECK(fs::exists(home / "b/summary.json"));
}

TEST_CASE("an earlier run becomes .previous, and the one before that goes") {
  const Folder home;
  for (const std::string name : {"one", "two", "three"}) {
    RunFolder folder(home / "run");
    folder.write("summary.json", name);
    folder.write("experiment.toml", "");
    if (name != "one") CHECK(fs::exists(home / "run/summary.json"));  // left alone until this one is complete
    folder.complete();
  }
  CHECK(text_of(home / "run/summary.json") == "three");
  CHECK(text_of(home / "run.previous/summary.json") == "two");
  CHECK(files_in(home.path()) == 2);
}

TEST_CASE("a stranger's folder beside the place is refused and not touched") {
  for (const char* ending : {".partial", ".previous", ".failed"}) {
    const Folder home;
    const fs::path theirs = home / (std::string("run") + ending);
    fs::create_directories(theirs);
    std::ofstream(theirs / "letter") << "dear";
    CAPTURE(ending);
    CHECK(contains(complaint<std::invalid_argument>([&] { RunFolder folder(home / "run"); }), "not a run of Rubato"));
    CHECK(text_of(theirs / "letter") == "dear");
  }
}

TEST_CASE("the record of a run that failed is set aside when the next run begins") {
  const Folder home;
  {
    RunFolder folder(home / "run");
    std::ofstream(folder.record()) << "steps";
  }
  CHECK(text_of(home / "run.partial/timeline.rbt") == "steps");
  { RunFolder folder(home / "run"); }
  CHECK(text_of(home / "run.failed/timeline.rbt") == "steps");
  CHECK_FALSE(fs::exists(home / "run.partial"));
}

TEST_CASE("a folder that holds something else is refused and not touched") {
  const Folder home;
  fs::create_directories(home / "thesis");
  write_text(home / "thesis/chapter3.tex", "precious");
  const std::string said = complaint<std::invalid_argument>([&] { RunFolder folder(home / "thesis"); });
  CHECK(contains(said, (home / "thesis").string()));
  CHECK(contains(said, "not a run of Rubato"));
  CHECK(text_of(home / "thesis/chapter3.tex") == "precious");
  CHECK(files_in(home.path()) == 1);
  write_text(home / "letter", "a file");
  CHECK(contains(complaint<std::invalid_argument>([&] { RunFolder folder(home / "letter"); }), "not a run"));
  CHECK(text_of(home / "letter") == "a file");
}

TEST_CASE("a file of the folder grows line by line while the run goes on") {
  const Folder home;
  RunFolder folder(home / "run");
  folder.write("metrics.csv", "head\n");
  folder.append("metrics.csv", "1\n");
  folder.append("metrics.csv", "2\n");
  CHECK(text_of(folder.contents() / "metrics.csv") == "head\n1\n2\n");
}

TEST_CASE("an empty folder is taken, and filled with every table of the design") {
  const Folder home;
  fs::create_directories(home / "run");
  leave(home / "run", Done());
  for (const std::string name :
       {"experiment.toml", "metrics.csv", "clients.csv", "links.csv", "summary.json", "models/models.npy"}) {
    CAPTURE(name);
    CHECK(fs::file_size(home / "run" / name) > 0);
  }
}

TEST_CASE("a folder that cannot be made is refused before the run, with the reason") {
  const Folder home;
  write_text(home / "file", "");
  const auto below_a_file = complaint<std::invalid_argument>([&] { RunFolder folder(home / "file/run"); });
  CHECK(contains(below_a_file, "file/run"));
  CHECK(contains(below_a_file, "cannot make the folder"));
  const auto in_proc = complaint<std::invalid_argument>([&] { RunFolder folder("/proc/rubato"); });
  CHECK(contains(in_proc, "/proc/rubato"));
  CHECK(contains(in_proc, "cannot"));
}

TEST_CASE("a run that does not end leaves nothing, or its record under another name") {
  const Folder home;
  { RunFolder folder(home / "nothing"); }
  CHECK(files_in(home.path()) == 0);
  {
    RunFolder folder(home / "some");
    write_text(folder.record(), "steps");
  }
  CHECK_FALSE(fs::exists(home / "some"));
  CHECK(text_of(home / "some.partial/timeline.rbt") == "steps");
  leave(home / "some", Done());  // the remains do not stand in the way of the next run
  CHECK(fs::exists(home / "some/summary.json"));
  CHECK_FALSE(fs::exists(home / "some.partial"));
}

TEST_CASE("a host goes on where an earlier life was killed, or was stopped, and anew where it came to its end") {
  const Folder home;
  const auto same = [](const fs::path&) { return true; };
  const fs::path place = home / "b";
  {
    RunFolder killed(place, same);
    CHECK_FALSE(killed.has_earlier_life());
    killed.write("experiment.toml", "clients");
    killed.write("checkpoint/checkpoint-1.rbc", "states");  // without a record, which the experiment may not want
  }
  Done done;
  {
    RunFolder stopped(place, same);
    CHECK(stopped.has_earlier_life());
    write_text(stopped.record(), "steps");
    done.result.was_stopped = true;
    write_results(stopped, done.of, done.result);
    stopped.complete();
  }
  {
    RunFolder other(place, [](const fs::path&) { return false; });
    CHECK_FALSE(other.has_earlier_life());
  }
  {
    RunFolder last(place, same);
    CHECK(last.has_earlier_life());
    CHECK(text_of(last.record()) == "steps");
    CHECK(text_of(last.checkpoints() / "checkpoint-1.rbc") == "states");
    CHECK(fs::exists(place / "summary.json"));  // until this life is complete
    done.result.was_stopped = false;
    write_results(last, done.of, done.result);
    last.complete();
  }
  CHECK_FALSE(RunFolder(place, same).has_earlier_life());
  write_text(place / "summary.json", "oops");
  CHECK_FALSE(RunFolder(place, same).has_earlier_life());
}

TEST_CASE("what another run has left stays until this one is known to be none by mistake") {
  const Folder home;
  const auto same = [](const fs::path&) { return true; };
  const auto another = [](const fs::path&) { return false; };
  const fs::path place = home / "b", kept = home / "b.partial";
  {
    RunFolder killed(place, same);
    killed.write("experiment.toml", "clients");
    write_text(killed.record(), "steps");
    killed.write("checkpoint/checkpoint-4.rbc", "states");
  }
  {
    RunFolder mistaken(place, another);
    CHECK_FALSE(mistaken.has_earlier_life());
    CHECK(contains(complaint<std::invalid_argument>([&] { RunFolder(place, same); }), "at work there"));
    mistaken.write("status.json", "refused");
  }
  {
    RunFolder again(place, same);
    CHECK(again.has_earlier_life());
    CHECK(text_of(again.record()) == "steps");
    CHECK(text_of(again.checkpoints() / "checkpoint-4.rbc") == "states");
  }
  {
    RunFolder meant(place, another);
    CHECK(meant.settle());
    CHECK_FALSE(meant.settle());
    CHECK(text_of(home / "b.failed/timeline.rbt") == "steps");
    CHECK_FALSE(fs::exists(meant.record()));
    meant.write("experiment.toml", "other clients");
    const Recorder begun(meant.record(), 2);  // which has no steps
  }
  CHECK(fs::exists(home / "b.failed"));
  {
    RunFolder next(place, another);
    CHECK_FALSE(next.settle());
    CHECK(text_of(home / "b.failed/timeline.rbt") == "steps");
    write_results(next, Done().of, Done().result);
    next.complete();
  }
  CHECK(fs::exists(place / "summary.json"));
  CHECK_FALSE(fs::exists(kept));
}

TEST_CASE("a full disk is a failure with a sentence, and nothing stands under the final name") {
  const TinyDisk disk;
  if (!disk) {
    MESSAGE("skipped: no disk can be mounted here");
    return;
  }
  {
    RunFolder folder(disk.path() / "run");
    const std::string said = complaint<RunFailed>([&] { folder.write("metrics.csv", std::string(100'000, 'x')); });
    CHECK(contains(said, "cannot write"));
    CHECK(contains(said, "metrics.csv"));
    CHECK(contains(said, "No space left on device"));
  }
  CHECK_FALSE(fs::exists(disk.path() / "run"));
  // A folder inside the folder is no exception of another kind.
  RunFolder folder(disk.path() / "run");
  complaint<RunFailed>([&] { folder.write("metrics.csv", std::string(100'000, 'x')); });
  CHECK(contains(complaint<RunFailed>([&] { folder.write("models/models.npy", std::string(100'000, 'x')); }), "cannot"));
}

TEST_CASE("a disk that fills up with the record ends the run with a sentence") {
  const TinyDisk disk;
  if (!disk) {
    MESSAGE("skipped: no disk can be mounted here");
    return;
  }
  RunOptions options = on_threads(2);
  options.record = disk.path() / "timeline.rbt";
  const std::string said = complaint<RunFailed>([&] { run(experiment({"until=2000.5"}), options); });
  CHECK(contains(said, "timeline.rbt"));
  CHECK(contains(said, "No space left on device"));
}

TEST_CASE("the experiment in the folder is complete: it can be run as it is and says the same") {
  const Folder home;
  const Done done(digits_instead());
  leave(home / "run", done);
  std::ostringstream notes;
  const config::Experiment again = config::read_experiment(home / "run/experiment.toml", {}, notes);
  CHECK(again == done.of);
  CHECK(digests(run(again)) == digests(done.result));
}

TEST_CASE("summary.json has every field of the design and says what the run was") {
  const Done done(digits_instead());
  const json summary = json::parse(summary_json(done.of, done.result));
  for (const char* field : {"/rubato",
                            "/experiment",
                            "/algorithm",
                            "/clock",
                            "/threads",
                            "/seed",
                            "/clients",
                            "/dimension",
                            "/model_digest",
                            "/timeline_digest",
                            "/arithmetic",
                            "/virtual_seconds",
                            "/wall_seconds",
                            "/events",
                            "/events_per_second",
                            "/steps",
                            "/steps_per_second",
                            "/math_seconds",
                            "/efficiency",
                            "/peak_rss_bytes",
                            "/messages/sent",
                            "/messages/delivered",
                            "/messages/lost",
                            "/messages/late",
                            "/messages/capped",
                            "/messages/superseded",
                            "/bytes/wire",
                            "/bytes/paper_bits",
                            "/accuracy/mean",
                            "/accuracy/std",
                            "/accuracy/mean_model",
                            "/accuracy/f1_macro",
                            "/loss/mean",
                            "/consensus",
                            "/staleness_seconds/mean",
                            "/staleness_seconds/p95",
                            "/invariants/mass_defect",
                            "/invariants/owed_mass"}) {
    CAPTURE(field);
    CHECK(summary.contains(json::json_pointer(field)));
  }
  CHECK(summary["experiment"] == "quadratic");
  CHECK(summary["algorithm"] == "draco");
  CHECK(summary["clock"] == "virtual");
  CHECK(summary["threads"] == 2);
  CHECK(summary["seed"] == 3);
  CHECK(summary["clients"] == 8);
  CHECK(summary["dimension"] == 650);
  CHECK(summary["virtual_seconds"] == 30.5);
  CHECK(summary["model_digest"] == done.result.digests.model);
  CHECK(summary["messages"]["delivered"] == done.result.messages.kept);
  const std::uint64_t all = done.result.messages.sent + done.result.model_messages;
  CHECK(summary["bytes"]["paper_bits"] == static_cast<double>(all * 64 * 650));  // 64 bits a number, dense
  CHECK(summary["bytes"]["wire"] >= all * 650 * sizeof(float));
  CHECK(summary["efficiency"] > 0);
  CHECK(summary["efficiency"] <= 1.05);
  CHECK(summary["math_seconds"] <= 2.1 * summary["wall_seconds"].get<double>());
  CHECK(summary["staleness_seconds"]["p95"] >= summary["staleness_seconds"]["mean"]);
  CHECK(summary["accuracy"]["mean"] > 0.1);
  CHECK(end_of_summary(summary.dump()).digests.timeline == done.result.digests.timeline);
}

TEST_CASE("a summary that is damaged is refused with a sentence") {
  for (const std::string text : {"", "{", "[]", "{\"model_digest\": 3}", "{\"model_digest\": \"a\"}"})
    CHECK(contains(complaint<std::runtime_error>([&] { end_of_summary(text); }), "summary.json is damaged"));
}

TEST_CASE("metrics.csv has one row per sample, in order, and the last is the summary's") {
  const Done done(digits_instead());
  const auto rows = rows_of(metrics_csv(done.result));
  REQUIRE(rows.size() == done.result.samples.size());
  REQUIRE(rows.size() > 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at("sample") == std::to_string(i));
    CHECK(std::stod(rows[i].at("accuracy_mean")) == done.result.samples[i].accuracy_mean);
    CHECK(std::stod(rows[i].at("consensus")) == done.result.samples[i].consensus);
    if (i == 0) continue;
    for (const std::string rising : {"seconds", "events", "computations", "messages_sent", "messages_delivered", "bytes_wire"}) {
      CAPTURE(rising);
      CHECK(std::stod(rows[i].at(rising)) >= std::stod(rows[i - 1].at(rising)));
    }
  }
  CHECK(rows.back().at("events") == std::to_string(done.result.events));
  CHECK(std::stod(rows.back().at("seconds")) == 30.5);
  const json summary = json::parse(summary_json(done.of, done.result));
  CHECK(std::stod(rows.back().at("loss_mean")) == summary["loss"]["mean"].get<double>());
  CHECK(std::stod(rows.back().at("bytes_wire")) == summary["bytes"]["wire"].get<double>());
}

TEST_CASE("clients.csv has one row per client and adds up to the summary") {
  const Done done(digits_instead());
  const auto rows = rows_of(clients_csv(done.result));
  REQUIRE(rows.size() == 8);
  std::uint64_t sent = 0, samples = 0;
  double accuracy = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at("client") == std::to_string(i));
    sent += std::stoull(rows[i].at("sent"));
    samples += std::stoull(rows[i].at("training_samples"));
    accuracy += std::stod(rows[i].at("accuracy")) / 8;
  }
  CHECK(sent == done.result.messages.sent);
  CHECK(samples == 3823);  // all training rows of the digits
  CHECK(accuracy == doctest::Approx(done.result.samples.back().accuracy_mean));
}

TEST_CASE("partition.csv has the rows of every class that a client has and adds up to clients.csv") {
  const Done done(digits_instead());
  std::vector<std::uint64_t> sums(8);
  for (const auto& row : rows_of(partition_csv(done.result))) {
    CHECK(std::stoul(row.at("class")) < 10);
    CHECK(std::stoul(row.at("rows")) > 0);
    sums.at(std::stoul(row.at("client"))) += std::stoull(row.at("rows"));
  }
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == done.result.samples_by_client[i]);
}

TEST_CASE("models are handed out one by one as they are kept, in the order of the clients") {
  RunOptions options;
  options.keeps_models = true;
  std::vector<std::vector<std::byte>> seen;
  options.on_model = [&](const FinalModel& model) {
    CHECK(model.client.value == seen.size());
    CHECK(model.bytes.size() == model.dimension * model.scalar_bytes);
    seen.emplace_back(model.bytes.begin(), model.bytes.end());
  };
  const RunResult result = run(experiment(digits_instead()), options);
  CHECK(result.models.size() == 8);
  CHECK(seen == result.models);
}

TEST_CASE("links.csv has one row per directed link and adds up to the summary") {
  const Done done;
  const auto rows = rows_of(links_csv(done.result));
  REQUIRE(rows.size() == 16);
  std::uint64_t kept = 0;
  for (const auto& row : rows) {
    const auto sender = std::stoi(row.at("sender")), receiver = std::stoi(row.at("receiver"));
    CHECK(((sender + 1) % 8 == receiver || (receiver + 1) % 8 == sender));
    kept += std::stoull(row.at("kept"));
  }
  CHECK(kept == done.result.messages.kept);
}

TEST_CASE("models.npy is what NumPy reads: a head of 64 bytes and more, then the models row by row") {
  for (const char* precision : {"precision=float32", "precision=float64"}) {
    const Done done({precision});
    const std::string file = models_npy(done.result);
    REQUIRE(file.size() > 128);
    CHECK(file.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(file[8])) +
                        256 * static_cast<std::size_t>(static_cast<unsigned char>(file[9]));
    CHECK((10 + length) % 64 == 0);
    const std::string head = file.substr(10, length);
    CHECK(head.back() == '\n');
    CHECK(contains(head, done.result.scalar_bytes == 8 ? "'descr': '<f8'" : "'descr': '<f4'"));
    CHECK(contains(head, "'fortran_order': False"));
    CHECK(contains(head, "'shape': (8, 16)"));
    const std::size_t row = 16 * done.result.scalar_bytes;
    REQUIRE(file.size() == 10 + length + 8 * row);
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(std::memcmp(file.data() + 10 + length + i * row, done.result.models[i].data(), row) == 0);
  }
}
