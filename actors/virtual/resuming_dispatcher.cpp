#include "actors/virtual/resuming_dispatcher.hpp"

#include <algorithm>

namespace rubato {

SlotIndex ResumingDispatcher::open_slot(std::uint32_t receivers) {
  const SlotIndex slot = dispatcher_.open_slot(receivers);
  if (slot >= names_.size()) names_.resize(std::max<std::size_t>(slot + 1, 2 * names_.size()));
  names_[slot] = ++publications_;
  return slot;
}

void ResumingDispatcher::perform(const Step& step) {
  if (!passes_over_) return dispatcher_.perform(step);
  dispatcher_.record(step);
  client_pool_.settle(step, {});
}

void ResumingDispatcher::open_sample(const SampleHeader& header) {
  if (!passes_over_) dispatcher_.open_sample(header);
}

std::vector<ResumingDispatcher::Named> ResumingDispatcher::payloads() const {
  std::vector<Named> payloads;
  client_pool_.slots.visit_in_use([&](SlotIndex slot) { payloads.push_back({names_[slot], slot}); });
  std::sort(payloads.begin(), payloads.end());
  return payloads;
}

}  // namespace rubato
