// The options of an algorithm as a table: name, type, default, limits and meaning of each stand there once, and what is
// read is checked against it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algos/options.hpp"
#include "runtime/words.hpp"

namespace rubato {

/// What a value must be.
enum class OptionType : std::uint8_t { number, whole, flag, word, text };

/// One key of [algorithm].
struct OptionSpec {
  std::string_view name;                                  ///< of the key
  OptionType type = OptionType::number;                   ///< of the value
  std::string_view fallback;                              ///< as in the file, a word without its quotes: 0.05, true, accumulate
  std::string_view meaning;                               ///< for lists of keys
  double low = -std::numeric_limits<double>::infinity();  ///< less is refused
  double high = std::numeric_limits<double>::infinity();  ///< more is refused
  bool low_is_out = false;                                ///< low itself is refused
  bool high_is_out = false;                               ///< high itself is refused
  std::string_view choices{};                             ///< of a word: "a|b"; of a whole number: what may stand for it
};

/// An option that is one of the words of "a|b".
constexpr OptionSpec word_option(std::string_view name, std::string_view fallback, std::string_view meaning,
                                 std::string_view choices) {
  return {.name = name, .type = OptionType::word, .fallback = fallback, .meaning = meaning, .choices = choices};
}

/// How many rows a table of this type has.
template <class Table>
inline constexpr std::size_t row_count = std::tuple_size_v<Table>;
/// The same for an array.
template <std::size_t N>
inline constexpr std::size_t row_count<OptionSpec[N]> = N;

/// The rows of tables, one after the other.
template <class... Tables>
constexpr std::array<OptionSpec, (row_count<Tables> + ...)> combined(const Tables&... tables) {
  std::array<OptionSpec, (row_count<Tables> + ...)> all;
  auto end = all.begin();
  ((end = std::copy(std::begin(tables), std::end(tables), end)), ...);
  return all;
}

/// What StepSize reads.
constexpr std::array<OptionSpec, 3> step_options(std::string_view name = "eta", std::string_view fallback = "0.05",
                                                 std::string_view meaning = "step size, for all or a list",
                                                 std::string_view law =
                                                     "diminishing: eta / (k + step_offset) in computation k "
                                                     "= 0, 1, ...") {
  return {OptionSpec{name, OptionType::number, fallback, meaning, 0, 1e9, true},
          word_option("step", "constant", law, "constant|diminishing"),
          OptionSpec{"step_offset", OptionType::number, "1", "of a diminishing step", 0, 1e12, true}};
}

/// Options of every algorithm.
inline constexpr OptionSpec shared_options[] = {
    {"local_batches", OptionType::whole, "1",
     "mini-batches of one computation: each is a step, or, where an algorithm tracks gradients or corrects them, the gradient is "
     "the "
     "mean over all; of several local_steps each has so many",
     1, 1e6},
};
/// How many mini-batches a computation has. Throws std::invalid_argument where the option is wrong.
std::uint64_t local_batches_of(const AlgorithmOptions& options);

/// How many steps a computation has.
inline constexpr OptionSpec local_steps_option{"local_steps", OptionType::whole, "1", "steps of one computation", 1, 1e6};

/// Reads options by their table: what is not set has its default. Every reading throws std::invalid_argument where the
/// value has another type, lies beyond the limits or is none of the words.
class OptionReader {
 public:
  /// Both outlive it.
  OptionReader(const AlgorithmOptions& given, std::span<const OptionSpec> table) : given_{given}, table_{table} {}

  /// What stands in the file, with options that no table names.
  const AlgorithmOptions& given() const { return given_; }

  /// A number.
  double number(const std::string& name) const { return checked(spec_of(name), given_.number(name, fallback_of(name))); }
  /// One number for all clients, or one for each.
  std::vector<double> numbers(const std::string& name) const;
  /// The same of whole numbers.
  std::vector<double> wholes(const std::string& name) const;
  /// A whole number.
  std::uint64_t whole(const std::string& name) const;
  /// True or false.
  bool flag(const std::string& name) const { return given_.flag(name, spec_of(name).fallback == "true"); }
  /// A word.
  std::string word(const std::string& name) const;
  /// A text, such as a name that the experiment gives.
  std::string text(const std::string& name) const { return given_.word(name, std::string(spec_of(name).fallback)); }
  /// Whether the word is this one.
  bool is(const std::string& name, std::string_view word) const { return this->word(name) == word; }
  /// A word of an enumeration with a word_list.
  template <class Choice>
  Choice choice(const std::string& name) const {
    return choice_of<Choice>(word(name));
  }

 private:
  const OptionSpec& spec_of(const std::string& name) const;
  double fallback_of(const std::string& name) const;
  static double checked(const OptionSpec& spec, double value);

  const AlgorithmOptions& given_;
  std::span<const OptionSpec> table_;
};

/// A number that differs from client to client, or not.
class PerClientNumber {
 public:
  /// 0 for all clients.
  PerClientNumber() = default;
  /// One number for all clients, or one for each; not empty.
  PerClientNumber(std::vector<double> values) : values_{std::move(values)} {}
  /// That of the client.
  double of(std::size_t client) const { return values_.size() == 1 ? values_[0] : values_.at(client); }
  /// Over all clients.
  double greatest() const { return *std::max_element(values_.begin(), values_.end()); }

 private:
  std::vector<double> values_{0.0};
};

/// eta, or eta / (k + offset) with step = "diminishing"; k counts from 0.
class StepSize {
 public:
  /// 0 for all clients and steps.
  StepSize() = default;
  /// Reads `name` (a number or one per client), step and step_offset, which step_options() lists.
  explicit StepSize(const OptionReader& options, const std::string& name = "eta");
  /// The k-th step of the client.
  double at(std::size_t client, std::uint64_t k) const {
    const double eta = eta_.of(client);
    return offset_ > 0 ? eta / (static_cast<double>(k) + offset_) : eta;
  }
  /// The first step of the client with the longest.
  double greatest() const { return offset_ > 0 ? eta_.greatest() / offset_ : eta_.greatest(); }

 private:
  PerClientNumber eta_;
  double offset_ = 0;
};

}  // namespace rubato
