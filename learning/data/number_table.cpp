#include "learning/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {

template <class Real>
Real* NumberTable<Real>::add_row() {
  const std::size_t most = most_rows_ * columns_, size = numbers_.size();
  if (size == most) return nullptr;
  if (size + columns_ > numbers_.capacity()) numbers_.reserve(std::clamp(2 * size, size + columns_, most));
  numbers_.resize(size + columns_);
  return numbers_.data() + size;
}

template <class Real>
Features<Real> NumberTable<Real>::take() {
  const auto is_byte = [](Real number) {
    return number >= 0 && number <= 255 && number == std::floor(number) && !std::signbit(number);
  };
  const auto columns = static_cast<Index>(columns_);
  if (!std::all_of(numbers_.begin(), numbers_.end(), is_byte)) {
    numbers_.shrink_to_fit();
    return {std::move(numbers_), columns};
  }
  std::vector<std::uint8_t> bytes(numbers_.size());
  std::transform(numbers_.begin(), numbers_.end(), bytes.begin(), [](Real number) { return static_cast<std::uint8_t>(number); });
  numbers_ = {};
  return {std::move(bytes), columns};
}

template class NumberTable<float>;
template class NumberTable<double>;

}  // namespace rubato
