#include "results/metrics_rows.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "results/columns.hpp"
#include "results/run_folder.hpp"
#include "tests/support/files.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// The n-th of a run that counts ten of everything between two samples.
Sample sample_of(std::uint64_t n) {
  Sample sample;
  sample.header.number = n;
  sample.header.at = Time{std::chrono::seconds(n)};
  sample.header.events = 100 * n;
  sample.header.counts = {.sent = 10 * n, .lost = 10 * n, .kept = 10 * n, .computations = 10 * n};
  sample.traffic = {.messages = 10 * n, .bytes = 1000 * n, .gradients = 10 * n};
  return sample;
}

std::string rows_until(std::uint64_t last) {
  std::string text = metrics_csv_head();
  for (std::uint64_t n = 0; n <= last; ++n) text += metrics_csv_row(sample_of(n));
  return text;
}

}  // namespace

TEST_CASE("rows of a life that was killed stay until the first that counts more than is known") {
  const Folder folder;
  const auto metrics = folder / "metrics.csv";
  const std::function<void(Sample&)> shortfalls[] = {[](Sample& known) { --known.header.counts.computations; },
                                                     [](Sample& known) { --known.header.counts.sent; },
                                                     [](Sample& known) { --known.header.counts.kept; },
                                                     [](Sample& known) { --known.header.counts.lost; },
                                                     [](Sample& known) { --known.traffic.bytes; },
                                                     [](Sample& known) { --known.traffic.gradients; },
                                                     [](Sample& known) { --known.header.events; }};
  for (const auto& fall_short : shortfalls) {
    folder.write("metrics.csv", rows_until(5));
    Sample known = sample_of(4);
    keep_known_rows(metrics, known);
    CHECK(text_of(metrics) == rows_until(4));
    CHECK(events_in(metrics) == 400);
    fall_short(known);
    keep_known_rows(metrics, known);
    CHECK(text_of(metrics) == rows_until(3));
    CHECK(events_in(metrics) == 300);
  }
}

TEST_CASE("a row that a kill has cut short goes, with those behind it") {
  const Folder folder;
  const auto metrics = folder / "metrics.csv";
  folder.write("metrics.csv", rows_until(2) + "3,3,300,30");
  keep_known_rows(metrics, sample_of(9));
  CHECK(text_of(metrics) == rows_until(2));
  CHECK(seconds_in(metrics) == sample_of(2).header.at.time_since_epoch().count() * 1e-9);
  folder.write("metrics.csv", rows_until(0) + "1,1,100\n" + metrics_csv_row(sample_of(2)));
  keep_known_rows(metrics, sample_of(9));
  CHECK(text_of(metrics) == rows_until(0));
}

TEST_CASE("a head without rows, a part of a head and no file at all are left as they are") {
  const Folder folder;
  for (const std::string& text : {metrics_csv_head(), std::string("sample,sec"), std::string()}) {
    folder.write("metrics.csv", text);
    keep_known_rows(folder / "metrics.csv", sample_of(1));
    CHECK(text_of(folder / "metrics.csv") == text);
    CHECK(events_in(folder / "metrics.csv") == 0);
  }
  keep_known_rows(folder / "nowhere", sample_of(1));
  CHECK_FALSE(std::filesystem::exists(folder / "nowhere"));
}

TEST_CASE("scores stay with the rows of their samples") {
  const Folder place;
  RunFolder folder(place / "run");
  for (std::uint64_t n = 0; n < 4; ++n) append_scores(folder, sample_of(n));
  folder.write("metrics.csv", rows_until(3));
  const auto scores = folder.contents() / "samples.part";
  const auto whole = std::filesystem::file_size(scores);
  CHECK(keep_known_samples(folder, sample_of(1)) == 100);
  CHECK(text_of(folder.metrics()) == rows_until(1));
  CHECK(std::filesystem::file_size(scores) == whole / 2);
}
