#include "python/algorithm.hpp"

#include <rubato/algos/catalogue.hpp>

#include <pybind11/stl.h>

#include <array>
#include <cstring>
#include <deque>
#include <utility>

#include "python/archive.hpp"
#include "python/work.hpp"

namespace rubato::python {

namespace {

constexpr std::size_t most_algorithms = 64;  // a catalogue entry's functions have no state: each place has functions of its own

/// Which of its methods a class has itself.
struct Overrides {
  bool begin = false, adopt = false, reclaim = false, decide = false, reset = false, fits = false, archive = false;
};

/// An algorithm's class, what the catalogue says of it, and the texts that this refers to.
struct Place {
  py::object type;  // never dropped: the interpreter may be gone before
  Overrides overrides;
  Needs needs;
  std::vector<OptionSpec> options;
  CatalogueEntry entry{};
};

std::deque<Place*>& places() {
  static std::deque<Place*> all;
  return all;
}

// Texts of the catalogue live as long as the program: tables of keys refer to them.
std::string_view kept_text(std::string text) {
  static std::deque<std::string>& all = *new std::deque<std::string>;
  return all.emplace_back(std::move(text));
}

py::list tensors_of(const std::vector<Tensor>& tensors) {
  py::list views;
  for (const Tensor& tensor : tensors) views.append(view_of_any(tensor));
  return views;
}

template <class Real>
Tensor tensor_from(const py::handle& object, TensorPool& pool, const std::string& what) {
  if (!py::isinstance<py::array>(object)) throw py::type_error(what + " must be an array, not " + described(object));
  const auto array = py::reinterpret_borrow<py::array>(object);
  const auto count = static_cast<std::size_t>(array.size());
  const auto copy = [&]<class Number>(Number) {
    const Number* numbers = numbers_in<Number>(object, count, what);
    Tensor tensor = pool.make<Number>(count);
    std::memcpy(tensor.writable<Number>(), numbers, count * sizeof(Number));
    return tensor;
  };
  if (py::isinstance<py::array_t<std::uint32_t>>(object)) return copy(std::uint32_t{});
  return copy(Real{});
}

// What publish() returns: an array, a tuple of at most three, or a rubato.Payload.
template <class Real>
Payload payload_from(const py::object& answer, const Step& step, TensorPool& pool) {
  Payload payload;
  if (py::isinstance<py::array>(answer)) {
    payload.common[0] = tensor_from<Real>(answer, pool, "what publish() returns");
    return payload;
  }
  py::object common = answer, own = py::none();
  if (py::hasattr(answer, "common")) {
    common = answer.attr("common"), own = answer.attr("own");
    payload.paper_bits = answer.attr("paper_bits").cast<double>();
  }
  if (!py::isinstance<py::tuple>(common) && !py::isinstance<py::list>(common))
    throw py::type_error("publish() must return an array, a tuple of arrays or a rubato.Payload, not " + described(answer));
  std::size_t i = 0;
  for (const py::handle& array : common) {
    if (i == Payload::most_tensors) throw py::value_error("publish() shares at most 3 arrays with all receivers");
    payload.common[i] = tensor_from<Real>(array, pool, "array " + std::to_string(i) + " of publish()");
    ++i;
  }
  if (own.is_none()) return payload;
  std::size_t each = 0, receivers = 0;
  for (const py::handle& arrays : own) {
    const std::size_t count = py::len(arrays);
    if (receivers++ == 0) each = count;
    if (count != each || count == 0 || count > 255)
      throw py::value_error("`own` of a Payload needs as many arrays for every receiver");
    for (const py::handle& array : arrays) payload.own.push_back(tensor_from<Real>(array, pool, "an own array of publish()"));
  }
  if (receivers != step.entries.size())
    throw py::value_error("`own` of a Payload needs a tuple of arrays for each of the " + std::to_string(step.entries.size()) +
                          " receivers, in the order of step.entries");
  if (each > 0) payload.own_each = static_cast<std::uint8_t>(each);
  return payload;
}

py::object client_of(const ClientView& view, const py::dtype& precision) {
  const auto ids = [](std::span<const ClientId> clients) {
    py::tuple all(clients.size());
    for (std::size_t i = 0; i < clients.size(); ++i) all[i] = clients[i].value;
    return all;
  };
  py::tuple samples(view.samples.size());
  for (std::size_t i = 0; i < view.samples.size(); ++i) samples[i] = view.samples[i];
  return py::module_::import("rubato").attr("Client")(view.client.value, ids(view.senders), ids(view.receivers), samples,
                                                      view.compute_chance, view.centre.value, view.in_rounds, view.loses_nothing,
                                                      view.sends_per_link, precision);
}

/// One client's algorithm. Its model lies in the engine's memory; `model` of the Python object is a view of it.
template <class Real>
class PythonAlgorithm final : public Algorithm<Real> {
 public:
  PythonAlgorithm(const Place& place, const ClientView& view, const AlgorithmOptions& given, ConstVectorRef<Real> start,
                  TensorPool& pool)
      : place_{place}, raised_{raised_here()}, x_{copy_of<Real>(start, pool)} {
    call_python(raised_, [&] {
      const py::object client = client_of(view, py::dtype::of<Real>());
      const py::object object = place.type.attr("__new__")(place.type);
      object.attr("_set")(view_of<Real>(x_, true), client, options_of(given, view.client));
      object.attr("__init__")();
      object_.set(object);
    });
  }

  void begin(Work<Real>& work) override {
    if (!place_.overrides.begin) return Algorithm<Real>::begin(work);
    with(work, [&](const auto& lent) { object_->attr("begin")(lent); });
  }
  void compute(Work<Real>& work, const Step& step) override {
    with(work, [&](const auto& lent) { object_->attr("compute")(lent, PythonStep(step)); });
  }
  Payload publish(Work<Real>& work, const Step& step) override {
    return with(work, [&](const auto& lent) {
      return payload_from<Real>(object_->attr("publish")(lent, PythonStep(step)), step, work.pool);
    });
  }
  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    with(work, [&](const auto& lent) {
      py::list messages;
      for (const Received<Real>& received : window) {
        PythonMessage message(received.payload, received.place);
        message.sender = received.sender.value, message.sequence = received.sequence;
        message.weight = received.weight, message.age = to_seconds(received.age);
        messages.append(std::move(message));
      }
      object_->attr("merge")(lent, PythonStep(step), messages);
    });
  }
  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    if (!place_.overrides.fits) return Algorithm<Real>::fits(payload, step, place);
    return call_python(raised_, [&] {
      const PythonMessage message(payload, place);
      return object_->attr("fits")(tensors_of(message.common), tensors_of(message.own)).cast<bool>();
    });
  }
  void reclaim(Work<Real>& work, const Step& step, const Payload& payload) override {
    if (!place_.overrides.reclaim) return Algorithm<Real>::reclaim(work, step, payload);
    with(work, [&](const auto& lent) { object_->attr("reclaim")(lent, PythonStep(step), PythonMessage(payload, 0)); });
  }
  void adopt(ConstVectorRef<Real> model) override {
    if (!place_.overrides.adopt) return void(numbers_of<Real>(x_) = model);
    call_python(raised_, [&] { object_->attr("adopt")(array_of<Real>(model)); });
  }
  bool decide(Work<Real>& work, const Step& step) override {
    if (!place_.overrides.decide) return Algorithm<Real>::decide(work, step);
    return with(work, [&](const auto& lent) -> bool { return py::bool_(object_->attr("decide")(lent, PythonStep(step))); });
  }
  void reset(Work<Real>& work) override {
    if (place_.overrides.reset) with(work, [&](const auto& lent) { object_->attr("reset")(lent); });
  }
  void archive(Archive& archive) override {
    archive.fixed(x_);
    call_python(raised_, [&] {
      if (archive.is_reading()) object_->attr("_model") = view_of<Real>(x_, true);  // what was read lies elsewhere
      archive_object(archive, *object_);
    });
  }
  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }

 private:
  template <class Act>
  auto with(Work<Real>& work, Act act) {
    return call_python(raised_, [&] {
      const LentWork<Real> lent(work, x_.count());
      return act(*lent);
    });
  }

  // What is not set has its default; of a list a client has its own number.
  py::dict options_of(const AlgorithmOptions& given, ClientId client) const {
    const OptionReader reader(given, place_.options);
    py::dict options;
    for (const OptionSpec& spec : place_.options) {
      const std::string name(spec.name);
      const auto value = [&]() -> py::object {
        switch (spec.type) {
          case OptionType::number:
            return py::float_(PerClientNumber(reader.numbers(name)).of(client.value));
          case OptionType::whole:
            return py::int_(reader.whole(name));
          case OptionType::flag:
            return py::bool_(reader.flag(name));
          case OptionType::word:
            return py::str(reader.word(name));
          case OptionType::text:
            return py::str(reader.text(name));
        }
        return py::none();
      };
      options[py::str(name)] = value();
    }
    return options;
  }

  const Place& place_;
  Raised* raised_;
  Tensor x_;
  Kept object_;
};

template <class Real>
AlgorithmFactory<Real> factory_at(const Place& place, const AlgorithmOptions& options) {
  return
      [&place, options](const ClientView& view, ConstVectorRef<Real> start, TensorPool& pool) -> std::unique_ptr<Algorithm<Real>> {
        return std::make_unique<PythonAlgorithm<Real>>(place, view, options, start, pool);
      };
}

struct PlaceFunctions {
  AlgorithmMaker make;
  Needs (*needs)(const AlgorithmOptions&);
};

template <std::size_t Index>
constexpr PlaceFunctions functions_of{
    {[](const AlgorithmOptions& options) { return factory_at<float>(*places()[Index], options); },
     [](const AlgorithmOptions& options) { return factory_at<double>(*places()[Index], options); }},
    [](const AlgorithmOptions&) { return places()[Index]->needs; }};

template <std::size_t... Indices>
constexpr std::array<PlaceFunctions, sizeof...(Indices)> all_functions(std::index_sequence<Indices...>) {
  return {functions_of<Indices>...};
}
constexpr std::array<PlaceFunctions, most_algorithms> functions = all_functions(std::make_index_sequence<most_algorithms>());

/// The place of the word in the list "a|b|c".
std::size_t place_in(const char* words, const py::dict& what, const char* key) {
  const auto word = what[key].cast<std::string>();
  std::string_view rest = words;
  for (std::size_t i = 0; !rest.empty(); ++i) {
    const std::string_view next = rest.substr(0, rest.find('|'));
    if (next == word) return i;
    rest.remove_prefix(std::min(rest.size(), next.size() + 1));
  }
  throw py::value_error(std::string(key) + " = \"" + word + "\": must be one of " + words);
}

OptionSpec option_from(const py::handle& given) {
  const py::dict what = py::reinterpret_borrow<py::dict>(given);
  OptionSpec spec;
  spec.name = kept_text(what["name"].cast<std::string>());
  spec.type = static_cast<OptionType>(place_in("number|whole|flag|word|text", what, "type"));
  spec.fallback = kept_text(what["fallback"].cast<std::string>());
  spec.meaning = kept_text(what["meaning"].cast<std::string>());
  spec.low = what["low"].cast<double>(), spec.high = what["high"].cast<double>();
  spec.low_is_out = what["low_is_out"].cast<bool>();
  spec.choices = kept_text(what["choices"].cast<std::string>());
  return spec;
}

Needs needs_from(const py::dict& what) {
  Needs needs;
  const auto flag = [&](const char* key) { return what[key].cast<bool>(); };
  needs.sends = flag("sends"), needs.opens_with_compute = flag("opens_with_compute");
  needs.send_only_if_computed = flag("send_only_if_computed"), needs.asks_before_sending = flag("asks_before_sending");
  needs.may_pause = flag("may_pause"), needs.in_order = flag("in_order"), needs.acknowledgements = flag("acknowledgements");
  needs.fixes_model_at_start = flag("fixes_model_at_start");
  needs.send_every = what["send_every"].cast<std::uint32_t>(), needs.send_times = what["send_times"].cast<std::uint32_t>();
  needs.keep = static_cast<Keep>(place_in("all|newest|newest_ever", what, "keep"));
  needs.absorb = static_cast<AbsorbAt>(place_in("window|compute", what, "absorb"));
  needs.partial = static_cast<Partial>(place_in("none|receivers|senders|pairs|clients", what, "partial"));
  if (needs.fixes_model_at_start)
    needs.program.round = {Phase{PhaseKind::begin}, Phase{PhaseKind::compute}, Phase{PhaseKind::exchange}};
  return needs;
}

Weights weights_from(const py::dict& what, const char* key) {
  return static_cast<Weights>(place_in("none|neighbours|row|column|doubly|averaging", what, key));
}

// `what` is made by rubato.register(), which has looked at it.
void register_algorithm(const py::object& type, const py::dict& what) {
  if (is_at_work()) throw std::runtime_error("an algorithm cannot be registered while a run goes on");
  const auto name = what["name"].cast<std::string>();
  std::size_t index = 0;
  while (index < places().size() && places()[index]->entry.name != name) ++index;
  if (index == most_algorithms)
    throw py::value_error("at most " + std::to_string(most_algorithms) + " algorithms of Python's can be registered");
  auto place = std::make_unique<Place>();
  place->type = type;
  place->needs = needs_from(what["needs"]);
  for (const py::handle& option : what["options"]) place->options.push_back(option_from(option));
  const auto has = [&](const char* method) { return what["overrides"].contains(method); };
  place->overrides = {has("begin"), has("adopt"), has("reclaim"), has("decide"), has("reset"), has("fits"), has("archive")};
  CatalogueEntry entry{.name = kept_text(name), .summary = kept_text(what["summary"].cast<std::string>())};
  entry.graphs = static_cast<Graphs>(place_in("connected|undirected|complete|centred", what, "graphs"));
  const auto words = what["runs"].cast<std::vector<std::string>>();
  if (words.empty()) throw py::value_error("runs: an algorithm makes sense under one protocol at least");
  const auto kind = [&](std::size_t i) {
    const auto known = std::string(word_list(ProtocolKind{}));
    if (("|" + known + "|").find("|" + words[i % words.size()] + "|") == std::string::npos)
      throw py::value_error("runs: \"" + words[i % words.size()] + "\" must be one of " + known);
    return choice_of<ProtocolKind>(words[i % words.size()]);
  };
  if (words.size() > every_protocol.size()) throw py::value_error("runs: a protocol is named twice");
  static_assert(every_protocol.size() == 7);
  entry.runs = {kind(0), kind(1), kind(2), kind(3), kind(4), kind(5), kind(6)};  // a word more than once changes nothing
  entry.merge = weights_from(what, "merge"), entry.share = weights_from(what, "share");
  entry.may_be_unified = what["may_be_unified"].cast<bool>(), entry.may_begin = what["may_begin"].cast<bool>();
  entry.needs = functions[index].needs, entry.make = functions[index].make;
  if (index == places().size()) {
    places().push_back(place.release());
  } else {  // defined again, as in a notebook
    entry.name = places()[index]->entry.name;
    *places()[index] = std::move(*place);
  }
  Place& placed = *places()[index];
  placed.entry = entry;
  placed.entry.options = placed.options;
  const CatalogueEntry* own[] = {&placed.entry};
  try {
    extend_catalogue(own);
  } catch (const std::invalid_argument& fault) {
    if (index + 1 == places().size()) places().pop_back();
    throw py::value_error(fault.what());
  }
}

}  // namespace

void bind_algorithms(py::module_& module) {
  bind_work(module);
  module.def("register_algorithm", &register_algorithm);
}

}  // namespace rubato::python
