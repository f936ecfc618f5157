// RunView: a run as a page of text, as wide and high as the terminal: how far, how well, what became of the messages, who is worst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rubato::app {

struct ViewSize {
  std::size_t columns = 80, rows = 24;
  bool has_utf8 = false, has_colour = false;
};

/// Answers GET with the body, as docs/live.md describes it.
using Fetch = std::function<std::string(const std::string& target)>;

/// Of results that lack some clients.
std::string sentence_about_absence(std::size_t there, std::size_t clients);

class RunView {
 public:
  using Json = nlohmann::json;
  explicit RunView(Fetch fetch, std::uint64_t run = 0) : fetch_{std::move(fetch)}, run_{run} {}

  /// Asks for what is new. Throws std::runtime_error where there is no answer.
  void refresh();
  bool is_over() const;
  /// The lines of the page, none wider than it.
  std::vector<std::string> page(const ViewSize& size) const;
  /// One line.
  std::string line(std::size_t columns) const;
  /// Shows the next measure in place of the accuracy.
  void next_measure() { ++measure_; }

 private:
  std::string target(const std::string& path) const;
  double newest(const std::string& column) const;
  std::vector<double> column(const std::string& name) const;
  bool has(const std::string& column) const;
  std::vector<std::string> head(const ViewSize& size) const;
  std::vector<std::string> plot(const std::vector<std::string>& columns, const std::string& title, const ViewSize& size,
                                std::size_t rows) const;
  std::vector<std::string> worst(std::size_t columns) const;
  std::vector<std::string> hosts() const;
  std::vector<std::string> events(std::size_t most) const;

  Fetch fetch_;
  std::uint64_t run_;
  std::size_t measure_ = 0;
  Json hello_ = Json::object(), tick_ = Json::object(), hosts_ = Json::object(), newest_ = Json::object();
  std::vector<std::vector<double>> rows_;
  std::vector<Json> events_;
  std::uint64_t next_row_ = 0, next_event_ = 0;
};

}  // namespace rubato::app
