#include "results/wall_checkpoint.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace rubato {

namespace fs = std::filesystem;

namespace {

WallCheckpoint read(SealedReader& reader, std::string_view experiment) {
  const std::string theirs = read_checkpoint_head(reader, RunClock::real_time);
  if (theirs != experiment)
    throw std::invalid_argument(reader.path().string() + " belongs to another experiment (digest " + theirs + ", this one has " +
                                std::string(experiment) + "); choose another folder or remove it");
  Archive archive(reader.take(reader.bytes_left()));
  WallCheckpoint found;
  std::vector<std::pair<ClientId, std::vector<std::byte>>> states;
  archive(found.number);
  archive.list(states, [](Archive& part, auto& client) { part(client.first, client.second); });
  archive.expect_end();
  for (auto& [client, state] : states) found.states[client] = std::move(state);
  return found;
}

}  // namespace

void WallCheckpoint::write(const fs::path& folder, std::string_view experiment) const {
  SealedSeries(folder).write(number, [&](SealedWriter& file) {
    write_checkpoint_head(file, RunClock::real_time, experiment);
    file.add_value(number);
    file.add_value(std::uint64_t{states.size()});
    for (const auto& [client, state] : states) {
      file.add_value(client.value);
      file.add_list(state);
    }
  });
}

FoundCheckpoint<WallCheckpoint> WallCheckpoint::find(const fs::path& folder, std::string_view experiment) {
  return find_checkpoint<WallCheckpoint>(folder, [&](SealedReader& reader) { return read(reader, experiment); });
}

}  // namespace rubato
