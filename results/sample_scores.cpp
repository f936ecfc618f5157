#include "results/sample_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/npy.hpp"
#include "runtime/zip.hpp"

namespace rubato {

namespace {

// A row is made of doubles: number of the sample, seconds, how many clients; then client, accuracy and loss of each.
constexpr std::size_t head_numbers = 3, numbers_each = 3;

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

template <class Number = double>
std::vector<Number> numbers_of(std::string_view bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// The length of the row that begins with these numbers; 0: it is cut short.
std::size_t length_of_row(const double* row, std::size_t left) {
  if (left < head_numbers || !(row[2] >= 0 && row[2] <= static_cast<double>(left))) return 0;
  const std::size_t length = head_numbers + numbers_each * static_cast<std::size_t>(row[2]);
  return length <= left ? length : 0;
}

template <class See>
void for_each_row(const std::vector<double>& numbers, See see) {
  for (std::size_t at = 0, length = 0; (length = length_of_row(numbers.data() + at, numbers.size() - at)) > 0; at += length)
    see(numbers.data() + at);
}

std::vector<double> clients_in(const std::vector<double>& numbers) {
  std::vector<double> clients, joined;
  for_each_row(numbers, [&](const double* row) {
    std::vector<double> here;
    for (std::size_t i = 0; i < static_cast<std::size_t>(row[2]); ++i) here.push_back(row[head_numbers + numbers_each * i]);
    if (std::ranges::includes(clients, here)) return;
    joined.clear();
    std::ranges::set_union(clients, here, std::back_inserter(joined));
    clients.swap(joined);
  });
  return clients;
}

template <class Number = double>
std::vector<Number> array_in(const std::vector<ZipMember>& members, std::size_t place, std::string_view name) {
  if (place >= members.size() || members[place].first != name) throw std::invalid_argument("it has no " + std::string(name));
  const std::string& bytes = members[place].second;
  const std::size_t end_of_head = bytes.find('\n');
  if (end_of_head == bytes.npos) throw std::invalid_argument(std::string(name) + " is damaged");
  return numbers_of<Number>(std::string_view(bytes).substr(end_of_head + 1));
}

}  // namespace

std::size_t bytes_of_row(std::size_t clients) { return (head_numbers + numbers_each * clients) * sizeof(double); }

std::string scores_row(const Sample& sample) {
  std::vector<double> row{static_cast<double>(sample.header.number), to_seconds(sample.header.at),
                          static_cast<double>(sample.losses.size())};
  for (std::size_t i = 0; i < sample.losses.size(); ++i)
    row.insert(row.end(),
               {static_cast<double>(sample.header.client(i).value),
                sample.is_classified ? sample.accuracies[i] : std::numeric_limits<double>::quiet_NaN(), sample.losses[i]});
  return bytes_of(row);
}

std::size_t bytes_of_rows(std::string_view rows, std::uint64_t samples) {
  std::size_t numbers = 0;
  for_each_row(numbers_of(rows), [&, left = samples](const double* row) mutable {
    if (left == 0) return;
    --left;
    numbers += head_numbers + numbers_each * static_cast<std::size_t>(row[2]);
  });
  return numbers * sizeof(double);
}

std::uint64_t count_rows(std::string_view rows) {
  std::uint64_t count = 0;
  for_each_row(numbers_of(rows), [&](const double*) { ++count; });
  return count;
}

std::string samples_npz(std::string_view rows) {
  const std::vector<double> numbers = numbers_of(rows), clients = clients_in(numbers);
  std::vector<double> sample, seconds, accuracy, loss;
  for_each_row(numbers, [&](const double* row) {
    sample.push_back(row[0]);
    seconds.push_back(row[1]);
    accuracy.resize(sample.size() * clients.size(), std::numeric_limits<double>::quiet_NaN());
    loss.resize(accuracy.size(), std::numeric_limits<double>::quiet_NaN());
    const double* const end = row + head_numbers + numbers_each * static_cast<std::size_t>(row[2]);
    for (const double* one = row + head_numbers; one < end; one += numbers_each) {
      const auto column = static_cast<std::size_t>(std::ranges::lower_bound(clients, one[0]) - clients.begin());
      const std::size_t place = (sample.size() - 1) * clients.size() + column;
      accuracy[place] = one[1];
      loss[place] = one[2];
    }
  });
  const auto list = [](const auto& values, char kind) {
    return npy_head({values.size()}, sizeof(values[0]), kind) + bytes_of(values);
  };
  const auto whole = [](const std::vector<double>& values) { return std::vector<std::int64_t>(values.begin(), values.end()); };
  const std::string head = npy_head({sample.size(), clients.size()}, sizeof(double));
  return zip({{"sample.npy", list(whole(sample), 'i')},
              {"seconds.npy", list(seconds, 'f')},
              {"client.npy", list(whole(clients), 'i')},
              {"accuracy.npy", head + bytes_of(accuracy)},
              {"loss.npy", head + bytes_of(loss)}});
}

std::vector<SampleScores> read_samples(std::string_view npz) {
  std::vector<SampleScores> samples;
  for_each_row(numbers_of(rows_of_npz(npz)), [&](const double* row) {
    SampleScores& sample = samples.emplace_back(SampleScores{.number = row[0], .seconds = row[1]});
    const double* const end = row + head_numbers + numbers_each * static_cast<std::size_t>(row[2]);
    for (const double* one = row + head_numbers; one < end; one += numbers_each)
      sample.clients.push_back(one[0]), sample.accuracies.push_back(one[1]), sample.losses.push_back(one[2]);
  });
  return samples;
}

std::string rows_of_npz(std::string_view npz) {
  const std::vector<ZipMember> members = unzip(npz);
  const auto sample = array_in<std::int64_t>(members, 0, "sample.npy"), clients = array_in<std::int64_t>(members, 2, "client.npy");
  const std::vector<double> seconds = array_in(members, 1, "seconds.npy"), accuracy = array_in(members, 3, "accuracy.npy"),
                            loss = array_in(members, 4, "loss.npy");
  if (seconds.size() != sample.size() || accuracy.size() != sample.size() * clients.size() || loss.size() != accuracy.size())
    throw std::invalid_argument("its arrays do not fit together");
  std::vector<double> rows;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::size_t head = rows.size();
    rows.insert(rows.end(), {static_cast<double>(sample[i]), seconds[i], 0.0});
    for (std::size_t k = 0; k < clients.size(); ++k) {
      const std::size_t place = i * clients.size() + k;
      if (std::isnan(accuracy[place]) && std::isnan(loss[place])) continue;
      rows.insert(rows.end(), {static_cast<double>(clients[k]), accuracy[place], loss[place]});
      ++rows[head + 2];
    }
  }
  return bytes_of(rows);
}

}  // namespace rubato
