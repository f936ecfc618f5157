#include "experiment/file/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include "runtime/time.hpp"
#include "transports/open.hpp"
#include "transports/zmq_identity.hpp"

namespace rubato::config {

namespace {

std::string path_of_host(std::size_t number, std::string_view key) { return fmt::format("roster[{}].{}", number, key); }

class Relations {
 public:
  Relations(Experiment& experiment, Table& root, Faults& faults) : is_{experiment}, root_{root}, faults_{faults} {}

  void judge() const {
    of_clients();
    of_channel();
    of_links();
    of_classes();
    of_roster();
    of_mailbox();
    of_chances();
    of_data();
    of_batches();
  }

 private:
  // Whether the choices in force know these keys, and none has a fault of its own: what has is not judged again.
  bool may_judge(std::initializer_list<std::string_view> keys) const {
    return std::ranges::all_of(keys, [&](std::string_view key) { return place_of(root_, key).value && !faults_.has(key); });
  }
  void wrong(const std::string& key, std::string allowed) const {
    add_fault(faults_, *place_of(root_, key).value, key, std::move(allowed));
  }
  // `from`: the key that asks for it.
  void missing(const std::string& key, std::string_view from, std::string allowed) const {
    faults_.add(line_of(root_, from), key, "", std::move(allowed));
  }
  bool in_real_time() const { return is_.clock == ClockKind::wall_time && may_judge({"clock"}); }

  void at_most_clients(const std::string& key, std::int64_t number, std::int64_t fewer) const {
    const std::int64_t count = is_.clients.count;
    if (!may_judge({key, "clients.count"}) || number <= count - fewer) return;
    wrong(key, fmt::format("must be {} clients.count = {}", fewer ? "less than" : "at most", count));
  }

  void of_clients() const {
    const Topology& topology = is_.topology;
    const std::int64_t count = is_.clients.count, places = topology.rows * topology.columns;
    if (may_judge({"topology.rows", "topology.columns", "clients.count"}) && places != count)
      wrong("topology.rows", fmt::format("rows * columns is {}, must be clients.count = {}", places, count));
    at_most_clients("topology.k", topology.k, 1);
    at_most_clients("metrics.clients", is_.metrics.clients.value_or(0), 0);
    const bool has_table = count == 4 || count == 8 || count == 16;
    if (may_judge({"data.partition.kind"}) && is_.data.partition.kind == PartitionKind::decefl_table3 && !has_table &&
        !faults_.has("clients.count"))
      wrong("data.partition.kind", "needs clients.count = 4, 8 or 16");
  }

  void of_chances() const {
    const Protocol& protocol = is_.protocol;
    if (protocol.least_chance != Protocol{}.least_chance && !protocol.compute_chance && !protocol.link_chance &&
        may_judge({"protocol.least_chance"}))
      wrong("protocol.least_chance", "needs protocol.compute_chance or protocol.link_chance");
  }

  // Classes are told apart, and there are no more than all clients.
  void of_classes() const {
    if (!may_judge({"clients.classes"})) return;
    std::set<std::string> names;
    double shares = 0;
    for (std::size_t i = 0; i < is_.clients.classes.size(); ++i) {
      const DeviceClass& device = is_.clients.classes[i];
      const std::string path = fmt::format("clients.classes[{}].", i);
      if (!names.insert(device.name).second) wrong(path + "name", "is the name of two classes");
      const bool has_capacities = is_.channel.kind == ChannelKind::bandwidth && may_judge({"channel.kind"});
      if (device.up && !has_capacities) wrong(path + "up", "needs channel.kind = \"bandwidth\"");
      if (device.down && !has_capacities) wrong(path + "down", "needs channel.kind = \"bandwidth\"");
      const std::string model = device.model.value_or(is_.model.name);
      if (device.hidden && model != "mlp") wrong(path + "hidden", "is for the model \"mlp\"");
      if (device.layers && model != "cnn") wrong(path + "layers", "is for the model \"cnn\"");
      if (device.model == "mlp" && !device.hidden && is_.model.name != "mlp") wrong(path + "model", "needs hidden beside it");
      if (device.model == "cnn" && !device.layers && is_.model.name != "cnn") wrong(path + "model", "needs layers beside it");
      shares += device.share;
    }
    if (shares > 1 + 1e-9) wrong("clients.classes", "has shares of more than 1 together");
  }

  void of_channel() const {
    const Channel& channel = is_.channel;
    if (!may_judge({"channel.kind"})) return;
    if (channel.kind == ChannelKind::ideal && may_judge({"channel.delay"}) && channel.delay.law != LawKind::constant)
      wrong("channel.delay", "must be one number for kind = \"ideal\"; kind = \"random\" draws from a law");
    // A client that wanders does so at a speed, and not below it.
    if (may_judge({"channel.speed_low", "channel.speed_high"})) {
      if (channel.speed_high < channel.speed_low)
        wrong("channel.speed_high", "must be at least speed_low");
      else if (channel.speed_high > 0 && channel.speed_low <= 0)
        wrong("channel.speed_low", "must be greater than 0: a way at speed 0 never ends");
    }
    // In real time it is not known which others transmit, and places would have to be asked for by several threads.
    if (!in_real_time()) return;
    if (channel.kind == ChannelKind::bandwidth)
      wrong("channel.kind", "in real time it is not known what else is under way: \"bandwidth\" needs clock = \"virtual\"");
    if (channel.kind != ChannelKind::wireless) return;
    if (channel.interference != Interferers::none || faults_.has("channel.interference"))
      wrong("channel.kind",
            "in real time it is not known which others transmit: needs interference = \"none\", or clock = \"virtual\"");
    else if (may_judge({"channel.speed_high"}) && channel.speed_high > 0)
      wrong("channel.speed_high", "must be 0 with clock = \"wall\"");
  }

  void of_links() const {
    if (!may_judge({"channel.links"})) return;
    const std::vector<Link>& links = is_.channel.links;
    const bool is_table = is_.channel.kind == ChannelKind::table;
    if (is_table && links.empty()) wrong("channel.links", "must list every link for kind = \"table\"");
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const std::string path = fmt::format("channel.links[{}]", i);
      if (links[i].source == links[i].target)
        wrong(path, "must join two different clients");
      else if (!seen.insert({links[i].source, links[i].target}).second)
        wrong(path, "is the second entry of this link");
      if (is_table && !links[i].delay) missing(path + ".delay", path, "must be set for kind = \"table\"");
    }
  }

  // A text of every host that says it: it must be in order by itself and, if `twice` says what it would be, not another
  // host's.
  template <class Text, class FaultOf>
  void texts_of_hosts(std::string_view key, Text Host::*member, FaultOf fault_of, const char* twice) const {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < is_.roster.size(); ++i) {
      const std::string path = path_of_host(i, key);
      const std::optional<std::string> text = is_.roster[i].*member;
      if (!text || !may_judge({path})) continue;
      const std::string fault = fault_of(*text);
      const bool is_new = seen.insert(*text).second;
      if (!fault.empty())
        wrong(path, fault);
      else if (!is_new && twice)
        wrong(path, twice);
    }
  }

  // Plain text is for all hosts or for none.
  void keys_of_hosts() const {
    const auto is_named = [&](std::size_t i) { return is_.roster[i].public_key || faults_.has(path_of_host(i, "public_key")); };
    bool any = false;
    for (std::size_t i = 0; i < is_.roster.size(); ++i) any |= is_named(i);
    for (std::size_t i = 0; any && i < is_.roster.size(); ++i)
      if (!is_named(i))
        missing(path_of_host(i, "public_key"), fmt::format("roster[{}]", i),
                "must be set: other hosts have one; name those of all, or of none");
  }

  // Clients are named by every host or by none, each once.
  void clients_of_hosts() const {
    const std::int64_t count = is_.clients.count;
    std::set<std::int64_t> dealt;
    std::size_t naming = 0;
    if (!may_judge({"clients.count"})) return;
    for (std::size_t i = 0; i < is_.roster.size(); ++i) {
      const std::string path = path_of_host(i, "clients");
      if (faults_.has(path)) return;
      if (!is_.roster[i].clients) continue;
      ++naming;
      for (std::size_t k = 0; k < is_.roster[i].clients->size(); ++k) {
        const std::int64_t client = (*is_.roster[i].clients)[k];
        const Value& value = *place_of(root_, fmt::format("{}[{}]", path, k)).value;
        if (client >= count)
          add_fault(faults_, value, path, fmt::format("must be clients, 0 to {}", count - 1));
        else if (!dealt.insert(client).second)
          add_fault(faults_, value, path, "is a client of two hosts");
      }
      if (faults_.has(path)) return;
    }
    const auto left = count - static_cast<std::int64_t>(dealt.size());
    if (naming == 0) return;
    if (naming < is_.roster.size())
      missing("roster", "roster[0]", "names clients of some hosts only; name those of all, or of none");
    else if (left > 0)
      missing("roster", "roster[0]", fmt::format("has no host for {} of the {} clients", left, count));
  }

  // Hosts are told apart by name, address and key.
  void of_roster() const {
    const auto any = [](const std::string&) { return ""; };
    const auto fault_at = [](bool is_bound) {
      return [=](const std::string& address) { return roster_address_fault(address, is_bound); };
    };
    texts_of_hosts("name", &Host::name, any, "is the name of two hosts");
    texts_of_hosts("address", &Host::address, fault_at(false), "is the address of two hosts");
    texts_of_hosts("bind", &Host::bind, fault_at(true), nullptr);
    texts_of_hosts("public_key", &Host::public_key, public_key_fault, "is the key of two hosts");
    keys_of_hosts();
    clients_of_hosts();
  }

  void of_mailbox() const {
    if (faults_.has("mailbox") || faults_.has("unification.period") || !is_.mailbox.cap || is_.mailbox.cap_period) return;
    is_.mailbox.cap_period = is_.unification.period;
    if (!is_.mailbox.cap_period)
      missing("mailbox.cap_period", "mailbox.cap",
              "must be set: mailbox.cap counts per cap_period, and there is no unification.period");
  }

  void of_batches() const {
    if (is_.model.client_batch && is_.model.batch > 0 && may_judge({"model.batch", "model.client_batch"}))
      wrong("model.client_batch", "must be none where model.batch says what all clients have");
  }

  // Data that are made up have one model each; quadratic and least_squares are for nothing else.
  void of_data() const {
    if (may_judge({"data.partition.fewest", "data.partition.most"}) && is_.data.partition.most < is_.data.partition.fewest)
      wrong("data.partition.most", fmt::format("must be at least fewest = {}", is_.data.partition.fewest));
    const bool has_no_deviation = is_.data.normalise == Normalise::unit || is_.data.normalise == Normalise::none;
    if (is_.data.clip > 0 && has_no_deviation && may_judge({"data.clip", "data.normalise"}))
      wrong("data.clip", "needs features of deviation 1: normalise = \"standard\"");
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> pairs{{{"quadratic", "quadratic"},
                                                                                  {"tridiagonal", "quadratic"},
                                                                                  {"pame_regression", "least_squares"},
                                                                                  {"pame_logistic", "logistic"}}};
    if (!may_judge({"data.name", "model.name"})) return;
    const std::string name = fmt::format("data.name = {}", to_shown({is_.data.name}));
    const auto made_for = std::ranges::find(pairs, is_.data.name, [](const auto& pair) { return pair.first; });
    if (made_for != pairs.end() && is_.model.name != made_for->second)
      wrong("model.name", fmt::format("{} needs the model {}", name, made_for->second));
    if (made_for == pairs.end() && (is_.model.name == "quadratic" || is_.model.name == "least_squares"))
      wrong("model.name", fmt::format("{} needs another model: {} has no rows", name, is_.model.name));
  }

  Experiment& is_;
  Table& root_;
  Faults& faults_;
};

}  // namespace

void check_relations(Experiment& experiment, Table& root, Faults& faults) { Relations(experiment, root, faults).judge(); }

void warn(const Experiment& experiment, std::ostream& notes) {
  const auto& period = experiment.unification.period;
  if (period && from_seconds(experiment.until) % from_seconds(*period) == Duration::zero())
    notes << "until = " << to_toml(experiment.until) << " falls on a unification (period " << to_toml(*period)
          << "): every final model is the hub's\n";
  if (experiment.mailbox.cap_period && !experiment.mailbox.cap)
    notes << "mailbox.cap_period is not used: there is no mailbox.cap\n";
}

}  // namespace rubato::config
