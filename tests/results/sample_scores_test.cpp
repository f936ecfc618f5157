// samples.npz: what every measured client had in every sample.
#include "results/sample_scores.hpp"

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <cmath>
#include <cstring>
#include <memory>

#include "runtime/zip.hpp"

using namespace rubato;

namespace {

Sample sample_of(std::uint64_t number, double seconds, const std::vector<std::uint32_t>& clients, double accuracy) {
  Sample sample;
  sample.header.number = number;
  sample.header.at = Time{from_seconds(seconds)};
  std::vector<ClientId> measured;
  for (const std::uint32_t client : clients) {
    measured.push_back({client});
    sample.accuracies.push_back(accuracy + client);
    sample.losses.push_back(accuracy - client);
  }
  sample.header.measured = std::make_shared<const std::vector<ClientId>>(measured);
  sample.is_classified = true;
  return sample;
}

template <class Number = double>
std::vector<Number> numbers_behind_head(const std::string& bytes) {
  const std::size_t from = bytes.find('\n') + 1;
  std::vector<Number> numbers((bytes.size() - from) / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data() + from, numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace

TEST_CASE("a client that is not in a sample has no numbers there, and every other has its own") {
  const std::string rows = scores_row(sample_of(0, 0, {1, 4}, 10)) + scores_row(sample_of(1, 2.5, {0, 4, 7}, 20));
  const std::vector<ZipMember> members = unzip(samples_npz(rows));
  REQUIRE(members.size() == 5);
  CHECK(numbers_behind_head<std::int64_t>(members[0].second) == std::vector<std::int64_t>{0, 1});
  CHECK(numbers_behind_head(members[1].second) == std::vector<double>{0, 2.5});
  CHECK(numbers_behind_head<std::int64_t>(members[2].second) == std::vector<std::int64_t>{0, 1, 4, 7});
  CHECK(members[3].second.find("'shape': (2, 4)") != std::string::npos);
  CHECK(members[1].second.find("'shape': (2,)") != std::string::npos);
  const double expected[] = {NAN, 11, 14, NAN, 20, NAN, 24, 27}, losses[] = {NAN, 9, 6, NAN, 20, NAN, 16, 13};
  const std::vector<double> accuracy = numbers_behind_head(members[3].second), loss = numbers_behind_head(members[4].second);
  REQUIRE(accuracy.size() == 8);
  for (std::size_t i = 0; i < accuracy.size(); ++i) {
    CAPTURE(i);
    CHECK((std::isnan(expected[i]) ? std::isnan(accuracy[i]) : accuracy[i] == expected[i]));
    CHECK((std::isnan(losses[i]) ? std::isnan(loss[i]) : loss[i] == losses[i]));
  }
}

TEST_CASE("a file that is read has each sample with the clients that were in it") {
  const std::vector<SampleScores> samples =
      read_samples(samples_npz(scores_row(sample_of(0, 0, {1, 4}, 10)) + scores_row(sample_of(1, 2.5, {0, 4, 7}, 20))));
  REQUIRE(samples.size() == 2);
  CHECK(samples[1].number == 1);
  CHECK(samples[1].seconds == 2.5);
  CHECK(samples[0].accuracies == std::vector<double>{11, 14});
  CHECK(samples[1].losses == std::vector<double>{20, 16, 13});
}

TEST_CASE("what cannot be classified has losses alone") {
  Sample sample = sample_of(0, 0, {2}, 1);
  sample.is_classified = false;
  const std::vector<ZipMember> members = unzip(samples_npz(scores_row(sample)));
  CHECK(std::isnan(numbers_behind_head(members[3].second).at(0)));
  CHECK(numbers_behind_head(members[4].second).at(0) == -1);
}

TEST_CASE("rows become a file and the file becomes the same rows, wherever a kill has cut them") {
  rc::check([] {
    std::string rows;
    const auto samples = *rc::gen::inRange<std::uint64_t>(0, 8);
    std::vector<std::size_t> ends{0};
    for (std::uint64_t i = 0; i < samples; ++i) {
      auto clients = *rc::gen::unique<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 40));
      std::ranges::sort(clients);
      rows += scores_row(sample_of(i, static_cast<double>(i) / 4, clients, 0.5));
      ends.push_back(rows.size());
    }
    RC_ASSERT(rows_of_npz(samples_npz(rows)) == rows);
    const auto kept = *rc::gen::inRange<std::uint64_t>(0, samples + 2);
    RC_ASSERT(bytes_of_rows(rows, kept) == ends[std::min(kept, samples)]);
    const auto cut = *rc::gen::inRange<std::size_t>(0, rows.size() + 1);
    const std::size_t whole = bytes_of_rows(std::string_view(rows).substr(0, cut), samples);
    RC_ASSERT(whole <= cut);
    RC_ASSERT(std::ranges::find(ends, whole) != ends.end());
    RC_ASSERT(std::ranges::count_if(ends, [&](std::size_t end) { return end > whole && end <= cut; }) == 0);
  });
}

TEST_CASE("a file of which a byte is another, or that is cut short, is no file of samples") {
  const std::string file = samples_npz(scores_row(sample_of(0, 0, {1, 4}, 10)) + scores_row(sample_of(1, 2.5, {0, 4}, 20)));
  for (std::size_t i = 0; i < file.size(); ++i) {
    CAPTURE(i);
    std::string other = file;
    other[i] = static_cast<char>(other[i] ^ 16);
    CHECK_THROWS_AS(rows_of_npz(other), std::invalid_argument);
    CHECK_THROWS_AS(rows_of_npz(file.substr(0, i)), std::invalid_argument);
  }
  CHECK_THROWS_AS(rows_of_npz(zip({})), std::invalid_argument);
}
