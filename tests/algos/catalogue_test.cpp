#include "algos/catalogue.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "learning/models/problems.hpp"

using namespace rubato;

namespace {

template <class Act>
std::string complaint(Act act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("every name of the catalogue is there once and finds its own entry") {
  std::set<std::string_view> names;
  for (const CatalogueEntry* entry : catalogue()) {
    CHECK(names.insert(entry->name).second);
    CHECK(&catalogue_entry(entry->name) == entry);
    CHECK_FALSE(entry->summary.empty());
  }
  CHECK(names.contains("draco"));
}

TEST_CASE("an unknown algorithm is refused with the list of the known ones") {
  const std::string said = complaint([] { catalogue_entry("dracco"); });
  CHECK(said.find("\"dracco\"") != std::string::npos);
  CHECK(said.find("known are: ") != std::string::npos);
  CHECK(said.find("draco") != std::string::npos);
}

TEST_CASE("an option that is not set has its fallback, and one of another type is refused by name") {
  AlgorithmOptions options;
  CHECK(options.number("eta", 0.5) == 0.5);
  CHECK(options.whole("local_batches", 3) == 3);
  CHECK(options.flag("self_apply", true));
  CHECK(options.word("outbox", "latest") == "latest");
  options.set("eta", std::int64_t{2});
  CHECK(options.number("eta", 0.5) == 2.0);  // a whole number is a number
  options.set("eta", std::string("big"));
  CHECK(complaint([&] { options.number("eta", 0.5); }) == "algorithm.eta must be a number");
  options.set("local_batches", 1.5);
  CHECK(complaint([&] { options.whole("local_batches", 1); }) == "algorithm.local_batches must be a whole number");
  options.set("self_apply", std::int64_t{1});
  CHECK(complaint([&] { options.flag("self_apply", false); }) == "algorithm.self_apply must be true or false");
}

TEST_CASE("a mini-batch is a function of seed, client and number alone") {
  const auto learner = make_least_squares<double>(Matrix<double>::Ones(50, 2), Vector<double>::Ones(50));
  Scratch<double> scratch;
  TensorPool pool;
  const auto picks = [&](std::uint64_t seed, std::uint32_t client, std::uint64_t number) {
    const Scratch<double>::Frame frame(scratch);
    const BatchPlan plan{seed, {client}, 16, nullptr};
    const Picks drawn = Work<double>(*learner, plan, scratch, pool).batch(number);
    return Rows(drawn.begin(), drawn.end());
  };
  const Rows seventh = picks(1, 3, 7);
  CHECK(seventh.size() == 16);
  for (const std::uint32_t sample : seventh) CHECK(sample < 50);
  picks(1, 3, 8);
  CHECK(picks(1, 3, 7) == seventh);
  CHECK(picks(1, 3, 8) != seventh);
  CHECK(picks(1, 4, 7) != seventh);
  CHECK(picks(2, 3, 7) != seventh);
}

TEST_CASE("a batch of size 0 is all of the data, and a table of batches is taken as it stands") {
  const auto learner = make_least_squares<double>(Matrix<double>::Ones(50, 2), Vector<double>::Ones(50));
  Scratch<double> scratch;
  TensorPool pool;
  const BatchPlan all{1, {0}, 0, nullptr};
  CHECK(Work<double>(*learner, all, scratch, pool).batch(5).empty());
  const ChoiceTable table{.batches = {{1, 2}, {7}}};
  const BatchPlan tabled{1, {0}, 16, &table};
  const Picks second = Work<double>(*learner, tabled, scratch, pool).batch(1);
  CHECK(Rows(second.begin(), second.end()) == Rows{7});
}
