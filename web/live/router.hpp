// Router: what each path of a server answers. Reads runs, never a file; knows no socket.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/live/gate.hpp"
#include "web/live/run_source.hpp"

namespace rubato::web {

struct Request {
  std::string_view method;
  std::string_view target;  ///< with its query
  Knock knock;
};

struct Reply {
  unsigned status = 200;
  std::string body{};
  std::string_view type = "text/plain; charset=utf-8";
  std::string cookie{};
  bool is_page = false;  ///< it may run its own scripts
};

/// What a server has done, for its own metrics.
struct ServerCounts {
  std::map<unsigned, std::uint64_t> replies;  ///< by status
  std::uint64_t dropped = 0;                  ///< frames and marks that a page was too slow for
  std::size_t viewers = 0;
};

/// A whole number in a query, as in "/live?run=2&samples=17".
std::optional<std::uint64_t> number_in(std::string_view target, std::string_view name);
/// Without its query.
std::string_view path_of(std::string_view target);

class Router {
 public:
  using Runs = std::vector<std::shared_ptr<RunSource>>;
  Router(Runs runs, const Gate& gate, const ServerCounts& counts) : runs_{std::move(runs)}, gate_{gate}, counts_{counts} {}

  Reply answer(const Request& request) const;
  /// Why this request is not let in; nothing: it is.
  std::optional<Reply> refusal(const Request& request) const;
  /// The run that a query names, the first if it names none; null: there is no such run.
  std::shared_ptr<RunSource> run_in(std::string_view target) const;
  const Runs& runs() const { return runs_; }

 private:
  Reply answer_about_run(std::string_view path, std::string_view target) const;
  Reply runs_line() const;
  Reply metrics() const;

  Runs runs_;
  const Gate& gate_;
  const ServerCounts& counts_;
};

}  // namespace rubato::web
