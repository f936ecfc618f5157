#include "results/whole_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "results/run_result.hpp"
#include "results/sealed_file.hpp"

namespace rubato {

namespace fs = std::filesystem;

void write_whole(const fs::path& file, std::string_view text, Durability durability) {
  const fs::path beside = file.string() + fmt::format(".{}.partial", getpid());
  std::ofstream stream(beside, std::ios::binary);
  stream << text;
  stream.close();
  std::error_code error;
  if (!stream) error = {errno, std::system_category()};
  try {
    if (!error && durability == Durability::of_disk) sync_file(beside);
  } catch (const std::system_error& fault) {
    error = fault.code();
  }
  if (!error) fs::rename(beside, file, error);
  if (!error) return;
  std::error_code none;
  fs::remove(beside, none);
  throw RunFailed(fmt::format("cannot write {}: {}", file.string(), error.message()));
}

std::optional<std::string> read_whole(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

}  // namespace rubato
