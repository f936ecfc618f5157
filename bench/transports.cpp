// What it costs to carry model payloads: between two processes over ZeroMQ, against raw libzmq in turns with it, and
// within one process, where the size must not matter.
//
//   transports [--json] [--quick] [--only zmq|in_process] [--payloads N]
//
// zmq         a child process sends as fast as it can, the parent counts the bytes of the parcels that its sink is
// given,
//             after a warm-up. Over tcp and ipc, in plain text and with CURVE, payloads of the softmax model (31,400
//             B), the CNN of the papers (596,776 B) and 4 MB. The rival, rivals/zmq_raw.cpp, does the same with the
//             same sockets, and neither checksums nor looks at what it carries. Both send N different payloads in turn.
// in_process  nanoseconds a parcel through the hub and a payload through the slots, from 1 KB to 16 MB.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "transports/hub.hpp"
#include "transports/in_process.hpp"
#include "transports/zmq_transport.hpp"

namespace {

using namespace rubato;
using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr HostId receiver{0}, sender{1};

struct Settings {
  int passes = 7;
  std::chrono::milliseconds visit = 200ms;
  int payloads = 12;
};

struct Case {
  std::string wire;  // tcp or ipc
  bool is_curve;
  std::size_t bytes;
  double floor;

  std::string name() const { return wire + (is_curve ? "_curve_" : "_plain_") + std::to_string(bytes); }
  std::string rival() const { return wire + "_push_pull" + (is_curve ? "_curve_" : "_plain_") + std::to_string(bytes); }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* wire : {"tcp", "ipc"})
    for (const bool is_curve : {false, true})
      for (const auto& [bytes, floor] : {std::pair{31'400, 0.60}, {596'776, 0.85}, {4'000'000, 0.85}})
        all.push_back({wire, is_curve, static_cast<std::size_t>(bytes), floor});
  return all;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// What both processes see.
struct Shared {
  std::array<char, 256> address_of_receiver, address_of_sender;
  std::atomic<bool> receiver_listens, sender_listens, is_over;
};

class SharedMemory {
 public:
  SharedMemory() {
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory that two processes can share");
    shared_ = new (memory) Shared{};
  }
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() const { return shared_; }

 private:
  Shared* shared_;
};

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "rubato-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(1ms);
}

float first_number(int payload) { return static_cast<float>(payload) + 0.25f; }

// Hears nothing.
class NoSink final : public ParcelSink {
  void on_parcel(HostId, Parcel, Duration) override {}
};

/// Counts parcels over an interval that begins and ends with one of them.
class Meter final : public ParcelSink {
 public:
  Meter(std::size_t bytes, Duration warm_up, Duration interval) : bytes_{bytes}, warm_up_{warm_up}, interval_{interval} {}

  void on_parcel(HostId, Parcel parcel, Duration) override {
    look_at(parcel);
    const Duration now = monotonic_now();
    if (parcels_++ == 0) first_ = now;
    if (start_ == Duration{} && now - first_ >= warm_up_ && parcels_ >= least) {
      start_ = now;
      parcels_at_start_ = parcels_;
    }
    if (start_ == Duration{} || now - start_ < interval_ || parcels_ - parcels_at_start_ < least) return;
    const std::lock_guard lock(mutex_);
    if (rate_ > 0) return;
    rate_ = static_cast<double>((parcels_ - parcels_at_start_) * bytes_) / to_seconds(now - start_);
    is_done_.notify_one();
  }

  double bytes_per_second() {
    std::unique_lock lock(mutex_);
    if (!is_done_.wait_for(lock, 60s, [this] { return rate_ > 0; })) throw std::runtime_error("too few parcels arrived");
    if (is_damaged_) throw std::runtime_error("a parcel arrived damaged");
    return rate_;
  }

 private:
  static constexpr std::uint64_t least = 4;

  void look_at(const Parcel& parcel) {
    const bool is_whole = parcel.tensors.size() == 1 && parcel.tensors[0].bytes() == bytes_;
    const float* const numbers = is_whole ? parcel.tensors[0].data<float>() : nullptr;
    if (!is_whole || numbers[0] != numbers[bytes_ / sizeof(float) - 1]) is_damaged_ = true;
  }

  std::size_t bytes_;
  Duration warm_up_, interval_;
  Duration first_{}, start_{};
  std::uint64_t parcels_ = 0, parcels_at_start_ = 0;
  std::atomic<bool> is_damaged_{false};
  std::mutex mutex_;
  std::condition_variable is_done_;
  double rate_ = 0;
};

struct Identities {
  Identity receiver = make_identity(), sender = make_identity();
};

TransportOptions options_of(HostId self, const Case& test, const Identities& keys, const fs::path& folder) {
  TransportOptions options;
  options.self = self;
  options.hosts = {{"receiver", "", test.is_curve ? keys.receiver.public_key : ""},
                   {"sender", "", test.is_curve ? keys.sender.public_key : ""}};
  options.limits.frames_a_second = 0;
  if (test.is_curve) options.secret = self == receiver ? keys.receiver.secret : keys.sender.secret;
  options.bind = test.wire == "tcp" ? "tcp://127.0.0.1:*" : "ipc://" + (folder / std::to_string(self.value)).string();
  return options;
}

void announce(const ZmqTransport& transport, std::array<char, 256>& place, std::atomic<bool>& flag) {
  std::snprintf(place.data(), place.size(), "%s", transport.endpoint().c_str());
  flag = true;
}

void send_until_over(const Case& test, const Identities& keys, const fs::path& folder, int payloads, SharedMemory& shared) {
  TensorPool pool;
  std::vector<Tensor> models;
  for (int i = 0; i < payloads; ++i) {
    models.push_back(pool.make<float>(test.bytes / sizeof(float)));
    std::fill_n(models.back().writable<float>(), test.bytes / sizeof(float), first_number(i));
  }
  NoSink no_sink;
  const auto transport = ZmqTransport::open(options_of(sender, test, keys, folder), pool);
  announce(*transport, shared->address_of_sender, shared->sender_listens);
  wait_for(shared->receiver_listens);
  transport->reach(receiver, shared->address_of_receiver.data());
  transport->start(no_sink);
  Parcel parcel{.kind = ParcelKind::message, .when_full = WhenFull::refuse, .head = std::vector<std::byte>(64), .tensors = {}};
  for (std::size_t next = 0; !shared->is_over;) {
    parcel.tensors = {models[next % models.size()]};
    if (transport->send(receiver, parcel))
      ++next;
    else
      std::this_thread::sleep_for(1ms);
  }
  transport->stop({});
}

pid_t fork_sender(const Case& test, const Identities& keys, const fs::path& folder, int payloads, SharedMemory& shared) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no second process");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    send_until_over(test, keys, folder, payloads, shared);
  } catch (const std::exception& fault) {
    std::cerr << "transports: the sender: " << fault.what() << "\n";
    _exit(1);
  }
  _exit(0);
}

double receive(const Case& test, const Identities& keys, const fs::path& folder, Duration visit, SharedMemory& shared) {
  TensorPool pool;
  Meter meter(test.bytes, visit / 2, visit);
  const auto transport = ZmqTransport::open(options_of(receiver, test, keys, folder), pool);
  announce(*transport, shared->address_of_receiver, shared->receiver_listens);
  wait_for(shared->sender_listens);
  transport->reach(sender, shared->address_of_sender.data());
  transport->start(meter);
  const double rate = meter.bytes_per_second();
  shared->is_over = true;
  transport->stop({});
  return rate;
}

double our_visit(const Case& test, const Settings& settings) {
  const Identities keys;
  const Folder folder;
  SharedMemory shared;
  const pid_t child = fork_sender(test, keys, folder.path(), settings.payloads, shared);
  const double rate = receive(test, keys, folder.path(), settings.visit, shared);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("the sender failed");
  return rate;
}

double rival_visit(const Case& test, const Settings& settings) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "rivals" / "zmq_raw";
  const std::string command = program.string() + " " + std::to_string(settings.visit.count()) + " " + test.rival() + " " +
                              std::to_string(settings.payloads);
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::array<char, 512> line{};
  if (!output || !std::fgets(line.data(), static_cast<int>(line.size()), output.get()))
    throw std::runtime_error(program.string() + " has no answer; the target `bench` builds it");
  return 1e6 * Json::parse(line.data()).at(test.rival()).at("MB_per_second").get<double>();
}

// Who goes first changes.
Json over_zmq(const Settings& settings) {
  const std::vector<Case> all = cases();
  std::vector<std::vector<double>> ours(all.size()), rivals(all.size()), ratios(all.size());
  for (int pass = 0; pass < settings.passes; ++pass)
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (pass % 2) rivals[i].push_back(rival_visit(all[i], settings));
      ours[i].push_back(our_visit(all[i], settings));
      if (pass % 2 == 0) rivals[i].push_back(rival_visit(all[i], settings));
      ratios[i].push_back(ours[i].back() / rivals[i].back());
    }
  Json result = Json::object();
  for (std::size_t i = 0; i < all.size(); ++i)
    result[all[i].name()] = {{"bytes_per_second", median(ours[i])},
                             {"raw_bytes_per_second", median(rivals[i])},
                             {"ratio", median(ratios[i])},
                             {"floor", all[i].floor},
                             {"ratios", ratios[i]}};
  return result;
}

/// Counts what it hears.
class Counter final : public ParcelSink {
 public:
  void on_parcel(HostId, Parcel parcel, Duration) override {
    sum_ += parcel.tensors[0].data<float>()[0];
    ++heard_;
    heard_.notify_one();
  }
  void wait_for(std::uint64_t count) const {
    for (std::uint64_t heard = heard_; heard < count; heard = heard_) heard_.wait(heard);
  }

 private:
  float sum_ = 0;
  std::atomic<std::uint64_t> heard_{0};
};

double nanoseconds_each(Duration start, int count) { return static_cast<double>((monotonic_now() - start).count()) / count; }

double through_hub(const Tensor& model, int parcels) {
  constexpr std::size_t no_limit = std::size_t{1} << 60;
  Hub hub(2, no_limit);
  Counter counter;
  const auto from = hub.end(sender), to = hub.end(receiver);
  to->start(counter);
  const Duration start = monotonic_now();
  for (int i = 0; i < parcels; ++i) {
    Parcel parcel{.kind = ParcelKind::message, .head = std::vector<std::byte>(64), .tensors = {model}};
    if (!from->send(receiver, std::move(parcel))) throw std::runtime_error("the hub took no parcel");
  }
  counter.wait_for(static_cast<std::uint64_t>(parcels));
  const double each = nanoseconds_each(start, parcels);
  to->stop({});
  return each;
}

double through_slots(const Tensor& model, int payloads) {
  SlotTable slots;
  float sum = 0;
  const Duration start = monotonic_now();
  for (int i = 0; i < payloads; ++i) {
    const SlotIndex slot = slots.open(1);
    Payload payload;
    payload.common[0] = model;
    slots.fill(slot, std::move(payload));
    if (slots.is_ready(slot)) sum += slots.payload(slot).common[0].data<float>()[0];
    slots.release(slot);
  }
  const double each = nanoseconds_each(start, payloads);
  if (sum == 0) throw std::runtime_error("the slots lost a payload");
  return each;
}

Json in_process(const Settings& settings, bool is_quick) {
  constexpr std::array sizes{1 << 10, 1 << 14, 1 << 18, 1 << 21, 1 << 24};
  const int count = is_quick ? 5000 : 50'000;
  TensorPool pool;
  std::vector<Tensor> models;
  for (const int bytes : sizes) {
    const std::size_t numbers = static_cast<std::size_t>(bytes) / sizeof(float);
    models.push_back(pool.make<float>(numbers));
    std::fill_n(models.back().writable<float>(), numbers, 1.0f);
  }
  std::vector<std::vector<double>> hub(sizes.size()), slots(sizes.size());
  for (int pass = 0; pass < settings.passes; ++pass)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      hub[i].push_back(through_hub(models[i], count));
      slots[i].push_back(through_slots(models[i], 10 * count));
    }
  Json result = {{"hub_nanoseconds", Json::object()}, {"slots_nanoseconds", Json::object()}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    result["hub_nanoseconds"][std::to_string(sizes[i])] = median(hub[i]);
    result["slots_nanoseconds"][std::to_string(sizes[i])] = median(slots[i]);
  }
  result["hub_largest_to_smallest"] = median(hub.back()) / median(hub.front());
  result["slots_largest_to_smallest"] = median(slots.back()) / median(slots.front());
  return result;
}

void print(const Json& result) {
  for (const auto& [name, part] : result["zmq"].items())
    std::printf("%-20s %8.0f MB/s, raw libzmq %8.0f MB/s, ratio %.2f (floor %.2f)\n", name.c_str(),
                part["bytes_per_second"].get<double>() / 1e6, part["raw_bytes_per_second"].get<double>() / 1e6,
                part["ratio"].get<double>(), part["floor"].get<double>());
  for (const auto& [name, part] : result["in_process"].items()) std::printf("%s  %s\n", name.c_str(), part.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What it costs to carry model payloads.", "transports");
  Settings settings;
  bool is_json = false, is_quick = false;
  std::string only;
  app.add_flag("--json", is_json, "print one JSON object");
  app.add_flag("--quick", is_quick, "short visits: to try the program, not to quote");
  app.add_option("--only", only, "zmq or in_process")->check(CLI::IsMember({"zmq", "in_process"}));
  app.add_option("--payloads", settings.payloads, "how many different payloads are sent in turn")->check(CLI::Range(1, 100));
  CLI11_PARSE(app, argc, argv);
  if (is_quick) settings.passes = 3, settings.visit = 50ms;
  try {
    Json result = {
        {"program", "transports"}, {"payloads", settings.payloads}, {"zmq", Json::object()}, {"in_process", Json::object()}};
    if (only != "in_process") result["zmq"] = over_zmq(settings);
    if (only != "zmq") result["in_process"] = in_process(settings, is_quick);
    if (is_json)
      std::cout << result.dump() << std::endl;
    else
      print(result);
    return 0;
  } catch (const std::exception& fault) {
    std::cerr << "transports: " << fault.what() << "\n";
    return 1;
  }
}
