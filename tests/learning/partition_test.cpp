#include "learning/data/partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;

namespace {

nlohmann::json golden() {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/partitions_a.json");
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

std::vector<std::size_t> sizes(const std::vector<Rows>& lists) {
  std::vector<std::size_t> result;
  for (const Rows& rows : lists) result.push_back(rows.size());
  return result;
}

// No row twice, and the unused ones counted.
void check_law(const Partition& partition, std::size_t available) {
  std::set<std::uint32_t> seen;
  std::size_t dealt = 0;
  for (const Rows& rows : partition.rows) {
    seen.insert(rows.begin(), rows.end());
    dealt += rows.size();
  }
  CHECK(seen.size() == dealt);
  CHECK((seen.empty() || *seen.rbegin() < available));
  CHECK(partition.unused == available - dealt);
}

std::vector<std::size_t> class_sizes(const Rows& rows, const std::vector<Label>& labels, std::uint32_t classes) {
  std::vector<std::size_t> counts(classes);
  for (const std::uint32_t row : rows) ++counts[labels[row]];
  return counts;
}

}  // namespace

TEST_CASE("the golden partitions are reproduced") {
  const nlohmann::json file = golden();
  const std::vector<Label> labels = file["labels"];
  const Rows order = file["perm"];
  const nlohmann::json& expect = file["expect"];
  const std::uint32_t clients = file["clients"], classes = file["n_classes"];
  const Deck deck{labels, classes, order};
  const HeldClasses held = rotating_classes(clients, classes, file["classes_per_client"]);
  CHECK(deal_iid(deck, clients).rows == expect["iid"].get<std::vector<Rows>>());
  CHECK(deal_by_class(deck, held).rows == expect["by_class"].get<std::vector<Rows>>());
  CHECK(deal_by_class_shares(deck, file["dirichlet_rows"]).rows == expect["dirichlet_by_class"].get<std::vector<Rows>>());
  for (const auto& [nodes, rows] : expect["decefl_table3_counts_train4140"].items()) {
    std::vector<PositiveNegative> counts;
    for (const nlohmann::json& row : rows) counts.push_back({row[0], row[1]});
    CHECK(decefl_table3_counts(static_cast<std::uint32_t>(std::stoul(nodes)), 4140) == counts);
  }
}

TEST_CASE("iid blocks differ by at most one row, the first ones being longer") {
  const std::vector<Label> labels(11);
  const Partition partition = partition_iid({labels, 1}, 4, 1);
  CHECK(sizes(partition.rows) == std::vector<std::size_t>{3, 3, 3, 2});
  check_law(partition, 11);
}

TEST_CASE("one class per client gives every client a class of its own") {
  const std::vector<Label> labels = test::random_labels(500, 10, 1);
  const Partition partition = partition_by_class({labels, 10}, 10, 1, false, 1);
  check_law(partition, 500);
  CHECK(partition.unused == 0);
  for (std::uint32_t i = 0; i < 10; ++i) {
    for (const std::uint32_t row : partition.rows[i]) CHECK(labels[row] == i);
  }
}

TEST_CASE("a class that nobody holds stays unused and is reported") {
  const std::vector<Label> labels{0, 1, 2, 0, 1, 2, 2};
  const Partition partition = partition_by_class({labels, 3}, 2, 1, false, 1);
  check_law(partition, 7);
  CHECK(partition.unused == 3);
  REQUIRE(partition.notes.size() == 1);
  CHECK(partition.notes[0] == "class 2 is held by no client: 3 rows are unused");
}

TEST_CASE("randomly held classes are different within a client and follow the seed") {
  Stream stream(1, no_client, Purpose::partition), same(1, no_client, Purpose::partition), other(2, no_client, Purpose::partition);
  const HeldClasses held = draw_classes(50, 10, 3, stream);
  for (const std::vector<Label>& of_client : held) CHECK(std::set<Label>(of_client.begin(), of_client.end()).size() == 3);
  CHECK(held == draw_classes(50, 10, 3, same));
  CHECK(held != draw_classes(50, 10, 3, other));
}

TEST_CASE("Dirichlet shares are shares, for tiny concentrations too, and have the right mean and variance") {
  Stream stream(1, no_client, Purpose::partition);
  for (double concentration : {1e-6, 0.01, 0.1, 1.0, 100.0}) {
    CAPTURE(concentration);
    for (int i = 0; i < 50; ++i) {
      const std::vector<double> shares = draw_dirichlet(concentration, 7, stream);
      REQUIRE(std::accumulate(shares.begin(), shares.end(), 0.0) == doctest::Approx(1).epsilon(1e-12));
      REQUIRE(*std::min_element(shares.begin(), shares.end()) >= 0);
    }
  }
  // Dir(1/2, 1/2, 1/2, 1/2): mean 1/4, variance (1/4)(3/4) / (2 + 1) = 1/16.
  constexpr int n = 20'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double share = draw_dirichlet(0.5, 4, stream)[0];
    sum += share;
    squares += (share - 0.25) * (share - 0.25);
  }
  CHECK(sum / n == doctest::Approx(0.25).epsilon(0.03));
  CHECK(squares / n == doctest::Approx(1.0 / 16).epsilon(0.05));
}

TEST_CASE("dirichlet_by_class gives every client its minimum and uses every row, whatever the seed") {
  const std::vector<Label> labels = test::random_labels(2000, 10, 1);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Partition partition = partition_dirichlet_by_class({labels, 10}, 8, 0.3, 10, seed);
    check_law(partition, 2000);
    CHECK(partition.unused == 0);
    for (std::size_t size : sizes(partition.rows)) CHECK(size >= 10);
  }
}

TEST_CASE("a minimum for which there are too few rows is refused at once, one that no draw meets after 100") {
  const std::vector<Label> labels = test::random_labels(50, 2, 1);
  const auto refusal = [&](std::uint32_t least) {
    return complaint([&] { partition_dirichlet_by_class({labels, 2}, 10, 0.5, least, 1); });
  };
  CHECK(contains(refusal(6), "data.partition.min_samples is 6: for 10 clients that is more than the 50 rows there are"));
  CHECK(contains(refusal(5), "data.partition.min_samples is 5: in 100 draws some client always had fewer"));
}

TEST_CASE("dirichlet_by_client gives counts in its range and a test split of the same mix") {
  const std::vector<Label> train = test::random_labels(20'000, 4, 1), test_labels = test::random_labels(20'000, 4, 2);
  const Partition partition =
      partition_dirichlet_by_client({train, 4}, {test_labels, 4}, 20, {.concentration = 0.5, .test_rows = 0}, 3);
  check_law(partition, 20'000);
  CHECK(partition.notes.empty());
  REQUIRE(partition.test_rows.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(partition.rows[i].size() >= 15);
    CHECK(partition.rows[i].size() <= 100);
    CHECK(class_sizes(partition.rows[i], train, 4) == class_sizes(partition.test_rows[i], test_labels, 4));
  }
}

TEST_CASE("every client has as many test rows as are asked for, of its own mix of classes, however few rows it learns from") {
  const std::vector<Label> train = test::random_labels(20'000, 4, 1), test_labels = test::random_labels(20'000, 4, 2);
  const OwnMix mix{.concentration = 0.5, .fewest = 200, .most = 300, .test_rows = 100};
  const Partition partition = partition_dirichlet_by_client({train, 4}, {test_labels, 4}, 20, mix, 3);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(partition.rows[i].size() >= 200);
    CHECK(partition.rows[i].size() <= 300);
    REQUIRE(partition.test_rows[i].size() == 100);
    const auto learned = class_sizes(partition.rows[i], train, 4), tested = class_sizes(partition.test_rows[i], test_labels, 4);
    for (std::size_t c = 0; c < 4; ++c)  // both are floors of cumulated shares
      CHECK(std::abs(static_cast<double>(learned[c]) / static_cast<double>(partition.rows[i].size()) -
                     static_cast<double>(tested[c]) / 100) < 0.02);
  }
}

TEST_CASE("where lists may overlap no client goes short, none has a row twice, and no row is used twice before all are used") {
  const std::vector<Label> labels = test::random_labels(300, 3, 1);
  const auto copies = [](const std::vector<Rows>& lists) {
    std::vector<int> counts(300);
    for (const Rows& rows : lists) {
      CHECK(std::set<std::uint32_t>(rows.begin(), rows.end()).size() == rows.size());
      for (const std::uint32_t row : rows) ++counts[row];
    }
    return counts;
  };
  for (const Overlap overlap : {Overlap::test, Overlap::both}) {
    const OwnMix mix{.concentration = 2, .fewest = 60, .most = 70, .test_rows = 50, .overlap = overlap};
    const Partition partition = partition_dirichlet_by_client({labels, 3}, {labels, 3}, 20, mix, 3);
    for (const Rows& rows : partition.test_rows) CHECK(rows.size() == 50);
    const std::vector<int> tested = copies(partition.test_rows);
    for (Label c = 0; c < 3; ++c) {  // 1,000 rows are dealt out of 300
      int fewest = 20, most = 0;
      for (std::size_t row = 0; row < 300; ++row)
        if (labels[row] == c) fewest = std::min(fewest, tested[row]), most = std::max(most, tested[row]);
      CHECK(most <= fewest + 1);
    }
    if (overlap == Overlap::test) {
      check_law(partition, 300);
      continue;
    }
    CHECK(partition.notes.empty());
    for (const Rows& rows : partition.rows) CHECK(rows.size() >= 60);
    const std::vector<int> learned = copies(partition.rows);
    CHECK(partition.unused == static_cast<std::size_t>(std::count(learned.begin(), learned.end(), 0)));
  }
}

TEST_CASE("a client that asks for more rows of a class than there are is the only one that goes short where lists overlap") {
  std::vector<Label> labels(110);
  for (std::size_t row = 100; row < 110; ++row) labels[row] = 1;
  Rows order(110);
  std::iota(order.begin(), order.end(), 0u);
  const Partition partition =
      deal_by_client_shares({labels, 2, order}, {{}, 2, {}}, {{1, 0}, {0.5, 0.5}, {1, 0}}, {80, 40, 90}, {}, Overlap::both);
  CHECK(sizes(partition.rows) == std::vector<std::size_t>{80, 20, 90});
  REQUIRE(partition.notes.size() == 1);
  CHECK(partition.notes[0] ==
        "the clients asked for 210 training rows and have 190: 1 asked for more rows of a class than there are");
}

TEST_CASE("counts that exceed the data are scaled down together, with a note") {
  const std::vector<Label> labels = test::random_labels(300, 3, 1);
  const Partition partition = partition_dirichlet_by_client({labels, 3}, {{}, 3}, 20, {.concentration = 0.5}, 3);
  check_law(partition, 300);
  REQUIRE(partition.notes.size() == 1);
  CHECK(contains(partition.notes[0], "scaled down together"));
  CHECK(partition.test_rows.empty());
  for (std::size_t size : sizes(partition.rows)) CHECK(size >= 1);
  // 100 rows of a class: a share of 1 for two clients of 100 each becomes 50 each.
  const std::vector<Label> hundred(100);
  Rows order(100);
  std::iota(order.begin(), order.end(), 0u);
  CHECK(sizes(deal_by_client_shares({hundred, 1, order}, {{}, 1, {}}, {{1}, {1}}, {100, 100}).rows) ==
        std::vector<std::size_t>{50, 50});
}

TEST_CASE("a class without rows gives its share to the others") {
  const std::vector<Label> labels{0, 0, 0, 0, 2, 2, 2, 2};
  const Rows order{0, 1, 2, 3, 4, 5, 6, 7};
  const Partition partition =
      deal_by_client_shares({labels, 4, order}, {{}, 4, {}}, {{0.25, 0.25, 0.25, 0.25}, {0, 1, 0, 0}}, {4, 2});
  CHECK(class_sizes(partition.rows[0], labels, 4) == std::vector<std::size_t>{2, 0, 2, 0});
  CHECK(class_sizes(partition.rows[1], labels, 4) == std::vector<std::size_t>{1, 0, 1, 0});
}

TEST_CASE("decefl_table3 deals its counts of positive and negative rows") {
  std::vector<Label> labels(4140);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i < 2076 ? 1 : 0;
  for (std::uint32_t clients : {8u, 16u}) {
    CAPTURE(clients);
    const Partition partition = partition_decefl_table3({labels, 2}, clients, 1);
    check_law(partition, 4140);
    CHECK(partition.notes.empty());
    const std::vector<PositiveNegative> counts = decefl_table3_counts(clients, 4140);
    for (std::size_t i = 0; i < clients; ++i) {
      const std::vector<std::size_t> expected{counts[i].negative, counts[i].positive};
      CHECK(class_sizes(partition.rows[i], labels, 2) == expected);
    }
  }
  CHECK(contains(complaint([&] { partition_decefl_table3({labels, 2}, 5, 1); }), "clients.count is 5"));
  CHECK(contains(complaint([&] { partition_decefl_table3({labels, 3}, 4, 1); }), "needs 2"));
}

TEST_CASE("decefl_table3 of exactly balanced rows is scaled down together, with a note") {
  std::vector<Label> labels(4140);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 2;
  CHECK(partition_decefl_table3({labels, 2}, 4, 1).notes.empty());
  const Partition partition = partition_decefl_table3({labels, 2}, 8, 1);
  check_law(partition, 4140);
  REQUIRE(partition.notes.size() == 1);
  CHECK(contains(partition.notes[0], "scaled down together"));
  CHECK(partition.rows[7].size() >= 1030);  // of 1034
}

TEST_CASE("an order that names rows which do not exist, or one twice, deals nothing") {
  const std::vector<Label> labels{0, 0, 0};
  const Rows outside{0, 1, 3}, twice{0, 1, 1};
  CHECK(contains(complaint([&] { deal_iid({labels, 1, outside}, 1); }), "the order names row 3 of 3"));
  CHECK_THROWS_AS(deal_iid({labels, 1, twice}, 1), std::logic_error);
}

TEST_CASE("a cap keeps the mix of a client's classes and counts what it leaves") {
  const std::vector<Label> labels = test::random_labels(4000, 4, 1);
  const Partition partition = with_at_most(partition_by_class({labels, 4}, 4, 2, false, 1), 100);
  check_law(partition, 4000);
  for (const Rows& rows : partition.rows) {
    CHECK(rows.size() == 100);
    for (std::size_t size : class_sizes(rows, labels, 4)) CHECK((size == 0 || (size > 40 && size < 60)));
  }
}

TEST_CASE("a partition is the same for the same seed and another for another") {
  const std::vector<Label> labels = test::random_labels(1000, 5, 1);
  const auto deal = [&](std::uint64_t seed) { return partition_dirichlet_by_class({labels, 5}, 5, 1.0, 1, seed).rows; };
  CHECK(deal(1) == deal(1));
  CHECK(deal(1) != deal(2));
}

TEST_CASE("a drawn order is a permutation") {
  Stream stream(1, no_client, Purpose::partition);
  Rows order = draw_order(1000, stream);
  CHECK(!std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < 1000; ++i) REQUIRE(order[i] == i);
}

TEST_CASE("impossible partitions are refused with a sentence") {
  const std::vector<Label> labels{0, 1, 0, 1};
  CHECK(contains(complaint([&] { partition_iid({labels, 2}, 5, 1); }), "clients.count is 5; the data have only 4 rows"));
  CHECK(contains(complaint([&] { partition_iid({labels, 2}, 0, 1); }), "clients.count is 0"));
  CHECK(contains(complaint([&] { partition_by_class({labels, 2}, 2, 3, false, 1); }), "classes is 3; allowed are 1 to 2"));
  CHECK(contains(complaint([&] { partition_by_class({labels, 2}, 6, 1, false, 1); }), "without rows"));
  CHECK(contains(complaint([&] { partition_dirichlet_by_class({labels, 2}, 2, 0, 1, 1); }), "data.partition.alpha is 0"));
  CHECK(contains(complaint([&] {
                   partition_dirichlet_by_client({labels, 2}, {{}, 2}, 2, {.concentration = 1, .fewest = 9, .most = 3}, 1);
                 }),
                 "data.partition.kind = \"dirichlet_by_client\" with samples 9 to 3"));
  CHECK(contains(complaint([&] {
                   partition_dirichlet_by_client({labels, 2}, {{}, 2}, 9, {.concentration = 1, .fewest = 1, .most = 1}, 1);
                 }),
                 "too many"));
}
