#include "runtime/world/trace_channel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace rubato;
using namespace std::chrono_literals;

namespace {

LinkTraces traces_of(const std::string& text, std::size_t clients = 3) {
  const auto path = std::filesystem::temp_directory_path() / "rubato_trace_test.csv";
  std::ofstream(path) << text;
  return read_link_traces(path.string(), clients);
}

std::string trace_refusal(const std::string& text) {
  try {
    traces_of(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool refuses(const std::string& text, const std::string& why) { return trace_refusal(text).find(why) != std::string::npos; }

}  // namespace

TEST_CASE("the row in force when a message is sent counts, the first one before it, too") {
  const TraceChannel channel(1, traces_of("source,target,time,delay,loss\n0,1,20,0.5,0\n0,1,10,0.25,1\n\n1,0,0,0.125,0\n"), 7ms);
  const auto at = [&](Duration now, std::uint32_t sender = 0, std::uint32_t receiver = 1) {
    return channel.carry({.sender = {sender}, .receiver = {receiver}, .now = Time{now}});
  };
  CHECK(at(0s).delay == 250ms);
  CHECK(at(0s).lost);
  CHECK(at(10s).lost);
  CHECK(at(20s - 1ns).delay == 250ms);
  CHECK(at(20s).delay == 500ms);
  CHECK_FALSE(at(20s).lost);
  CHECK(at(1000s).delay == 500ms);
  CHECK(at(1000s, 1, 0).delay == 125ms);
  CHECK(at(1000s, 0, 2).delay == 7ms);
  CHECK(channel.knows({0}, {1}));
  CHECK_FALSE(channel.knows({0}, {2}));
}

TEST_CASE("a message is lost with the chance of its row") {
  const TraceChannel channel(1, traces_of("0,1,0,1,0.3\n"), 1ms);
  int lost = 0;
  for (std::uint64_t turn = 0; turn < 20'000; ++turn) lost += channel.carry({.sender = {0}, .receiver = {1}, .turn = turn}).lost;
  CHECK(std::abs(lost / 20'000.0 - 0.3) < 4 * std::sqrt(0.21 / 20'000));
}

TEST_CASE("a retransmission meets the row of its own time") {
  const TraceChannel channel(1, traces_of("0,1,0,1,1\n0,1,5,2,0\n"), 1ms);
  CHECK(channel.carry({.sender = {0}, .receiver = {1}, .now = Time{4s}}).lost);
  CHECK_FALSE(channel.carry({.sender = {0}, .receiver = {1}, .attempt = 1, .now = Time{4s}, .waited = 1s}).lost);
}

TEST_CASE("what is wrong with a trace is said with its line") {
  CHECK(refuses("0,1,0,1\n0,1,0,1\n", "line 2: must hold source, target, time, delay and loss"));
  CHECK(refuses("0,1,0,1,0\nx\n", "line 2: must hold"));
  CHECK(refuses("0,3,0,1,0\n", "line 1: must name two different clients, 0 to 2"));
  CHECK(refuses("1,1,0,1,0\n", "two different clients"));
  CHECK(refuses("0,1,-1,1,0\n", "time must be at least 0"));
  CHECK(refuses("0,1,0,0,0\n", "delay must be greater than 0"));
  CHECK(refuses("0,1,0,1,1.5\n", "loss must be from 0 to 1"));
  CHECK(refuses("0,1,4,1,0\n0,1,4,2,0\n", "two rows for one time"));
  CHECK_THROWS_AS(read_link_traces("/nowhere/at/all", 3), std::invalid_argument);
}
