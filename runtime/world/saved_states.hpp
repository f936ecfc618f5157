// SavedStates: the states of one client that it may be asked to go on from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/world/churn.hpp"

#include "runtime/archive.hpp"

namespace rubato {

/// The first, and the two newest of each kind, because a host finds the newest checkpoint on its disk, or the one
/// before if that is damaged. Numbers from first_churn_state on are a kind of their own.
class SavedStates {
 public:
  /// From now on the newest. One of the same number makes room for it, else the older of two; number 0, the first
  /// state, is always kept: a host without a checkpoint begins with it again.
  void keep(std::uint64_t number, std::vector<std::byte> state) {
    std::erase_if(kept_, [number](const Saved& saved) { return saved.number == number; });
    const auto is_alike = [number](const Saved& saved) {
      return saved.number > 0 && (saved.number < first_churn_state) == (number < first_churn_state);
    };
    if (number > 0 && std::count_if(kept_.begin(), kept_.end(), is_alike) == most)
      kept_.erase(std::find_if(kept_.begin(), kept_.end(), is_alike));
    kept_.push_back({number, std::move(state)});
  }

  /// Writes what is kept, or takes it from an archive.
  void archive(Archive& archive) {
    archive.list(kept_, [](Archive& part, Saved& saved) {
      part(saved.number);
      part(saved.state);
    });
  }

  bool has(std::uint64_t number) const {
    return std::any_of(kept_.begin(), kept_.end(), [number](const Saved& saved) { return saved.number == number; });
  }
  /// Valid until the next keep(). Throws std::runtime_error that names those there are.
  std::span<const std::byte> at(std::uint64_t number) const {
    for (const Saved& saved : kept_)
      if (saved.number == number) return saved.state;
    throw std::runtime_error("there is no saved state " + std::to_string(number) + ", " + in_words());
  }

 private:
  static constexpr std::ptrdiff_t most = 2;
  struct Saved {
    std::uint64_t number;
    std::vector<std::byte> state;
  };

  std::string in_words() const {
    if (kept_.empty()) return "nothing was saved";
    std::string words = "only ";
    for (const Saved& saved : kept_) words += (saved.number == kept_.front().number ? "" : " and ") + std::to_string(saved.number);
    return words;
  }

  std::vector<Saved> kept_;  // the newest last
};

}  // namespace rubato
