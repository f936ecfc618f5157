// The golden cases, and that the check can fail.
#include "app/golden/golden.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/golden/cases.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;
using nlohmann::json;

namespace {

const std::filesystem::path cases = std::filesystem::path(RUBATO_SOURCE_DIR) / "tests/golden";

json case_named(const std::string& name) { return json::parse(text_of(cases / (name + ".json"))); }

GoldenVerdict verdict_on(const Folder& folder, const json& golden_case) {
  write_text(folder / "case.json", golden_case.dump());
  return check_golden(folder / "case.json");
}

// Every place below `value` as a JSON pointer, the value itself left out.
void collect(const json& value, const json::json_pointer& at, std::vector<json::json_pointer>& places) {
  if (!at.empty()) places.push_back(at);
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) collect(inner, at / key, places);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], at / i, places);
}

std::vector<json::json_pointer> places_in(const json& value) {
  std::vector<json::json_pointer> places;
  collect(value, json::json_pointer(), places);
  return places;
}

}  // namespace

TEST_CASE("a golden graph of an unknown form or of too many clients fails at once") {
  const Folder folder;
  for (const std::string call :
       {"knn(points,1,sideways)", "complete(1000000)", "torus(2000,2000)", "one_peer_exponential(8,t=0..9999999)"}) {
    CAPTURE(call);
    const json golden_case = {{"algorithm", "topology"},
                              {"tolerance", {{"abs", 0}, {"rel", 0}}},
                              {"points", {{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}}},
                              {"expect", {{call, call.starts_with("one") ? json::array() : json::object()}}}};
    const GoldenVerdict verdict = verdict_on(folder, golden_case);
    CHECK(verdict.outcome == GoldenOutcome::failed);
    CHECK(verdict.detail != "");
  }
}

TEST_CASE("every golden case of this clone passes") {
  std::set<std::string> algorithms, by_formula;
  const auto files = find_golden({cases});
  CHECK(files.size() >= 89);
  for (const auto& file : files) {
    const GoldenVerdict verdict = check_golden(file);
    CAPTURE(file.string());
    CAPTURE(verdict.detail);
    CHECK(verdict.outcome == GoldenOutcome::passed);
    CHECK(verdict.detail.empty());
    algorithms.insert(verdict.algorithm);
    if (verdict.is_formula) by_formula.insert(verdict.id);
  }
  CHECK(by_formula == std::set<std::string>{"channel_a", "channel_small_sinr",
                                            "decefl_time_varying_weights"});  // all others are the engine's answers
  CHECK(algorithms == std::set<std::string>{"acid",
                                            "acid_constants",
                                            "adpsgd",
                                            "noloco",
                                            "osgp",
                                            "pair",
                                            "rfast",
                                            "swarm_sgd",
                                            "amelie",
                                            "asgd",
                                            "diloco",
                                            "exact_times",
                                            "fedasync",
                                            "fedbuff",
                                            "fragile",
                                            "m_sync",
                                            "malenia",
                                            "minibatch_tree",
                                            "rennala",
                                            "ringleader",
                                            "ringmaster",
                                            "staleness_laws",
                                            "bounds",
                                            "equilibrium_time",
                                            "optimal_settings",
                                            "aircomp",
                                            "anq_nids",
                                            "async_dsgd",
                                            "beer",
                                            "channel",
                                            "chapter2",
                                            "choco",
                                            "compressors",
                                            "decefl",
                                            "decefl_weights",
                                            "depositum",
                                            "dfedsam",
                                            "digest",
                                            "dpsgd",
                                            "draco",
                                            "draco_rounds",
                                            "dsgt",
                                            "fedadmm",
                                            "fedavg",
                                            "fedavg_plus",
                                            "feddr",
                                            "fedmid",
                                            "gossip",
                                            "kdpdfl",
                                            "kgt",
                                            "local_only",
                                            "metrics",
                                            "mixing",
                                            "nids",
                                            "pame",
                                            "partition",
                                            "pme",
                                            "pme_expectation",
                                            "prox",
                                            "pushpull",
                                            "sgp",
                                            "slot_schedule",
                                            "spodgt",
                                            "swarm",
                                            "topology",
                                            "window"});
}

TEST_CASE("an answer has the schema of its case and satisfies it") {
  for (const auto& file : find_golden({cases})) {
    const GoldenVerdict verdict = check_golden(file);
    const json answer = json::parse(verdict.answer), golden_case = json::parse(text_of(file));
    CHECK(answer.size() == 2);
    CHECK(answer.at("id") == golden_case.at("id"));
    CHECK(golden::difference(golden_case.at("expect"), answer.at("expect"), 1e-9, 1e-9, "expect") == "");
  }
}

TEST_CASE("a changed number fails its case, and the verdict names the place") {
  const Folder folder;
  json changed = case_named("draco_coupled");
  json& theta = changed["expect"]["final"]["theta"][0][0];
  theta = theta.get<double>() + 1e-6;
  const GoldenVerdict verdict = verdict_on(folder, changed);
  CHECK(verdict.outcome == GoldenOutcome::failed);
  CHECK(verdict.detail.starts_with("expect.final.theta[0][0]: golden "));
}

TEST_CASE("whatever number of a trace is changed, the case fails") {
  const Folder folder;
  for (const std::string name : {"window_basic", "psi_cap_basic", "draco_coupled", "draco_decoupled_a", "draco_rounds_a"}) {
    CAPTURE(name);
    const json golden_case = case_named(name);
    std::size_t tried = 0;
    for (const auto& place : places_in(golden_case.at("expect"))) {
      const json::json_pointer in_case = json::json_pointer("/expect") / place;
      if (!golden_case.at(in_case).is_number() || ++tried % 29 != 0) continue;  // every 29th is enough
      json changed = golden_case;
      if (changed.at(in_case).is_number_float())
        changed[in_case] = changed.at(in_case).get<double>() + 1e-3;
      else
        changed[in_case] = changed.at(in_case).get<int>() + 1;
      const std::string where = in_case.to_string();
      CAPTURE(where);
      CHECK(verdict_on(folder, changed).outcome == GoldenOutcome::failed);
    }
    CHECK(tried > 29);
  }
}

TEST_CASE("another setting than the case was made with fails it") {
  const Folder folder;
  for (const auto& [place, value] : {std::pair<const char*, json>{"/config/eta", 0.123},
                                     {"/config/self_apply", true},
                                     {"/config/B", 3},
                                     {"/config/deadline", 1e-5}}) {
    json changed = case_named("draco_decoupled_a");
    REQUIRE(changed.value(json::json_pointer(place), json()) != value);
    changed[json::json_pointer(place)] = value;
    CAPTURE(place);
    CHECK(verdict_on(folder, changed).outcome == GoldenOutcome::failed);
  }
}

TEST_CASE("a difference names the first place where ours is no answer") {
  using golden::difference;
  const json case_of_all = {{"a", 1.0}, {"b", {1, 2.5}}, {"c", nullptr}, {"d", "word"}};
  CHECK(difference(case_of_all, case_of_all, 0, 0, "expect") == "");
  CHECK(difference({{"a", 1.0}}, {{"a", 1.0}, {"more", 5}}, 0, 0, "expect") == "");  // we may know more
  CHECK(difference({{"a", 1.0}}, json::object(), 0, 0, "expect") == "expect.a: missing");
  CHECK(difference({1, 2}, {1}, 0, 0, "x") == "x: golden [1,2], ours [1]");
  CHECK(difference({{1.0, 2.0}}, {{1.0, 2.5}}, 0.1, 0, "x") == "x[0][1]: golden 2.0, ours 2.5");
  CHECK(difference(2.0, 2.5, 0.5, 0, "x") == "");
  CHECK(difference(2.0, 2.5, 0, 0.25, "x") == "");
  CHECK(difference(2.0, 2.5, 0, 0.2, "x") == "x: golden 2.0, ours 2.5");
  CHECK(difference(2.0, 2, 0, 0, "x") == "");
  CHECK(difference(2.0, std::numeric_limits<double>::quiet_NaN(), 1, 1, "x") != "");
  CHECK(difference(2.0, "2.0", 1, 1, "x") != "");
  CHECK(difference(nullptr, 0, 1, 1, "x") != "");
  CHECK(difference(true, 1, 1, 1, "x") != "");
  CHECK(difference(1, 2, 5, 5, "x") != "");  // counts have no tolerance
}

TEST_CASE("a case of an algorithm we do not have yet is unsupported, not passed") {
  const Folder folder;
  json other = case_named("draco_coupled");
  other["algorithm"] = "telepathy";
  const GoldenVerdict verdict = verdict_on(folder, other);
  CHECK(verdict.outcome == GoldenOutcome::unsupported);
  CHECK(verdict.algorithm == "telepathy");
  CHECK(verdict.answer.empty());
}

TEST_CASE("gradients that overlap are refused: no protocol has such jobs") {
  const Folder folder;
  json overlapping = case_named("async_dsgd_barrier");
  overlapping["schedule"]["tau"] = {{0, 0}, {1, 0}};  // of client 0 the second begins before the first has ended
  const GoldenVerdict verdict = verdict_on(folder, overlapping);
  CHECK(verdict.outcome == GoldenOutcome::failed);
  CHECK(verdict.detail == "tau: jobs of a client overlap, or some carry on and others do not");
}

TEST_CASE("a file that is no case is a failed verdict with a reason") {
  const Folder folder;
  for (const std::string text : {"", "{", "[]", "null", "42", "{}", "{\"algorithm\": 7}", "{\"algorithm\": \"draco\"}", "\xff\xfe",
                                 "{\"algorithm\": \"window\", \"expect\": []}"}) {
    CAPTURE(text);
    write_text(folder / "case.json", text);
    const GoldenVerdict verdict = check_golden(folder / "case.json");
    CHECK(verdict.outcome == GoldenOutcome::failed);
    CHECK_FALSE(verdict.detail.empty());
  }
  CHECK(check_golden(folder / "missing.json").outcome == GoldenOutcome::failed);
  CHECK(check_golden(folder.path()).outcome == GoldenOutcome::failed);
}

TEST_CASE("whatever is damaged in a case, the answer is a verdict: no crash, no hang") {
  // In processes of their own, so that a crash is seen for what it is.
  for (const auto& file : find_golden({cases})) {
    const json golden_case = json::parse(text_of(file));
    std::vector<json::json_pointer> places;
    for (const auto& place : places_in(golden_case))
      if (!place.to_string().starts_with("/expect") && !place.to_string().starts_with("/problem/")) places.push_back(place);
    const std::size_t stride = 1 + places.size() / (is_nightly() ? 25 : 5);
    for (std::size_t i = 0; i < places.size(); i += stride) {
      const std::string where = file.stem().string() + places[i].to_string();
      CAPTURE(where);
      const std::string ended = in_a_process(
          [&] {
            const Folder folder;
            for (const json& value : {json(nullptr), json(-1), json("word"), json::array(), json::object(), json(true)}) {
              json damaged = golden_case;
              damaged[places[i]] = value;
              verdict_on(folder, damaged);
            }
            return std::string("done");
          },
          patience);
      CHECK(ended == "done");
    }
  }
}

TEST_CASE("cases are found in folders and by name, in the order of their names, without the index") {
  const Folder folder;
  for (const std::string name : {"b.json", "a.json", "INDEX.json", "README.md"}) write_text(folder / name, "{}");
  CHECK(find_golden({folder.path()}) == std::vector{folder / "a.json", folder / "b.json"});
  CHECK(find_golden({folder / "b.json"}) == std::vector{folder / "b.json"});
  CHECK(complaint<std::invalid_argument>([&] { find_golden({folder / "c.json"}); }) ==
        "there is no " + (folder / "c.json").string());
  const Folder empty;
  CHECK(complaint<std::invalid_argument>([&] { find_golden({empty.path()}); }) ==
        "there is no golden case in " + empty.path().string());
}
