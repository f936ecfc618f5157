#include "results/came_to.hpp"

#include <doctest/doctest.h>

using namespace rubato;

namespace {

// Three clients; the second has the lowest accuracy.
struct Three {
  Three() {
    result.clients = 3;
    result.by_client.resize(3);
    const std::uint64_t sent[] = {10, 20, 0}, lost[] = {1, 4, 0}, kept[] = {9, 3, 6};
    for (std::size_t i = 0; i < 3; ++i) {
      result.by_client[i].sent = sent[i], result.by_client[i].lost = lost[i], result.by_client[i].kept = kept[i];
      result.messages += result.by_client[i];
    }
    result.by_client[1].apart = 2;
    result.samples_by_client = {8, 4, 10};
    result.class_counts = {{{0}, 0, 4}, {{0}, 1, 4}, {{1}, 0, 3}, {{1}, 1, 1}, {{2}, 0, 10}};
    sample.is_classified = true;
    sample.accuracy_min = 0.25;
    sample.worst = ClientId{1};
  }
  ResultJson told() const { return came_to({}, result, {point_of(sample)}); }

  RunResult result;
  Sample sample;
};

}  // namespace

TEST_CASE("the worst client of a run stands beside the median of all") {
  const ResultJson worst = Three{}.told().at("worst_client");
  CHECK(worst.at("client") == 1);
  CHECK(worst.at("accuracy") == 0.25);
  CHECK(worst.at("training_samples") == ResultJson{{"own", 4.0}, {"median", 8.0}});
  CHECK(worst.at("largest_class") == ResultJson{{"own", 0.75}, {"median", 0.75}});
  CHECK(worst.at("kept") == ResultJson{{"own", 3.0}, {"median", 6.0}});
}

TEST_CASE("where messages were lost is told by their senders, of those that sent any") {
  Three three;
  CHECK(three.told().at("lost_by_sender") ==
        ResultJson{{"least", {{"client", 0}, {"share", 0.1}}}, {"most", {{"client", 1}, {"share", 0.3}}}});
  CHECK(three.told().at("most_away").is_null());
  three.result.by_client[2].absent = 5;
  CHECK(three.told().at("most_away") == ResultJson{{"client", 2}, {"lost_to_absence", 5}});
  CHECK(three.told().at("messages").at("sent") == 30);
}

TEST_CASE("no client is worst where nothing is classified or measured") {
  Three three;
  three.sample.worst.reset();
  CHECK(three.told().at("worst_client").is_null());
  CHECK(came_to({}, three.result, {}).at("worst_client").is_null());
}
