#include "experiment/file/relations.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>
#include <set>

#include "runtime/time.hpp"
#include "transports/zmq_address.hpp"
#include "transports/zmq_identity.hpp"

namespace rubato::config {

namespace {

// The tree with only what is in order: what has a fault of its own is not judged again.
class Sound {
 public:
  Sound(Table& root, const Faults& faults) : root_{root}, faults_{faults} {}

  Value* at(std::string_view path) const {
    if (faults_.has(path)) return nullptr;
    Table* table = &root_;
    for (std::size_t dot = path.find('.'); table && dot != path.npos; dot = path.find('.')) {
      table = inner(*table, path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
    return table ? table->find(path) : nullptr;
  }
  template <class Type>
  const Type* at(std::string_view path) const {
    const Value* value = at(path);
    return value ? value->as<Type>() : nullptr;
  }
  /// Elements may have faults of their own.
  const List* list_of_tables(std::string_view name) const {
    const Value* value = root_.find(name);
    return value ? value->as<List>() : nullptr;
  }
  bool is(std::string_view path, std::string_view word) const {
    const Value* value = at(path);
    return value && value->is_text(word);
  }

 private:
  static Table* inner(Table& table, std::string_view name) {
    Value* value = table.find(name);
    return value ? value->as<Table>() : nullptr;
  }

  Table& root_;
  const Faults& faults_;
};

void check_grid(const Sound& sound, Faults& faults) {
  const auto *rows = sound.at<std::int64_t>("topology.rows"), *columns = sound.at<std::int64_t>("topology.columns");
  const auto* count = sound.at<std::int64_t>("clients.count");
  if (!rows || !columns || !count || *rows * *columns == *count) return;
  faults.add(*sound.at("topology.rows"), "topology.rows",
             "rows * columns is " + std::to_string(*rows * *columns) + ", must be clients.count = " + std::to_string(*count));
}

void check_at_most_clients(std::string_view key, std::int64_t fewer, const Sound& sound, Faults& faults) {
  const auto *number = sound.at<std::int64_t>(key), *count = sound.at<std::int64_t>("clients.count");
  if (!number || !count || *number <= *count - fewer) return;
  const std::string limit = fewer ? "must be less than clients.count = " : "must be at most clients.count = ";
  faults.add(*sound.at(key), std::string(key), limit + std::to_string(*count));
}

void check_ideal_delay(const Sound& sound, Faults& faults) {
  const Value* delay = sound.at("channel.delay");
  if (!delay || !sound.is("channel.kind", "ideal")) return;
  const auto* law = delay->as<Table>();
  const Value* word = law ? law->find("law") : nullptr;
  const bool is_constant = !delay->as<List>() && (!law || (word && word->is_text("constant")));
  if (!is_constant)
    faults.add(*delay, "channel.delay", "must be one number for kind = \"ideal\"; kind = \"random\" draws from a law");
}

void check_link(const Value& link, const std::string& path, std::set<std::pair<std::int64_t, std::int64_t>>& seen, Faults& faults) {
  const auto* table = link.as<Table>();
  const Value *source = table ? table->find("source") : nullptr, *target = table ? table->find("target") : nullptr;
  if (!source || !target || !source->as<std::int64_t>() || !target->as<std::int64_t>()) return;
  const std::pair ends{*source->as<std::int64_t>(), *target->as<std::int64_t>()};
  if (ends.first == ends.second)
    faults.add(link, path, "must join two different clients");
  else if (!seen.insert(ends).second)
    faults.add(link, path, "is the second entry of this link");
}

void check_links(const Sound& sound, Faults& faults) {
  const auto* links = sound.at<List>("channel.links");
  if (!links) return;
  const bool is_table = sound.is("channel.kind", "table");
  if (is_table && links->empty())
    faults.add(*sound.at("channel.links"), "channel.links", "must list every link for kind = \"table\"");
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::size_t i = 0; i < links->size(); ++i) {
    const std::string path = "channel.links[" + std::to_string(i) + ']';
    check_link((*links)[i], path, seen, faults);
    const Value* delay = (*links)[i].as<Table>() ? (*links)[i].as<Table>()->find("delay") : nullptr;
    if (is_table && (!delay || delay->is_text("none")))
      faults.add((*links)[i].line, path + ".delay", "", "must be set for kind = \"table\"");
  }
}

// Classes are told apart, and there are no more than all clients.
void check_classes(const Sound& sound, Faults& faults) {
  const auto* classes = sound.at<List>("clients.classes");
  if (!classes) return;
  std::set<std::string> names;
  double shares = 0;
  for (std::size_t i = 0; i < classes->size(); ++i) {
    const auto* device = (*classes)[i].as<Table>();
    const Value *name = device ? device->find("name") : nullptr, *share = device ? device->find("share") : nullptr;
    if (name && name->as<std::string>() && !names.insert(*name->as<std::string>()).second)
      faults.add(*name, "clients.classes[" + std::to_string(i) + "].name", "is the name of two classes");
    for (const char* key : {"up", "down"})
      if (const Value* capacity = device ? device->find(key) : nullptr; capacity && !sound.is("channel.kind", "bandwidth"))
        faults.add(*capacity, "clients.classes[" + std::to_string(i) + "]." + key, "needs channel.kind = \"bandwidth\"");
    if (const auto* whole = share ? share->as<std::int64_t>() : nullptr) shares += static_cast<double>(*whole);
    if (const auto* part = share ? share->as<double>() : nullptr) shares += *part;
  }
  if (shares > 1 + 1e-9) faults.add(*sound.at("clients.classes"), "clients.classes", "has shares of more than 1 together");
}

// Who wanders does so at a speed, and not below it.
void check_speeds(const Sound& sound, Faults& faults) {
  const auto *low = sound.at<double>("channel.speed_low"), *high = sound.at<double>("channel.speed_high");
  if (!low || !high) return;
  if (*high < *low) return faults.add(*sound.at("channel.speed_high"), "channel.speed_high", "must be at least speed_low");
  if (*high > 0 && *low <= 0)
    faults.add(*sound.at("channel.speed_low"), "channel.speed_low", "must be greater than 0: a way at speed 0 never ends");
}

// In real time nobody knows who else transmits, and places would have to be asked for by several threads.
void check_channel_of_wall(const Sound& sound, Faults& faults) {
  if (sound.is("clock", "wall") && sound.is("channel.kind", "bandwidth"))
    faults.add(*sound.at("channel.kind"), "channel.kind",
               "in real time nobody knows what else is under way: \"bandwidth\" needs clock = \"virtual\"");
  if (!sound.is("clock", "wall") || !sound.is("channel.kind", "wireless")) return;
  const auto* speed = sound.at<double>("channel.speed_high");
  if (!sound.is("channel.interference", "none"))
    faults.add(*sound.at("channel.kind"), "channel.kind",
               "in real time nobody knows who else transmits: needs interference = \"none\", or clock = \"virtual\"");
  else if (speed && *speed > 0)
    faults.add(*sound.at("channel.speed_high"), "channel.speed_high", "must be 0 with clock = \"wall\"");
}

bool is_set(const Value* value) { return value && !value->is_text("none"); }

std::string path_of_host(std::size_t number, std::string_view key) {
  return "roster[" + std::to_string(number) + "]." + std::string(key);
}

const Value* of_host(const Value& host, std::string_view key) {
  const auto* table = host.as<Table>();
  const Value* value = table ? table->find(key) : nullptr;
  return is_set(value) ? value : nullptr;
}

// A text of every host that says it: it must be in order by itself and, if `twice` says what it would be, not another
// host's.
void check_texts_of_hosts(const List& roster, std::string_view key, const std::function<std::string(const std::string&)>& fault_of,
                          const std::string& twice, Faults& faults) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < roster.size(); ++i) {
    const std::string path = path_of_host(i, key);
    const Value* value = of_host(roster[i], key);
    const auto* text = value && !faults.has(path) ? value->as<std::string>() : nullptr;
    if (!text) continue;
    const std::string fault = fault_of(*text);
    const bool is_new = seen.insert(*text).second;
    if (!fault.empty())
      faults.add(*value, path, fault);
    else if (!is_new && !twice.empty())
      faults.add(*value, path, twice);
  }
}

// Plain text is for all hosts or for none.
void check_keys_of_hosts(const List& roster, Faults& faults) {
  const auto has_key = [](const Value& host) { return of_host(host, "public_key") != nullptr; };
  if (std::ranges::none_of(roster, has_key)) return;
  for (std::size_t i = 0; i < roster.size(); ++i)
    if (!has_key(roster[i]))
      faults.add(roster[i].line, path_of_host(i, "public_key"), "",
                 "must be set: other hosts have one; name those of all, or of none");
}

// Clients are named by every host or by none, each once.
void check_clients_of_hosts(const List& roster, const Sound& sound, Faults& faults) {
  const auto* count = sound.at<std::int64_t>("clients.count");
  std::set<std::int64_t> dealt;
  std::size_t naming = 0;
  bool is_sound = count != nullptr;
  for (std::size_t i = 0; i < roster.size(); ++i) {
    const std::string path = path_of_host(i, "clients");
    const Value* clients = of_host(roster[i], "clients");
    naming += clients ? 1 : 0;
    is_sound = is_sound && !faults.has(path);
    const List* named = clients ? clients->as<List>() : nullptr;
    if (!is_sound || !named) continue;
    for (const Value& client : *named) {
      if (!client.as<std::int64_t>()) continue;
      const std::int64_t number = *client.as<std::int64_t>();
      if (number >= *count)
        faults.add(client, path, "must be clients, 0 to " + std::to_string(*count - 1));
      else if (!dealt.insert(number).second)
        faults.add(client, path, "is a client of two hosts");
    }
    is_sound = !faults.has(path);
  }
  if (naming == 0 || !is_sound) return;
  if (naming < roster.size())
    faults.add(roster.front().line, "roster", "", "names clients of some hosts only; name those of all, or of none");
  else if (static_cast<std::int64_t>(dealt.size()) < *count)
    faults.add(roster.front().line, "roster", "",
               "has no host for " + std::to_string(*count - static_cast<std::int64_t>(dealt.size())) + " of the " +
                   std::to_string(*count) + " clients");
}

// Hosts are told apart by name, address and key.
void check_roster(const Sound& sound, Faults& faults) {
  const List* roster = sound.list_of_tables("roster");
  if (!roster || roster->empty()) return;
  check_texts_of_hosts(
      *roster, "name", [](const std::string&) { return ""; }, "is the name of two hosts", faults);
  check_texts_of_hosts(
      *roster, "address", [](const std::string& text) { return address_fault(text, false); }, "is the address of two hosts",
      faults);
  check_texts_of_hosts(
      *roster, "bind", [](const std::string& text) { return address_fault(text, true); }, "", faults);
  check_texts_of_hosts(*roster, "public_key", public_key_fault, "is the key of two hosts", faults);
  check_keys_of_hosts(*roster, faults);
  check_clients_of_hosts(*roster, sound, faults);
}

void check_cap(const Sound& sound, Faults& faults) {
  const Value *cap = sound.at("mailbox.cap"), *period = sound.at("unification.period");
  const bool is_in_order = !faults.has("mailbox") && !faults.has("unification.period");
  if (!is_in_order || !is_set(cap) || is_set(sound.at("mailbox.cap_period"))) return;
  if (is_set(period))
    sound.at("mailbox")->as<Table>()->set("cap_period", *period);
  else
    faults.add(cap->line, "mailbox.cap_period", "",
               "must be set: mailbox.cap counts per cap_period, and there is no unification.period");
}

// Data that are made up have one model each; quadratic and least_squares are for nothing else.
void check_made_up(const Sound& sound, Faults& faults) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> pairs{
      {{"quadratic", "quadratic"}, {"pame_regression", "least_squares"}, {"pame_logistic", "logistic"}}};
  const Value *data = sound.at("data.name"), *model = sound.at("model.name");
  if (!data || !model) return;
  for (const auto& [name, needed] : pairs) {
    if (data->is_text(name) && !model->is_text(needed))
      return faults.add(*model, "model.name", "data.name = " + to_shown(*data) + " needs the model " + std::string(needed));
    if (data->is_text(name)) return;
  }
  for (const std::string_view only : {"quadratic", "least_squares"})
    if (model->is_text(only))
      faults.add(*model, "model.name",
                 "data.name = " + to_shown(*data) + " needs another model: " + std::string(only) + " has no rows");
}

void check_table3(const Sound& sound, Faults& faults) {
  const auto* count = sound.at<std::int64_t>("clients.count");
  const bool is_known = !count || *count == 4 || *count == 8 || *count == 16;
  if (is_known || !sound.is("data.partition.kind", "decefl_table3")) return;
  faults.add(*sound.at("data.partition.kind"), "data.partition.kind", "needs clients.count = 4, 8 or 16");
}

}  // namespace

void check_relations(Table& root, Faults& faults) {
  const Sound sound(root, faults);
  check_grid(sound, faults);
  check_at_most_clients("topology.k", 1, sound, faults);
  check_at_most_clients("metrics.clients", 0, sound, faults);
  check_ideal_delay(sound, faults);
  check_links(sound, faults);
  check_classes(sound, faults);
  check_speeds(sound, faults);
  check_channel_of_wall(sound, faults);
  check_roster(sound, faults);
  check_cap(sound, faults);
  check_made_up(sound, faults);
  check_table3(sound, faults);
}

void warn(const Experiment& experiment, std::ostream& notes) {
  const auto& period = experiment.unification.period;
  if (period && from_seconds(experiment.until) % from_seconds(*period) == Duration::zero())
    notes << "until = " << to_toml(experiment.until) << " falls on a unification (period " << to_toml(*period)
          << "): every final model is the hub's\n";
  if (experiment.mailbox.cap_period && !experiment.mailbox.cap)
    notes << "mailbox.cap_period is not used: there is no mailbox.cap\n";
}

}  // namespace rubato::config
