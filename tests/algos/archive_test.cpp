// Every algorithm goes on from an archive as if nothing had happened.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/actors/support.hpp"
#include "tests/support/experiment_run.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Bytes = std::vector<std::byte>;

Bytes archived(Performer& performer) {
  Archive archive;
  performer.archive(archive);
  return archive.take();
}

void load(Performer& performer, std::span<const std::byte> bytes, TensorPool& pool) {
  Archive archive(bytes, pool);
  performer.archive(archive);
  archive.expect_end();
}

std::string complaint_about(Performer& performer, std::span<const std::byte> bytes, TensorPool& pool) {
  return complaint<BadArchive>([&] { load(performer, bytes, pool); });
}

Bytes bytes_of(const Payload& payload) {
  Bytes bytes;
  const auto add = [&](const Tensor& tensor) {
    if (!tensor) return;
    bytes.insert(bytes.end(), tensor.data<std::byte>(), tensor.data<std::byte>() + tensor.bytes());
  };
  for (const Tensor& tensor : payload.common) add(tensor);
  for (const Tensor& tensor : payload.own) add(tensor);
  return bytes;
}

// Everything that can be seen of a performer.
struct Looks {
  Bytes model;
  std::map<std::string, std::vector<double>> shown, balance, round_balance;

  explicit Looks(const Performer& performer) : model{performer.model_bytes().begin(), performer.model_bytes().end()} {
    AddedVectors probes[3];
    performer.inspect(probes[0]);
    performer.balance(probes[1]);
    performer.round_balance(probes[2]);
    shown = std::move(probes[0].sums);
    balance = std::move(probes[1].sums);
    round_balance = std::move(probes[2].sums);
  }
  bool operator==(const Looks&) const = default;
};

constexpr const char* few_clients = R"(
seed = 5
until = 14.5
[clients]
count = 6
[topology]
kind = "complete"
[algorithm]
name = "NAME"
[data]
name = "quadratic"
dimension = 6
[model]
name = "quadratic"
)";

config::Experiment of(const std::string& algorithm, const std::vector<std::string>& overrides) {
  std::string text = few_clients;
  text.replace(text.find("NAME"), 4, algorithm);
  return experiment(overrides, text);
}

// An algorithm with some of its options.
struct Variant {
  std::string name;
  std::vector<std::string> options;
  std::optional<ProtocolKind> only_under{};

  bool runs_under(ProtocolKind protocol) const {
    return catalogue_entry(name).runs.has(protocol) && (!only_under || *only_under == protocol);
  }
};

std::vector<Variant> all_variants() {
  std::vector<Variant> all;
  for (const CatalogueEntry* entry : catalogue()) all.push_back({std::string(entry->name), {}});
  for (Variant& variant : all)  // kdpdfl compares classes
    if (variant.name == "kdpdfl") variant.options = {"algorithm.T_ex=3", "data.name=digits", "model.name=softmax", "model.batch=4"};
  const std::vector<Variant> others = {
      {"depositum", {"algorithm.option=II", "algorithm.T0=2"}},
      {"pame", {"algorithm.shared_coords=true"}},
      {"dpsgd", {"algorithm.variant=cta"}},
      {"choco", {"algorithm.compressor=rand", "algorithm.k=2"}},
      {"pushpull", {"algorithm.x_mix=cta", "algorithm.y_mix=atc", "algorithm.y0=Bg"}},
      {"spodgt", {"algorithm.gradient_mode=inverse_p"}},
      {"sgp", {"algorithm.step=diminishing"}},
      {"pushpull", {"algorithm.step=diminishing"}, ProtocolKind::rounds},
      {"decefl", {"algorithm.form=pseudo", "algorithm.local_steps=2"}},
      {"fedavg_plus", {"algorithm.switch=2", "data.name=digits", "model.name=softmax", "model.batch=4"}},
      {"async_dsgd", {"algorithm.noise=0.1"}},
      {"draco", {"algorithm.outbox=latest"}},
      {"draco", {"unification.period=2.0"}, ProtocolKind::push},
      {"draco", {"algorithm.snapshot=at_start"}, ProtocolKind::push},
      {"draco", {"algorithm.retain_on_loss=true", "mailbox.deadline=0.3"}, ProtocolKind::push},
      {"async_dsgd", {"protocol.compute_phase=0.6", "protocol.late_work=\"carry_on\""}, ProtocolKind::rounds},
      {"digest", {"algorithm.streams=2"}},
      {"feddr", {"protocol.selected=0.5"}},
      {"fedadmm", {"protocol.selected=0.5"}},
      {"spodgt", {"protocol.compute_chance=0.6"}},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

// Links that lose and delay, where the protocol can live with that.
std::vector<std::string> links_of(ProtocolKind protocol) {
  if (protocol == ProtocolKind::rounds) return {};
  return {"channel.kind=random", "channel.loss=0.1", "channel.delay={law=\"exponential\",mean=0.1}"};
}

// Calls `visit` with every variant under every protocol that it knows, in both scalars.
template <class Visit>
void each_variant(Visit visit) {
  for (const Variant& variant : all_variants())
    for (const ProtocolKind protocol : every_protocol) {
      if (!variant.runs_under(protocol)) continue;
      for (const char* precision : {"float32", "float64"}) {
        const std::vector<std::string> overrides = {"protocol.kind=" + std::string(word_of(protocol)),
                                                    std::string("precision=") + precision};
        CAPTURE(variant.name);
        CAPTURE(variant.options);
        CAPTURE(word_of(protocol));
        CAPTURE(precision);
        visit(of(variant.name, overrides + links_of(protocol) + variant.options));
      }
    }
}

// A performer that was loaded at some step and does every later one as well.
using Twins = std::vector<std::unique_ptr<Performer>>;

bool is_moment(std::uint64_t step, ClientId client) {
  for (const std::uint64_t moment : {1, 2, 3, 5, 8, 13, 21})
    if (step == moment + client.value % 3) return true;
  return false;
}

// Lets twins join the run at several moments of every client; they must publish and show the same until the end.
void run_with_twins(ExperimentRun& run, std::size_t& twins_made) {
  std::vector<Twins> twins(run.clients());
  std::vector<std::uint64_t> steps(run.clients(), 0);
  run.after = [&](const Step& step, std::span<const Payload* const> taken, const Payload& published) {
    Performer& original = run.performer(step.client);
    const Looks looks(original);
    for (const auto& twin : twins[step.client.value]) {
      const Payload of_twin = run.perform(*twin, step, taken);
      REQUIRE(bytes_of(of_twin) == bytes_of(published));
      REQUIRE(Looks(*twin) == looks);
    }
    if (!is_moment(++steps[step.client.value], step.client)) return;
    auto twin = run.make_performer(step.client);
    load(*twin, archived(original), run.pool());
    REQUIRE(Looks(*twin) == looks);
    twins[step.client.value].push_back(std::move(twin));
    ++twins_made;
  };
  run.run();
  for (std::uint32_t i = 0; i < run.clients(); ++i)
    for (const auto& twin : twins[i]) REQUIRE(archived(*twin) == archived(run.performer({i})));
}

}  // namespace

TEST_CASE("every algorithm goes on from an archive as if nothing had happened, bit for bit, under every protocol") {
  std::size_t variants = 0, twins = 0;
  each_variant([&](const config::Experiment& experiment) {
    ExperimentRun undisturbed(experiment), run(experiment);
    undisturbed.run();
    run_with_twins(run, twins);
    CHECK(run.models() == undisturbed.models());
    ++variants;
  });
  CHECK(variants > 100);
  CHECK(twins > 30 * variants);
}

TEST_CASE("an archive that ends early is refused at every length, and the whole one is still taken afterwards") {
  each_variant([&](const config::Experiment& experiment) {
    ExperimentRun run(experiment);
    run.run();
    const Bytes whole = archived(run.performer({2}));
    const auto fresh = run.make_performer({2});
    const std::size_t step = whole.size() > 5000 ? 37 : 1;  // digits: many numbers of one kind
    for (std::size_t length = 0; length < whole.size(); length += step)
      REQUIRE(complaint_about(*fresh, std::span(whole).first(length), run.pool()) != "nothing was thrown");
    load(*fresh, whole, run.pool());
    CHECK(archived(*fresh) == whole);
    CHECK(Looks(*fresh) == Looks(run.performer({2})));
  });
}

TEST_CASE("an archive with one wrong byte is refused or taken, and never more than that") {
  each_variant([&](const config::Experiment& experiment) {
    if (experiment.data.name == "digits") return;
    ExperimentRun run(experiment);
    run.run();
    const Bytes whole = archived(run.performer({1}));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Bytes wrong = whole;
      wrong[i] ^= std::byte{0xFF};
      const auto fresh = run.make_performer({1});
      if (complaint_about(*fresh, wrong, run.pool()) != "nothing was thrown") continue;
      Performer& taken = *fresh;
      CHECK(archived(taken).size() == whole.size());
    }
  });
}

TEST_CASE("an archive of another dimension, scalar or seat is refused with what was found and what must be there") {
  const auto end_of = [](const std::string& name, const std::vector<std::string>& more) {
    auto run = std::make_unique<ExperimentRun>(of(name, std::vector<std::string>{"protocol.kind=push"} + more));
    run->run();
    return run;
  };
  const auto complaint_of = [](ExperimentRun& from, ExperimentRun& to) {
    const Bytes bytes = archived(from.performer({1}));
    return complaint_about(*to.make_performer({1}), bytes, to.pool());
  };
  const auto usual = end_of("spodgt", {}), larger = end_of("spodgt", {"data.dimension=7"}),
             longer = end_of("spodgt", {"precision=float64"}), lonelier = end_of("spodgt", {"topology.kind=ring"});
  CHECK(complaint_of(*usual, *larger) == "a tensor of 6 float32 where there must be one of 7 float32");
  CHECK(complaint_of(*larger, *usual) == "a tensor of 7 float32 where there must be one of 6 float32");
  CHECK(complaint_of(*usual, *longer) == "a tensor of 6 float32 where there must be one of 6 float64");
  CHECK(complaint_of(*usual, *lonelier) == "5 tensors where there must be 2");
  const auto draco = end_of("draco", {});
  CHECK(complaint_of(*usual, *draco) != "nothing was thrown");
}

TEST_CASE("bytes behind the end of a state are refused") {
  ExperimentRun run(of("draco", {}));
  Bytes bytes = archived(run.performer({0}));
  bytes.push_back({});
  CHECK(complaint_about(*run.make_performer({0}), bytes, run.pool()) == "1 bytes are left over");
}
