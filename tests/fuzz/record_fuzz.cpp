// A record of somebody else: reading it breaks nothing, takes no memory that its bytes do not need, and its steps name
// clients and slots that are there.
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "runtime/checksum.hpp"
#include "runtime/engine/scripted.hpp"
#include "runtime/record.hpp"
#include "tests/fuzz/input_file.hpp"

using namespace rubato;
using namespace rubato::fuzz;

namespace {

/// Performs nothing and sees that what it is given can be performed.
class Watcher final : public StepSink {
 public:
  explicit Watcher(std::uint32_t clients) : clients_{clients} {}

  SlotIndex open_slot(std::uint32_t) override { return slots_++; }
  void perform(const Step& step) override {
    insist(step.client.value < clients_);
    const bool uses_slots = step.kind == StepKind::publish || step.kind == StepKind::merge || step.kind == StepKind::adopt ||
                            step.kind == StepKind::reclaim || step.kind == StepKind::discard;
    for (const StepEntry& entry : step.entries) {
      insist(entry.peer.value < clients_);
      insist(!uses_slots || entry.slot < slots_);
    }
  }

 private:
  std::uint32_t clients_;
  SlotIndex slots_ = 0;
};

void append(std::vector<std::byte>& bytes, const void* more, std::size_t count) {
  const auto* const begin = static_cast<const std::byte*>(more);
  bytes.insert(bytes.end(), begin, begin + count);
}

// The first byte: 0 takes the bytes as a file, else they are one block of so many clients.
std::vector<std::byte> file_of(std::span<const std::byte> input) {
  if (input.empty() || input[0] == std::byte{0}) return {input.begin(), input.end()};
  const auto clients = static_cast<std::uint32_t>(input[0]);
  const auto block = input.subspan(1);
  const auto size = static_cast<std::uint32_t>(block.size());
  const std::uint64_t sum = checksum(block);
  std::vector<std::byte> file;
  append(file, "RBTSTEP3", 8);
  append(file, &clients, sizeof clients);
  append(file, &size, sizeof size);
  append(file, &sum, sizeof sum);
  append(file, block.data(), block.size());
  return file;
}

// The first client is linked with each of the others.
Graph star(std::uint32_t clients) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 1; i < clients; ++i) edges.push_back({{0}, {i}});
  return {clients, false, edges};
}

void play(const InputFile& file, RecordOf kind, const Graph& graph, bool leaves_out) try {
  Watcher watcher(static_cast<std::uint32_t>(graph.clients()));
  Scripted script({file.path()}, kind, graph, watcher);
  if (leaves_out) script.leave_out({{0}});
  for (int slices = 0; slices < 1000 && script.walk(1000); ++slices) {
  }
} catch (const std::runtime_error&) {  // a sentence
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = file_of(std::as_bytes(std::span{data, size}));
  const InputFile file(bytes);
  std::uint32_t clients = 0;
  try {
    RecordReader reader(file.path());
    clients = reader.clients();
    while (const Step* step = reader.next()) insist(step->client.value < clients);
    insist(reader.intact_bytes() <= bytes.size());
  } catch (const std::runtime_error&) {
    return 0;
  }
  if (clients == 0 || clients > 255) return 0;  // a run of many clients has as much memory
  const Graph graph = star(clients);
  play(file, RecordOf::virtual_time, graph, false);
  play(file, RecordOf::real_time, graph, false);
  play(file, RecordOf::real_time, graph, true);
  return 0;
}
