#include "results/columns.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "results/run_folder.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr std::string_view head = "| column | what it is |\n| --- | --- |\n";

template <class Columns>
std::string described(const Columns& columns) {
  std::string text(head);
  for (const auto& column : columns) text += "| `" + std::string(column.name) + "` | " + std::string(column.meaning) + " |\n";
  return text;
}

// The page with the table of this section replaced.
std::string with_table(const std::string& page, const std::string& section, const std::string& table) {
  const std::size_t begin = page.find(head, page.find("\n## " + section + "\n"));
  REQUIRE(begin != page.npos);
  return page.substr(0, begin) + table + page.substr(page.find("\n\n", begin) + 1);
}

}  // namespace

TEST_CASE("docs/run-folder.md is what the columns say (RUBATO_WRITE_DOCS=1 rewrites it)") {
  const std::filesystem::path file = std::filesystem::path(RUBATO_SOURCE_DIR) / "docs/run-folder.md";
  std::string page = with_table(text_of(file), "metrics.csv", described(sample_columns()));
  page = with_table(page, "clients.csv", described(client_columns()));
  page = with_table(page, "links.csv", described(link_columns()));
  if (std::getenv("RUBATO_WRITE_DOCS")) write_text(file, page);
  CHECK(text_of(file) == page);
}

TEST_CASE("the worst client is the first with the lowest accuracy among those that were measured") {
  Sample sample;
  sample.header.measured = std::make_shared<const std::vector<ClientId>>(std::vector<ClientId>{{1}, {4}, {7}});
  sample.header.clients = 3;
  sample.accuracies = {0.75, 0.25, 0.25};
  sample.losses = {1, 2, 3};
  add_scores(sample, sample.accuracies, empty_score(2));
  CHECK(sample.accuracy_min == 0.25);
  CHECK(sample.worst == ClientId{4});
  CHECK(metrics_csv_row(sample).find(",0.25,4,3,nan,") != std::string::npos);
  sample.worst.reset();
  add_scores(sample, sample.accuracies, {});
  CHECK(metrics_csv_row(sample).find(",nan,nan,3,nan,") != std::string::npos);
}

TEST_CASE("quantiles of accuracies stay where the clients' own are dropped") {
  Sample sample;
  sample.header.measured = std::make_shared<const std::vector<ClientId>>(std::vector<ClientId>{{1}, {4}, {7}});
  sample.accuracies = {0.25, 0.75, 0.5};
  sample.losses = {1, 2, 3};
  const auto read = [&](const char* name) { return to_double(find_sample_column(name)->read(sample)); };
  CHECK(std::isnan(read("accuracy_p50")));
  add_scores(sample, sample.accuracies, empty_score(2));
  sample.accuracies.clear();
  CHECK(read("accuracy_p5") == doctest::Approx(0.275));
  CHECK(read("accuracy_p50") == 0.5);
  CHECK(read("accuracy_p95") == doctest::Approx(0.725));
  CHECK(read("accuracy_max") == 0.75);
  CHECK(read("accuracy_max_client") == 4);
}

TEST_CASE("an accuracy in clients.csv is that of the client, also where the one before it was not measured") {
  RunResult result;
  result.by_client.resize(3);
  Sample last;
  last.is_classified = true;
  last.header.clients = 2;
  last.header.measured = std::make_shared<const std::vector<ClientId>>(std::vector<ClientId>{{0}, {2}});
  last.accuracies = {0.25, 0.75};
  last.losses = {1, 3};
  result.samples.push_back(last);
  CHECK(
      contains(clients_csv(result),
               "\n1,0,0,0,0,0,0,0,0,0,nan,nan,0,0,0,0,0,0,0,0,0,0,0,nan\n2,0,0,0,0,0,0,0,0,0,0.75,3,0,0,0,0,0,0,0,0,0,0,0,nan\n"));
}

TEST_CASE("a sample that went through an archive is the same row, with the clients that it measured") {
  Sample sample;
  sample.header.measured = std::make_shared<const std::vector<ClientId>>(std::vector<ClientId>{{0}, {2}});
  sample.header.counts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, Duration{12}, 13, 14, 15, 16, 17};
  sample.header.energy = {1.5, 2.5, 3.5};
  sample.traffic = {1, 2, 3.5, 4};
  sample.defect = {0.5, 2, "mass", 3, {4}};
  sample.stationarity = Stationarity{1, 2, 3, 4};
  sample.training = TrainingScores{0.5, 6, 0.75, 7};
  sample.gradient = MeanGradient{8, 9};
  sample.gradient_weighted = 10;
  sample.consensus_nu = 11;
  sample.accuracies = {0.25, 0.75};
  sample.different = ClientId{5};
  sample.worst = ClientId{6};
  sample.spread = AccuracySpread{0.25, 0.5, 0.7, 0.75, {2}};
  Archive written;
  sample.archive(written);
  Archive archive(written.bytes());
  Sample read;
  read.archive(archive);
  archive.expect_end();
  CHECK(metrics_csv_row(read) == metrics_csv_row(sample));
  CHECK(*read.header.measured == *sample.header.measured);
  CHECK(read.accuracies == sample.accuracies);
  CHECK(read.different == sample.different);
}
