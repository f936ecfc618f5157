// How often rounds exchange, who takes part, and how long clients train, in whole runs: counted, watched, recorded,
// gone on with, in virtual and in real time.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "experiment/file/experiment_file.hpp"
#include "results/run_checkpoint.hpp"
#include "results/run_folder.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Six clients on quadratics, a round a second.
std::vector<std::string> in_rounds(const std::string& algorithm) {
  return {"algorithm.name=" + algorithm, "protocol.kind=rounds", "precision=float64"};
}

config::Experiment few(const std::vector<std::string>& more) {
  return experiment(more, R"(
until = 30.5
[clients]
count = 6
compute = { law = "fixed", period = 1.0 }
[topology]
kind = "complete"
[algorithm]
name = "dpsgd"
[data]
name = "quadratic"
dimension = 8
[model]
name = "quadratic"
[metrics]
every_events = 50
)");
}

RunResult run_counted(const std::vector<std::string>& more) {
  RunOptions options = on_threads(1);
  options.checks = true;
  options.counts_links = true;
  return run(few(more), options);
}

// sent[i][j]: messages from i to j.
std::vector<std::vector<std::uint64_t>> sent_of(const RunResult& result) {
  std::vector<std::vector<std::uint64_t>> sent(6, std::vector<std::uint64_t>(6, 0));
  for (LinkIndex link = 0; link < result.graph->links(); ++link) {
    const Edge ends = result.graph->ends_of(link);
    sent[ends.source.value][ends.target.value] = result.by_link[link].sent;
  }
  return sent;
}

std::uint64_t total(const std::vector<std::vector<std::uint64_t>>& sent, std::size_t source) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : sent[source]) sum += count;
  return sum;
}

std::uint64_t heard_by(const std::vector<std::vector<std::uint64_t>>& sent, std::size_t target) {
  std::uint64_t sum = 0;
  for (const auto& row : sent) sum += row[target];
  return sum;
}

// Exchanges of a round, of those that can pause.
const std::map<std::string, std::uint64_t> exchanges_a_round{
    {"dpsgd", 1},    {"decefl", 1}, {"fedavg_paper", 1}, {"dfedsam", 1},     {"sync_dsgd", 1},   {"choco", 1},
    {"beer", 2},     {"nids", 1},   {"anq_nids", 1},     {"sgp", 1},         {"ab", 1},          {"spodgt", 1},
    {"pushpull", 1}, {"dsgt", 2},   {"draco", 1},        {"g_push_pull", 1}, {"sporadic_kgt", 1}};

// Algorithms by what their exchanges may leave out.
const std::vector<std::string> hearing{"dpsgd", "decefl", "fedavg_paper", "dfedsam", "sync_dsgd"};
const std::vector<std::string> telling{"sgp", "ab", "spodgt", "pushpull", "dsgt", "kgt", "kgt_directed", "depositum"};
const std::vector<std::string> believing{"choco", "beer", "anq_nids"};

}  // namespace

TEST_CASE("with a period of k there is an exchange in the last of every k rounds, and none in the others") {
  for (const auto& [name, exchanges] : exchanges_a_round) {
    CAPTURE(name);
    const std::vector<std::string> self =
        name == "draco" ? std::vector<std::string>{"algorithm.self_apply=true"} : std::vector<std::string>{};
    const RunResult result = run_counted(in_rounds(name) + self + std::vector<std::string>{"protocol.exchange_every=4"});
    CHECK(result.messages.computations >= 6 * 29);
    CHECK(result.messages.sent == 30 / 4 * exchanges * 6 * 5);
    CHECK(digests(run(few(in_rounds(name) + self + std::vector<std::string>{"protocol.exchange_every=4"}), on_threads(3))) ==
          digests(result));
  }
}

TEST_CASE("a period of one is what the algorithm does without it") {
  for (const char* name : {"dpsgd", "beer", "dsgt"})
    CHECK(
        digests(run(few(in_rounds(name) + std::vector<std::string>{"protocol.exchange_every=1", "protocol.participation=1.0"}))) ==
        digests(run(few(in_rounds(name)))));
}

TEST_CASE("a share of the neighbours is heard, told, met or told at once, as suits what the algorithm conserves") {
  const std::vector<std::string> partial{"protocol.exchange_every=2", "protocol.participation=0.4"};  // 15 exchanges, 2 of 5
  for (const std::string& name : hearing) {
    CAPTURE(name);
    const auto sent = sent_of(run_counted(in_rounds(name) + partial));
    for (std::size_t i = 0; i < 6; ++i) CHECK(heard_by(sent, i) == 15 * 2);
  }
  for (const std::string& name : telling) {
    CAPTURE(name);
    const bool has_own_period = name == "kgt" || name == "kgt_directed" || name == "depositum";
    const std::string own = name == "depositum" ? "algorithm.T0=2" : "algorithm.local_steps=2";
    const auto sent =
        sent_of(run_counted(in_rounds(name) + (has_own_period ? std::vector<std::string>{own, partial[1]} : partial)));
    CHECK(total(sent, 0) > 0);
    CHECK(total(sent, 0) % 2 == 0);
    for (std::size_t i = 1; i < 6; ++i) CHECK(total(sent, i) == total(sent, 0));
  }
  for (const std::string& name : believing) {
    CAPTURE(name);
    const auto sent = sent_of(run_counted(in_rounds(name) + partial));
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j)
        if (i != j) CHECK(sent[i][j] == sent[i][(i + 1) % 6]);
      all += total(sent, i);
    }
    CHECK(all < (name == "beer" ? 2u : 1u) * 15 * 30);  // of all, the first exchange with all included
    CHECK(all > 0);
  }
  const RunResult nids = run_counted(in_rounds("nids") + partial);
  const auto sent = sent_of(nids);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) CHECK(sent[i][j] == sent[j][i]);
  const double mean = 15 * 30 * 0.4, deviation = std::sqrt(15 * 15 * 0.4 * 0.6) * 2;
  CHECK(std::abs(static_cast<double>(nids.messages.sent) - mean) < 4 * deviation);
}

TEST_CASE("periods and shares of each client are listed or drawn") {
  const auto periods = sent_of(run_counted(in_rounds("dpsgd") + std::vector<std::string>{"protocol.exchange_every=[1,2,3,4,5,6]"}));
  for (std::size_t i = 0; i < 6; ++i) CHECK(heard_by(periods, i) == 30 / (i + 1) * 5);
  const auto shares =
      sent_of(run_counted(in_rounds("dpsgd") + std::vector<std::string>{"protocol.participation=[0.2,0.4,0.6,0.8,1.0,0.01]"}));
  for (std::size_t i = 0; i < 6; ++i) CHECK(heard_by(shares, i) == 30 * (i == 5 ? 1 : i + 1));
  const auto drawn = sent_of(run_counted(
      in_rounds("dpsgd") + std::vector<std::string>{"protocol.exchange_every={law=\"uniform\",low=2.5,high=7.5}", "until=420.5"}));
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < 6; ++i) {
    const double period = 420.0 * 5 / static_cast<double>(heard_by(drawn, i));
    CHECK(std::abs(period - std::round(period)) < 1e-9);  // 420 is a multiple of 3 to 7
    CHECK(period >= 3);
    CHECK(period <= 7);
    seen.insert(heard_by(drawn, i));
  }
  CHECK(seen.size() > 1);
}

TEST_CASE("PaME's nu and share may be lists") {
  const auto sent = sent_of(
      run_counted(in_rounds("pame") + std::vector<std::string>{"algorithm.nu=[0.2,0.4,0.6,0.8,1.0,0.01]", "algorithm.share=0.5"}));
  for (std::size_t i = 0; i < 6; ++i) CHECK(heard_by(sent, i) == 31 * (i == 5 ? 1 : i + 1));  // a round begins with its exchange
  // Messages of 2 of 8 numbers, 64 bits a value and a bit for each of the rest, are 2/8 or 1/8 as long.
  const auto bits = [](const std::string& share) {
    return run_counted(in_rounds("pame") + std::vector<std::string>{"algorithm.nu=1.0", "algorithm.share=" + share})
        .traffic.paper_bits;
  };
  CHECK(bits("[0.5,0.5,0.5,0.25,0.25,0.25]") * 2 == doctest::Approx(bits("0.5") + bits("0.25")));
  for (const char* kind : {"push", "pull"}) {
    const RunResult result =
        run_counted({"algorithm.name=pame", "protocol.kind=" + std::string(kind), "algorithm.nu=[0.2,0.4,0.6,0.8,1.0,0.01]"});
    CHECK(result.messages.kept > 0);
  }
}

TEST_CASE("periods and shares are refused where they make no sense, with the reason") {
  const auto refusal = [](const std::vector<std::string>& more) {
    return complaint<std::invalid_argument>([&] { run(few(more)); });
  };
  for (const char* name : {"pame", "depositum", "kgt", "kgt_directed", "local_only"})
    CHECK(contains(
        refusal(in_rounds(name) + std::vector<std::string>{"protocol.exchange_every=3"}),
        "protocol.exchange_every: algorithm.name = \"" + std::string(name) + "\" says itself in which rounds it exchanges"));
  for (const char* name : {"pame", "draco", "local_only"})
    CHECK(contains(refusal(in_rounds(name) + std::vector<std::string>{"protocol.participation=0.5"}),
                   "protocol.participation: algorithm.name = \"" + std::string(name) + "\" says itself who takes part"));
  CHECK(contains(refusal(in_rounds("dpsgd") + std::vector<std::string>{"protocol.exchange_every=2.5"}),
                 "must be a whole number of rounds"));
  CHECK(
      contains(refusal(in_rounds("dpsgd") + std::vector<std::string>{"protocol.exchange_every=0"}), "protocol.exchange_every = 0"));
  CHECK(
      contains(refusal(in_rounds("dpsgd") + std::vector<std::string>{"protocol.participation=0.0"}), "protocol.participation = 0"));
  CHECK(contains(refusal(in_rounds("nids") + std::vector<std::string>{"protocol.exchange_every=[1,2,3,4,5,6]"}),
                 "needs the same number for all clients"));
  CHECK(contains(refusal({"algorithm.name=dpsgd", "protocol.kind=push", "protocol.exchange_every=2"}), "protocol.exchange_every"));
}

TEST_CASE("what pauses, and what not all take part in, is replayed from its record, and goes on from a checkpoint") {
  const std::vector<std::string> partial{"protocol.exchange_every=3", "protocol.participation=0.5"};
  std::vector<std::vector<std::string>> variants;
  for (const char* name : {"dpsgd", "beer", "choco", "nids", "anq_nids", "dsgt", "sgp"})
    variants.push_back(in_rounds(name) + partial);
  for (const char* tracks : {"nothing", "momentum"})
    for (const char* kind : {"rounds", "push"})
      variants.push_back({"algorithm.name=depositum", "protocol.kind=" + std::string(kind), "algorithm.option=II",
                          "algorithm.tracks=" + std::string(tracks), "algorithm.T0=2", "algorithm.h=ball"});
  variants.push_back({"algorithm.name=swarm", "algorithm.leader=random", "algorithm.local_steps=3"});
  for (const std::vector<std::string>& variant : variants) {
    CAPTURE(variant.front() + " " + variant.back());
    const Folder folder;
    RunOptions options = on_threads(2);
    options.record = folder / "timeline.rbt";
    options.checks = true;
    const RunResult whole = run(few(variant), options);
    CHECK(digests(replay(few(variant), folder / "timeline.rbt", on_threads(1))) == digests(whole));

    RunOptions kept = on_threads(1);
    kept.checks = true;
    kept.record = folder / "kept.rbt";
    kept.checkpoints = folder / "checkpoint";
    kept.samples_file = folder / "metrics.csv";
    kept.on_sample = [&](const Sample& sample) { std::ofstream(folder / "metrics.csv", std::ios::app) << metrics_csv_row(sample); };
    write_text(folder / "metrics.csv", "");
    const config::Experiment saved = few(variant + std::vector<std::string>{"checkpoint_every=11.3"});
    CHECK(digests(run(saved, kept)) == digests(whole));
    const auto found = find_run_checkpoint(folder / "checkpoint", folder / "metrics.csv");
    REQUIRE(found.newest);
    kept.resume_from = found.newest->file;
    std::filesystem::resize_file(folder / "metrics.csv", found.newest->head.samples_bytes);
    CHECK(digests(run(saved, kept)) == digests(whole));
  }
}

TEST_CASE("what pauses, and what not all take part in, runs in real time and lands on its digests") {
  const std::vector<std::string> wall{"clock=wall", "time_scale=100", "until=3600.5", "metrics.every_events=20"};
  std::vector<std::vector<std::string>> variants;
  for (const char* name : {"dpsgd", "beer", "choco", "nids", "anq_nids"})
    variants.push_back(in_rounds(name) + std::vector<std::string>{"protocol.exchange_every=2", "protocol.participation=0.5"});
  for (const char* tracks : {"nothing", "momentum"})
    for (const char* kind : {"rounds", "push"})
      variants.push_back({"algorithm.name=depositum", "protocol.kind=" + std::string(kind), "algorithm.T0=2",
                          "algorithm.tracks=" + std::string(tracks)});
  variants.push_back({"algorithm.name=swarm", "algorithm.leader=random", "algorithm.local_steps=3"});
  for (const std::vector<std::string>& variant : variants) {
    CAPTURE(variant.front() + " " + variant.back());
    const Folder folder;
    const config::Experiment experiment = few(variant + wall);
    RunOptions options = on_threads(2);
    options.record = folder / "timeline.rbt";
    const RunResult result = run_until(experiment, options, [](const Sample& sample) {
      return sample.header.counts.computations > 60 && sample.header.counts.kept > 40;
    });
    CHECK(result.was_stopped);
    CHECK(digests(replay(experiment, folder / "timeline.rbt", on_threads(1))) == digests(result));
    if (!experiment.protocol.exchange_every) continue;
    const std::uint64_t exchanges = variant.front() == "algorithm.name=beer" ? 2 : 1;
    CHECK(result.messages.kept <= result.messages.computations / 2 * 5 * exchanges + 60);  // some are early
  }
}

// ---- how long clients train

TEST_CASE("epochs are as many steps as the client's batches, whatever trains") {
  // 40 rows a client in batches of 16: three steps an epoch.
  const std::vector<std::string> digits{"data.name=digits", "data.samples_per_client=40", "model.name=softmax", "model.batch=16",
                                        "until=4.5",        "metrics.test_samples=50",    "precision=float64"};
  const std::map<std::string, std::vector<std::string>> trainers{{"decefl", {"algorithm.form=pseudo"}},
                                                                 {"dfedsam", {}},
                                                                 {"fedavg", {}},
                                                                 {"fedavg_plus", {"algorithm.switch=2"}},
                                                                 {"swarm", {}}};
  for (const auto& [name, more] : trainers) {
    CAPTURE(name);
    const std::vector<std::string> same =
        digits + more + std::vector<std::string>{"algorithm.name=" + name, "algorithm.lr_decay=0.5"};
    const std::string epochs =
        digests(run(few(same + std::vector<std::string>{"algorithm.local_epochs=2", "algorithm.lr_every=1"})));
    CHECK(epochs == digests(run(few(same + std::vector<std::string>{"algorithm.local_steps=6", "algorithm.lr_every=3"}))));
    CHECK(epochs != digests(run(few(same + std::vector<std::string>{"algorithm.local_steps=6", "algorithm.lr_every=2"}))));
    const std::string listed =
        digests(run(few(same + std::vector<std::string>{"algorithm.local_epochs=[2,2,2,2,2,2]", "algorithm.lr_every=1"})));
    CHECK(listed == epochs);
    CHECK(digests(run(few(same + std::vector<std::string>{"algorithm.local_epochs=[2,2,2,2,2,1]", "algorithm.lr_every=1"}))) !=
          epochs);
  }
}

TEST_CASE("a batch of each client's own is listed or drawn, and equal ones are the batch of all") {
  const std::vector<std::string> digits{"data.name=digits", "data.samples_per_client=40", "model.name=softmax", "until=4.5",
                                        "metrics.test_samples=50"};
  const auto model_of = [&](const std::string& batch) { return run(few(digits + std::vector<std::string>{batch})).digests.model; };
  const std::string eight = model_of("model.batch=8");
  CHECK(model_of("model.client_batch=8") == eight);
  CHECK(model_of("model.client_batch=[8,8,8,8,8,8]") == eight);
  CHECK(model_of("model.client_batch={law=\"uniform\",low=7.6,high=8.4}") == eight);
  CHECK(model_of("model.client_batch=[8,8,8,8,8,9]") != eight);
  CHECK(contains(complaint<std::invalid_argument>([&] {
                   run(few(digits + std::vector<std::string>{"model.batch=8", "model.client_batch=8"}));
                 }),
                 "must be none where model.batch says what all clients have"));
}

TEST_CASE("a leader that is drawn routes what the next one in turn would: other links, the same models") {
  const auto swarm = [](const char* leader) {
    return run_counted({"algorithm.name=swarm", "algorithm.leader=" + std::string(leader), "precision=float64"});
  };
  const RunResult in_turn = swarm("in_turn"), random = swarm("random");
  CHECK(sent_of(in_turn) != sent_of(random));
  CHECK(in_turn.messages.sent == random.messages.sent);
  CHECK(std::abs(in_turn.samples.back().loss_mean_model - random.samples.back().loss_mean_model) < 1e-9);
}
