#include "experiment/file/bind.hpp"

#include <type_traits>

#include "experiment/file/keys.hpp"
#include "experiment/words.hpp"

namespace rubato::config {

namespace {

void fields(auto& each, Law& law) {
  each("law", law.law), each("value", law.value), each("mean", law.mean), each("sigma", law.sigma);
  each("low", law.low), each("high", law.high), each("a", law.a), each("b", law.b);
  each("shape", law.shape), each("rate", law.rate), each("min", law.min), each("values", law.values);
}

void fields(auto& each, TimerLaw& timer) {
  each("law", timer.law), each("rate", timer.rate), each("period", timer.period), each("phase", timer.phase);
  each("min", timer.min), each("shape", timer.shape), each("mean", timer.mean), each("sigma", timer.sigma);
  each("file", timer.file), each("ticks", timer.ticks), each("every", timer.every), each("repeat", timer.repeat);
  each("per_link", timer.per_link);
}

void fields(auto& each, DeviceClass& device) {
  each("name", device.name), each("share", device.share), each("rate", device.rate);
  each("transmit_rate", device.transmit_rate), each("up", device.up), each("down", device.down);
  each("transmit_watts", device.transmit_watts);
  each("compute_joules", device.compute_joules);
}

void fields(auto& each, Clients& clients) {
  each("count", clients.count), each("compute", clients.compute), each("transmit", clients.transmit);
  each("classes", clients.classes);
}

void fields(auto& each, Topology& topology) {
  each("kind", topology.kind), each("rows", topology.rows), each("columns", topology.columns);
  each("center", topology.center), each("step", topology.step), each("probability", topology.probability);
  each("radius", topology.radius), each("k", topology.k), each("symmetrise", topology.symmetrise), each("points", topology.points);
  each("file", topology.file), each("edges", topology.edges), each("directed", topology.directed);
  each("cycle", topology.cycle), each("cycle_rounds", topology.cycle_rounds);
  each("change", topology.change), each("activation", topology.activation);
  each("change_every", topology.change_every), each("graphs", topology.graphs);
  each("mixing", topology.mixing), each("shares", topology.shares);
  each("mixing_matrix", topology.mixing_matrix), each("shares_matrix", topology.shares_matrix);
}

void fields(auto& each, Link& link) {
  each("source", link.source), each("target", link.target), each("delay", link.delay), each("loss", link.loss);
}

void fields(auto& each, Channel& channel) {
  each("kind", channel.kind), each("delay", channel.delay), each("loss", channel.loss), each("duplicate", channel.duplicate);
  each("links", channel.links);
  each("area", channel.area), each("radius", channel.radius), each("positions", channel.positions);
  each("speed_low", channel.speed_low), each("speed_high", channel.speed_high), each("pause", channel.pause);
  each("power_dbm", channel.power_dbm), each("path_loss", channel.path_loss), each("bandwidth", channel.bandwidth);
  each("bandwidth_use", channel.bandwidth_use), each("noise_dbm", channel.noise_dbm);
  each("interference", channel.interference), each("interference_share", channel.interference_share);
  each("message_bytes", channel.message_bytes), each("threshold", channel.threshold);
  each("threshold_of", channel.threshold_of), each("up_when", channel.up_when);
  each("completion_mean", channel.completion_mean), each("coherence", channel.coherence);
  each("power_cap", channel.power_cap), each("noise", channel.noise), each("slot", channel.slot);
  each("up", channel.up), each("down", channel.down), each("file", channel.file);
}

void fields(auto& each, ChurnEvent& event) {
  each("at", event.at), each("what", event.what), each("clients", event.clients), each("groups", event.groups);
  each("from", event.from);
}

void fields(auto& each, Absence& absence) {
  each("clients", absence.clients), each("away", absence.away), each("from", absence.from), each("kind", absence.kind);
  each("up", absence.up), each("down", absence.down), each("file", absence.file), each("until", absence.until);
}

void fields(auto& each, Churn& churn) {
  each("notice", churn.notice), each("checkpoint_every", churn.checkpoint_every), each("file", churn.file);
  each("events", churn.events), each("random", churn.random);
}

void fields(auto& each, Mailbox& mailbox) {
  each("window", mailbox.window), each("deadline", mailbox.deadline), each("cap", mailbox.cap);
  each("cap_period", mailbox.cap_period);
}

void fields(auto& each, Unification& unification) {
  each("period", unification.period), each("hub", unification.hub), each("client", unification.client);
  each("hubs", unification.hubs), each("via", unification.via), each("clears_mailbox", unification.clears_mailbox);
}

void fields(auto& each, Protocol& protocol) {
  each("kind", protocol.kind), each("missing", protocol.missing), each("send_probability", protocol.send_probability);
  each("compute_phase", protocol.compute_phase), each("late_work", protocol.late_work);
  each("compute_chance", protocol.compute_chance), each("link_chance", protocol.link_chance);
  each("center", protocol.center), each("selected", protocol.selected);
}

void fields(auto& each, Algorithm& algorithm) {
  each("name", algorithm.name), each.options(algorithm.options);
  each("q", algorithm.q), each("q_matrix", algorithm.q_matrix), each("snapshot", algorithm.snapshot);
  each("retain_on_loss", algorithm.retain_on_loss);
}

void fields(auto& each, Partition& partition) {
  each("kind", partition.kind), each("classes", partition.classes), each("random", partition.random);
  each("alpha", partition.alpha), each("min_samples", partition.min_samples);
}

void fields(auto& each, Data& data) {
  each("name", data.name), each("dimension", data.dimension), each("support", data.support), each("noise", data.noise),
      each("samples_per_client", data.samples_per_client);
  each("train_rows", data.train_rows), each("partition", data.partition);
  each("format", data.format), each("train", data.train), each("train_labels", data.train_labels);
  each("test", data.test), each("test_labels", data.test_labels), each("label", data.label);
  each("header", data.header), each("label_order", data.label_order), each("learn", data.learn);
  each("features", data.features), each("shape", data.shape), each("classes", data.classes);
  each("one_hot", data.one_hot);
  each("normalise", data.normalise), each("test_share", data.test_share), each("shuffle", data.shuffle);
}

void fields(auto& each, Model& model) {
  each("name", model.name), each("hidden", model.hidden), each("layers", model.layers), each("module", model.module);
  each("activation", model.activation), each("normalisation", model.normalisation), each("hinge", model.hinge);
  each("dropout", model.dropout), each("label_smoothing", model.label_smoothing), each("batch", model.batch);
  each("l2", model.l2), each("weight_decay", model.weight_decay), each("clip", model.clip), each("init", model.init);
  each("init_from", model.init_from);
}

void fields(auto& each, Metrics& metrics) {
  each("every_events", metrics.every_events), each("every_seconds", metrics.every_seconds);
  each("test_samples", metrics.test_samples), each("clients", metrics.clients);
  each("stationarity", metrics.stationarity), each("smoothness", metrics.smoothness);
}

void fields(auto& each, Budget& budget) { each("bits", budget.bits), each("gradients", budget.gradients); }

void fields(auto& each, Energy& energy) {
  each("transmit_watts", energy.transmit_watts), each("compute_joules", energy.compute_joules);
  each("bits_per_second", energy.bits_per_second);
}

void fields(auto& each, Limits& limits) {
  each("outstanding_steps", limits.outstanding_steps), each("payload_bytes", limits.payload_bytes);
}

void fields(auto& each, Host& host) {
  each("name", host.name), each("address", host.address), each("bind", host.bind);
  each("public_key", host.public_key), each("clients", host.clients);
}

void fields(auto& each, Hosts& hosts) {
  each("insecure", hosts.insecure), each("wait", hosts.wait), each("lost_after", hosts.lost_after);
  each("drain", hosts.drain), each("queue_bytes", hosts.queue_bytes), each("chunk_bytes", hosts.chunk_bytes);
  each("largest_bytes", hosts.largest_bytes);
}

void fields(auto& each, Impaired& impaired) {
  each("loss", impaired.loss), each("duplicate", impaired.duplicate), each("reorder", impaired.reorder);
  each("corrupt", impaired.corrupt), each("delay", impaired.delay);
}

void fields(auto& each, Experiment& experiment) {
  each("name", experiment.name), each("seed", experiment.seed), each("clock", experiment.clock);
  each("time_scale", experiment.time_scale), each("saturate", experiment.saturate);
  each("precision", experiment.precision), each("until", experiment.until), each("isa", experiment.isa);
  each("record", experiment.record), each("checkpoint_every", experiment.checkpoint_every);
  each("roster", experiment.roster), each("hosts", experiment.hosts), each("impaired", experiment.impaired);
  each("clients", experiment.clients), each("topology", experiment.topology);
  each("channel", experiment.channel), each("churn", experiment.churn), each("mailbox", experiment.mailbox);
  each("unification", experiment.unification), each("protocol", experiment.protocol);
  each("algorithm", experiment.algorithm), each("data", experiment.data), each("model", experiment.model);
  each("metrics", experiment.metrics), each("energy", experiment.energy), each("budget", experiment.budget),
      each("limits", experiment.limits);
}

class Reader {
 public:
  explicit Reader(const Table& table) : table_{table} {}

  template <class Field>
  void operator()(std::string_view name, Field& field) {
    if (const Value* value = table_.find(name)) read(*value, field);
  }
  void options(AlgorithmOptions& options) {
    for (const Key* key : keys_of("algorithm"))
      if (const Value* value = key->is_option ? table_.find(key->name) : nullptr) read_option(*key, *value, options);
  }

 private:
  static void read_option(const Key& key, const Value& value, AlgorithmOptions& options) {
    const std::string name(key.name);
    if (const auto* whole = value.as<std::int64_t>(); whole && key.type == Type::numbers_or_one)
      return options.set(name, static_cast<double>(*whole));
    if (const auto* whole = value.as<std::int64_t>()) return options.set(name, *whole);
    if (const auto* number = value.as<double>()) return options.set(name, *number);
    if (const auto* flag = value.as<bool>()) return options.set(name, *flag);
    if (const auto* word = value.as<std::string>()) return options.set(name, *word);
    std::vector<double> numbers;
    read(value, numbers);
    options.set(name, std::move(numbers));
  }
  static void read(const Value& value, bool& field) { field = *value.as<bool>(); }
  static void read(const Value& value, std::int64_t& field) { field = *value.as<std::int64_t>(); }
  static void read(const Value& value, std::string& field) { field = *value.as<std::string>(); }
  static void read(const Value& value, std::filesystem::path& field) { field = *value.as<std::string>(); }
  static void read(const Value& value, double& field) {
    const auto* whole = value.as<std::int64_t>();
    field = whole ? static_cast<double>(*whole) : *value.as<double>();
  }
  static void read(const Value& value, Record& record) {
    if (const auto* bytes = value.as<std::int64_t>())
      record = {Record::Kind::limited, *bytes};
    else
      record = {value.is_text("off") ? Record::Kind::off : Record::Kind::full, 0};
  }
  static void read(const Value& value, Law& law) {
    law = {};
    if (value.as<Table>()) return read_struct(value, law);
    law.law = value.as<List>() ? LawKind::list : LawKind::constant;
    if (law.law == LawKind::list)
      read(value, law.values);
    else
      read(value, law.value);
  }
  static void read(const Value& value, std::pair<std::int64_t, std::int64_t>& edge) {
    read((*value.as<List>())[0], edge.first);
    read((*value.as<List>())[1], edge.second);
  }
  template <class Field>
  static void read(const Value& value, std::optional<Field>& field) {
    field.reset();
    if (!value.is_text("none")) read(value, field.emplace());
  }
  template <class Field>
  static void read(const Value& value, std::vector<Field>& fields_of_list) {
    fields_of_list.clear();
    for (const Value& element : *value.as<List>()) read(element, fields_of_list.emplace_back());
  }
  template <class Field>
  static void read(const Value& value, Field& field) {
    if constexpr (std::is_enum_v<Field>)
      field = choice_of<Field>(*value.as<std::string>());
    else
      read_struct(value, field = {});
  }
  template <class Struct>
  static void read_struct(const Value& value, Struct& object) {
    Reader reader(*value.as<Table>());
    fields(reader, object);
  }

  const Table& table_;
};

class Writer {
 public:
  template <class Field>
  void operator()(std::string_view name, Field& field) {
    table_.entries.push_back({std::string(name), write(field)});
  }
  template <class Field>
  void operator()(std::string_view name, std::optional<Field>& field) {
    table_.entries.push_back({std::string(name), field ? write(*field) : Value{std::string("none")}});
  }
  void options(AlgorithmOptions& options) {
    for (const auto& [name, value] : options.all()) table_.entries.push_back({name, write_option(value)});
  }
  Table take() { return std::move(table_); }

 private:
  static Value write_option(const AlgorithmOptions::Value& option) {
    if (const auto* flag = std::get_if<bool>(&option)) return {*flag};
    if (const auto* whole = std::get_if<std::int64_t>(&option)) return {*whole};
    if (const auto* number = std::get_if<double>(&option)) return {*number};
    if (const auto* word = std::get_if<std::string>(&option)) return {*word};
    std::vector<double> list = std::get<std::vector<double>>(option);
    return write(list);
  }
  static Value write(bool& field) { return {field}; }
  static Value write(std::int64_t& field) { return {field}; }
  static Value write(double& field) { return {field}; }
  static Value write(std::string& field) { return {field}; }
  static Value write(std::filesystem::path& field) { return {field.string()}; }
  static Value write(Record& record) {
    if (record.kind == Record::Kind::limited) return {record.bytes};
    return {std::string(record.kind == Record::Kind::off ? "off" : "full")};
  }
  static Value write(Law& law) {
    if (law.law == LawKind::constant) return {law.value};
    return law.law == LawKind::list ? write(law.values) : write_struct(law);
  }
  static Value write(std::pair<std::int64_t, std::int64_t>& edge) { return {List{write(edge.first), write(edge.second)}}; }
  template <class Field>
  static Value write(std::vector<Field>& list) {
    List values;
    for (Field& field : list) values.push_back(write(field));
    return {std::move(values)};
  }
  template <class Field>
  static Value write(Field& field) {
    if constexpr (std::is_enum_v<Field>)
      return {std::string(word_of(field))};
    else
      return write_struct(field);
  }
  template <class Struct>
  static Value write_struct(Struct& object) {
    Writer writer;
    fields(writer, object);
    return {writer.take()};
  }

  Table table_;
};

}  // namespace

Experiment experiment_of(const Table& root) {
  Experiment experiment;
  Reader reader(root);
  fields(reader, experiment);
  return experiment;
}

Table tree_of(Experiment experiment) {
  Writer writer;
  fields(writer, experiment);
  return writer.take();
}

}  // namespace rubato::config
