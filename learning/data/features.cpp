#include "learning/data/features.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace rubato {

namespace {

template <class Number>
void append_rows(std::vector<Number>& out, const std::vector<Number>& all, const Rows& rows, Index columns) {
  if (all.empty()) return;
  out.reserve(rows.size() * static_cast<std::size_t>(columns));
  for (const std::uint32_t row : rows) {
    const Number* const first = all.data() + static_cast<Index>(row) * columns;
    out.insert(out.end(), first, first + columns);
  }
}

bool are_equal(const auto& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [&](auto number) { return number == numbers.front(); });
}

}  // namespace

template <class Real>
Features<Real>::Features(const Matrix<Real>& numbers)
    : rows_{numbers.rows()}, columns_{numbers.cols()}, numbers_(numbers.data(), numbers.data() + numbers.size()) {}

template <class Real>
Features<Real>::Features(std::vector<Real> numbers, Index columns)
    : rows_{columns == 0 ? 0 : static_cast<Index>(numbers.size()) / columns}, columns_{columns}, numbers_{std::move(numbers)} {
  assert(static_cast<std::size_t>(rows_ * columns_) == numbers_.size() && "features are whole rows");
}

template <class Real>
Features<Real>::Features(std::vector<std::uint8_t> bytes, Index columns)
    : rows_{columns == 0 ? 0 : static_cast<Index>(bytes.size()) / columns}, columns_{columns}, bytes_{std::move(bytes)} {
  assert(static_cast<std::size_t>(rows_ * columns_) == bytes_.size() && "features are whole rows");
}

template <class Real>
void Features<Real>::copy_row(Index row, Real* out) const {
  assert(row < rows_ && "a row of the table");
  const Index first = row * columns_;
  if (!are_bytes()) {
    std::copy_n(numbers_.data() + first, columns_, out);
    return;
  }
  const std::uint8_t* const bytes = bytes_.data() + first;
  if (scales_.size() == 1) {
    const Real scale = scales_.front(), shift = shifts_.front();
    for (Index i = 0; i < columns_; ++i) out[i] = static_cast<Real>(bytes[i]) * scale + shift;
    return;
  }
  const Real* const scales = scales_.data();
  const Real* const shifts = shifts_.data();
  for (Index i = 0; i < columns_; ++i) out[i] = static_cast<Real>(bytes[i]) * scales[i] + shifts[i];
}

template <class Real>
Real Features<Real>::operator()(Index row, Index column) const {
  const auto place = static_cast<std::size_t>(row * columns_ + column);
  if (!are_bytes()) return numbers_[place];
  const std::size_t of_column = scales_.size() == 1 ? 0 : static_cast<std::size_t>(column);
  return static_cast<Real>(bytes_[place]) * scales_[of_column] + shifts_[of_column];
}

template <class Real>
void Features<Real>::fill_missing(std::span<const double> means) {
  for (std::size_t place = 0; place < numbers_.size(); ++place)
    if (std::isnan(numbers_[place])) numbers_[place] = static_cast<Real>(means[place % means.size()]);
}

template <class Real>
void Features<Real>::rescale(std::span<const double> centres, std::span<const double> factors) {
  assert(static_cast<Index>(centres.size()) == columns_ && factors.size() == centres.size() && "one for each column");
  if (columns_ == 0) return;
  if (!are_bytes()) {
    for (std::size_t place = 0; place < numbers_.size(); ++place) {
      const std::size_t column = place % centres.size();
      numbers_[place] = static_cast<Real>((static_cast<double>(numbers_[place]) - centres[column]) * factors[column]);
    }
    return;
  }
  const bool had_one = scales_.size() == 1;
  std::vector<Real> scales, shifts;
  for (std::size_t column = 0; column < centres.size(); ++column) {
    const std::size_t before = had_one ? 0 : column;
    scales.push_back(static_cast<Real>(static_cast<double>(scales_[before]) * factors[column]));
    shifts.push_back(static_cast<Real>((static_cast<double>(shifts_[before]) - centres[column]) * factors[column]));
  }
  if (are_equal(scales) && are_equal(shifts)) {
    scales = {scales.front()};
    shifts = {shifts.front()};
    scales.shrink_to_fit();
    shifts.shrink_to_fit();
  }
  scales_ = std::move(scales);
  shifts_ = std::move(shifts);
}

template <class Real>
void Features<Real>::clip(double most) {
  const auto limit = static_cast<Real>(most);
  const auto is_beyond = [&](Real number) { return std::abs(number) > limit; };
  if (are_bytes()) {
    Matrix<Real> all = matrix();
    if (std::none_of(all.data(), all.data() + all.size(), is_beyond)) return;
    *this = Features(all);
  }
  for (Real& number : numbers_) number = std::clamp(number, -limit, limit);
}

template <class Real>
void Features<Real>::drop_column(Index column) {
  assert(column < columns_ && scales_.size() == 1 && "a column of a table that is as it was read");
  const auto drop = [&](auto& all) {
    for (std::size_t from = 0, to = 0; from < all.size(); ++from)
      if (static_cast<Index>(from) % columns_ != column) all[to++] = all[from];
    if (!all.empty()) all.resize(static_cast<std::size_t>(rows_ * (columns_ - 1)));
  };
  drop(bytes_);
  drop(numbers_);
  --columns_;
}

template <class Real>
Features<Real> Features<Real>::picked(const Rows& rows) const {
  Features some;
  some.rows_ = static_cast<Index>(rows.size());
  some.columns_ = columns_;
  some.scales_ = scales_;
  some.shifts_ = shifts_;
  append_rows(some.bytes_, bytes_, rows, columns_);
  append_rows(some.numbers_, numbers_, rows, columns_);
  return some;
}

template <class Real>
void Features<Real>::append(const Features& other) {
  assert(other.columns_ == columns_ && other.are_bytes() == are_bytes() && other.scales_ == scales_ && other.shifts_ == shifts_ &&
         "tables of one kind");
  bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
  numbers_.insert(numbers_.end(), other.numbers_.begin(), other.numbers_.end());
  rows_ += other.rows_;
}

template <class Real>
void Features<Real>::transpose_images(Index side) {
  assert(columns_ == side * side && are_bytes() && scales_.size() == 1 && "square images of bytes");
  for (Index row = 0; row < rows_; ++row) {
    std::uint8_t* const image = bytes_.data() + row * columns_;
    for (Index y = 0; y < side; ++y)
      for (Index x = 0; x < y; ++x) std::swap(image[y * side + x], image[x * side + y]);
  }
}

template <class Real>
std::size_t Features<Real>::stored_bytes() const {
  return bytes_.capacity() + (numbers_.capacity() + scales_.capacity() + shifts_.capacity()) * sizeof(Real);
}

template <class Real>
Matrix<Real> Features<Real>::matrix() const {
  Matrix<Real> all(rows_, columns_);
  for (Index row = 0; row < rows_; ++row) copy_row(row, all.row(row).data());
  return all;
}

template class Features<float>;
template class Features<double>;

}  // namespace rubato
