#include "experiment/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace rubato {

namespace {

constexpr std::size_t most_hosts = 65536;

std::uint32_t number_of(std::string_view text, const std::string& what) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument(fmt::format("{} = \"{}\" is no number", what, text));
  return number;
}

std::optional<std::string> first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = environment(name); value && !value->empty()) return value;
  return std::nullopt;
}

void require_few(std::size_t count) {
  if (count > most_hosts) throw std::invalid_argument("a list names more than 65536 hosts");
}

// Cuts at commas that stand in no bracket.
std::vector<std::string_view> pieces_of(std::string_view list) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const bool is_end = i == list.size() || (list[i] == ',' && depth == 0);
    if (is_end) {
      pieces.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    } else {
      depth += (list[i] == '[') - (list[i] == ']');
    }
  }
  return pieces;
}

// "01-03,7" as 01, 02, 03, 7.
std::vector<std::string> numbers_in(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string_view range : pieces_of(ranges)) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash), last = dash == range.npos ? first : range.substr(dash + 1);
    const std::uint32_t low = number_of(first, "a range of hosts"), high = number_of(last, "a range of hosts");
    if (high < low) throw std::invalid_argument(fmt::format("the range of hosts \"{}\" runs backwards", range));
    require_few(numbers.size() + (high - low));
    for (std::uint64_t number = low; number <= high; ++number) numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  }
  return numbers;
}

// "2(x3),1": how many tasks each machine has.
std::vector<std::uint32_t> tasks_in(const std::string& text) {
  const std::string what = "SLURM_TASKS_PER_NODE";
  std::vector<std::uint32_t> tasks;
  for (const std::string_view piece : pieces_of(text)) {
    const std::size_t open = piece.find("(x");
    const bool is_repeated = open != piece.npos && piece.ends_with(')');
    const std::uint32_t each = number_of(piece.substr(0, open), what);
    const std::uint32_t times = is_repeated ? number_of(piece.substr(open + 2, piece.size() - open - 3), what) : 1;
    require_few(tasks.size() + times);
    tasks.insert(tasks.end(), times, each);
  }
  return tasks;
}

config::Host host_at(const std::string& name, const std::string& machine, std::uint32_t port) {
  if (port > 65535) throw std::invalid_argument(fmt::format("there are not enough ports for all hosts on {}", machine));
  return {name, fmt::format("tcp://{}:{}", machine, port), fmt::format("tcp://*:{}", port), {}, {}};
}

std::vector<config::Host> slurm_hosts(const Environment& environment, std::uint16_t port) {
  const auto list = first_of(environment, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!list) return {};
  const std::vector<std::string> machines = names_in(*list);
  const auto per_machine = first_of(environment, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  std::vector<std::uint32_t> tasks = per_machine ? tasks_in(*per_machine) : std::vector<std::uint32_t>(machines.size(), 1);
  if (tasks.size() != machines.size())
    throw std::invalid_argument(fmt::format("Slurm names {} machines and the tasks of {}", machines.size(), tasks.size()));
  const std::string dealt = environment("SLURM_DISTRIBUTION").value_or("block");
  if (!dealt.starts_with("block") && *std::max_element(tasks.begin(), tasks.end()) > 1)
    throw std::invalid_argument(
        fmt::format("SLURM_DISTRIBUTION = \"{}\": with several tasks on a machine it must be block", dealt));
  std::vector<config::Host> hosts;
  for (std::size_t i = 0; i < machines.size(); ++i)
    for (std::uint32_t task = 0; task < tasks[i]; ++task) {
      require_few(hosts.size());
      hosts.push_back(host_at(tasks[i] == 1 ? machines[i] : fmt::format("{}-{}", machines[i], task), machines[i], port + task));
    }
  return hosts;
}

// A StatefulSet numbers its pods: NAME-0, NAME-1, ...
std::optional<Launch> kubernetes_launch(const Environment& environment, std::uint16_t port) {
  const std::string pod = environment("HOSTNAME").value_or("");
  const std::size_t dash = pod.rfind('-');
  if (!environment("KUBERNETES_SERVICE_HOST") || dash == pod.npos) return std::nullopt;
  Launch launch{"Kubernetes", number_of(std::string_view(pod).substr(dash + 1), "the end of HOSTNAME"), {}};
  const auto service = environment("RUBATO_SERVICE"), count = environment("RUBATO_HOSTS");
  if (!service || !count) return launch;
  const std::uint32_t hosts = number_of(*count, "RUBATO_HOSTS");
  require_few(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const std::string name = pod.substr(0, dash + 1) + std::to_string(i);
    launch.hosts.push_back(host_at(name, name + "." + *service, port));
  }
  return launch;
}

}  // namespace

Environment own_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view piece : pieces_of(list)) {
    const std::size_t open = piece.find('['), close = piece.find(']');
    if (piece.empty() || (open == piece.npos) != (close == piece.npos) || (open != piece.npos && close < open))
      throw std::invalid_argument(fmt::format("\"{}\" is no list of hosts", list));
    if (open == piece.npos) {
      names.emplace_back(piece);
      continue;
    }
    for (const std::string& number : numbers_in(piece.substr(open + 1, close - open - 1))) {
      const auto more = names_in(std::string(piece.substr(0, open)) + number + std::string(piece.substr(close + 1)));
      names.insert(names.end(), more.begin(), more.end());
      require_few(names.size());
    }
  }
  return names;
}

// mpirun inside of a Slurm job leaves Slurm's variables in place, with the rank of its own daemon: it is asked first.
std::optional<Launch> launch_of(const Environment& environment, std::uint16_t port) {
  if (const auto rank = environment("OMPI_COMM_WORLD_RANK"))
    return Launch{"Open MPI", number_of(*rank, "OMPI_COMM_WORLD_RANK"), {}};
  if (const auto rank = environment("SLURM_PROCID"))
    return Launch{"Slurm", number_of(*rank, "SLURM_PROCID"), slurm_hosts(environment, port)};
  return kubernetes_launch(environment, port);
}

std::string join_roster(config::Experiment& experiment, const Launch& launch) {
  if (experiment.roster.empty()) experiment.roster = launch.hosts;
  if (experiment.roster.empty())
    throw std::invalid_argument(
        fmt::format("{} says which host this is, but not where the others are: name them in [[roster]]", launch.launcher));
  if (launch.rank >= experiment.roster.size())
    throw std::invalid_argument(fmt::format("{} has started host {} (counted from 0), and the roster has {}", launch.launcher,
                                            launch.rank, experiment.roster.size()));
  return experiment.roster[launch.rank].name;
}

}  // namespace rubato
