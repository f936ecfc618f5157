#include "actors/resumable_desk.hpp"

#include <algorithm>

namespace rubato {

SlotIndex ResumableDesk::open_slot(std::uint32_t receivers) {
  const SlotIndex slot = desk_.open_slot(receivers);
  if (slot >= names_.size()) names_.resize(std::max<std::size_t>(slot + 1, 2 * names_.size()));
  names_[slot] = ++publications_;
  return slot;
}

void ResumableDesk::perform(const Step& step) {
  if (!passes_over_) return desk_.perform(step);
  desk_.record(step);
  ensemble_.settle(step, {});
}

void ResumableDesk::open_sample(std::uint64_t number, Time at, std::uint32_t clients) {
  if (!passes_over_) desk_.open_sample(number, at, clients);
}

std::vector<ResumableDesk::Named> ResumableDesk::payloads() const {
  std::vector<Named> payloads;
  ensemble_.slots.visit_in_use([&](SlotIndex slot) { payloads.push_back({names_[slot], slot}); });
  std::sort(payloads.begin(), payloads.end());
  return payloads;
}

}  // namespace rubato
