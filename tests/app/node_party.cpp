#include "tests/app/node_party.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sstream>

#include "runtime/record.hpp"

namespace fs = std::filesystem;

namespace rubato::test {

namespace {

// Of the loopback network, one for each process: no two test programs want the same port of it.
std::string own_address() {
  const auto process = static_cast<unsigned>(getpid());
  return "127." + std::to_string(1 + process / 62500 % 250) + "." + std::to_string(1 + process / 250 % 250) + "." +
         std::to_string(1 + process % 250);
}

// Bound all at once, so that they differ, and given back.
std::vector<std::uint16_t> free_ports(const std::string& address, std::size_t count) {
  std::vector<int> sockets;
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    REQUIRE(inet_pton(AF_INET, address.c_str(), &where.sin_addr) == 1);
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    socklen_t size = sizeof where;
    REQUIRE(bind(sockets.back(), reinterpret_cast<sockaddr*>(&where), size) == 0);
    REQUIRE(getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&where), &size) == 0);
    ports.push_back(ntohs(where.sin_port));
  }
  for (const int each : sockets) close(each);
  return ports;
}

}  // namespace

Party::Party(const std::string& experiment) {
  std::string text = experiment;
  const std::string address = own_address();
  const auto ports = free_ports(address, everybody.size());
  for (std::size_t i = 0; i < everybody.size(); ++i) {
    const std::string& host = everybody[i];
    REQUIRE(run_rubato({"keygen", host, "--out", home_.path()}).code == 0);
    const std::string key = text_of(home_ / (host + ".public")).substr(0, 40);
    text += "\n[[roster]]\nname = \"" + host + "\"\naddress = \"tcp://" + address + ":" + std::to_string(ports[i]) +
            "\"\npublic_key = \"" + key + "\"\n";
  }
  write_text(file(), text);
}

void Party::start(const std::string& host) {
  processes_[host] = std::make_unique<Command>(
      Arguments{"node", file(), "--host", host, "--out", home_ / host, "--quiet", "--log-level", "info", "--threads", "1"});
}

void Party::start_all(const Names& hosts) {
  for (const std::string& host : hosts) start(host);
}

void Party::kill(const std::string& host) {
  process(host).send(SIGKILL);
  REQUIRE(process(host).wait().by_signal);
}

Ended Party::wait(const std::string& host) { return process(host).wait(); }

void Party::stop(const Names& hosts) {
  for (const std::string& host : hosts) {
    REQUIRE(becomes_true([&] { return process(host).catches(SIGTERM); }));
    send(host, SIGTERM);
  }
  for (const std::string& host : hosts) {
    const Ended ended = wait(host);
    CAPTURE(host);
    CAPTURE(ended.err);
    REQUIRE(ended.code == 130);
  }
}

void Party::finish(const Names& hosts) {
  for (const std::string& host : hosts) {
    const Ended ended = wait(host);
    CAPTURE(host);
    CAPTURE(ended.err);
    REQUIRE(ended.code == 0);
  }
}

fs::path Party::folder(const std::string& host) const {
  const fs::path complete = home_ / host;
  return fs::exists(complete) ? complete : home_ / (host + ".partial");
}

std::size_t Party::samples(const std::string& host) const {
  const std::string text = text_of(folder(host) / "metrics.csv");
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(std::count(text.begin(), text.end(), '\n') - 1, 0));
}

bool Party::has_checkpoint(const std::string& host) const {
  std::error_code none;  // there is no folder yet
  const auto is_checkpoint = [](const fs::directory_entry& entry) { return entry.path().extension() == ".rbc"; };
  return std::ranges::any_of(fs::directory_iterator(folder(host) / "checkpoint", none), fs::directory_iterator(), is_checkpoint);
}

std::uintmax_t Party::recorded_bytes(const std::string& host) const {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(folder(host) / "timeline.rbt", error);
  return error ? 0 : bytes;
}

void Party::see_go_on(const Names& hosts) {
  std::map<std::string, std::size_t> before;
  for (const std::string& host : hosts) before[host] = samples(host);
  for (const std::string& host : hosts) {
    CAPTURE(host);
    const bool goes_on = becomes_true([&] { return samples(host) >= before[host] + 4; });
    CAPTURE(process(host).err());
    REQUIRE(goes_on);
    REQUIRE(process(host).is_running());
  }
}

void Party::see_learn(const Names& hosts, double accuracy) {
  constexpr int column = 8;  // of metrics.csv: accuracy_mean
  for (const std::string& host : hosts) {
    CAPTURE(host);
    const bool has_learnt = becomes_true([&] {
      std::string text = text_of(folder(host) / "metrics.csv");
      text.resize(text.find_last_of('\n') + 1);  // what is whole
      const std::size_t last_line = text.size() < 2 ? 0 : text.find_last_of('\n', text.size() - 2) + 1;
      std::istringstream line(text.substr(last_line));
      std::string value;
      for (int i = 0; i <= column; ++i) std::getline(line, value, ',');
      return samples(host) > 0 && !value.empty() && std::strtod(value.c_str(), nullptr) > accuracy;
    });
    REQUIRE(has_learnt);
  }
}

nlohmann::json Party::summary(const std::string& host) const {
  return nlohmann::json::parse(text_of(folder(host) / "summary.json"));
}

Ended Party::replay(const std::string& first) const {
  Arguments arguments{"replay", folder(first)};
  for (const std::string& host : everybody)
    if (host != first) arguments.push_back(folder(host));
  return run_rubato(arguments);
}

std::size_t merged_from(const fs::path& record, const std::vector<std::uint32_t>& senders, std::uint32_t incarnation) {
  RecordReader reader(record);
  std::size_t count = 0;
  while (const Step* step = reader.next()) {
    if (step->kind != StepKind::merge) continue;
    for (const StepEntry& entry : step->entries)
      count += entry.incarnation == incarnation && std::find(senders.begin(), senders.end(), entry.peer.value) != senders.end();
  }
  return count;
}

std::vector<std::vector<double>> models_of(const fs::path& folder) {
  const std::string text = text_of(folder / "models/models.npy");
  REQUIRE(text.size() > 10);
  REQUIRE(contains(text, "'<f8'"));
  const std::size_t head = 10 + static_cast<unsigned char>(text[8]) + 256u * static_cast<unsigned char>(text[9]);
  const std::size_t shape = text.find("'shape': (") + 10;
  const std::size_t clients = std::stoul(text.substr(shape));
  std::vector<double> numbers((text.size() - head) / sizeof(double));
  std::memcpy(numbers.data(), text.data() + head, numbers.size() * sizeof(double));
  const std::size_t dimension = numbers.size() / clients;
  std::vector<std::vector<double>> models;
  for (std::size_t i = 0; i < clients; ++i) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(i * dimension);
    models.emplace_back(first, first + static_cast<std::ptrdiff_t>(dimension));
  }
  return models;
}

}  // namespace rubato::test
