// The keys of [clients], of a kind of device, of timers, and of a law from which a number is drawn.
#include "experiment/file/fields.hpp"

namespace rubato::config {

namespace {

// "|mine|yours": the program's own laws, behind words that stand before them.
std::string own_laws() {
  std::string words;
  for (const OwnTimerLaw* law : own_timer_laws()) words += "|" + std::string(law->name);
  return words;
}

}  // namespace

void describe(Rows<Clients>& rows) {
  rows.table = "clients";
  rows.required("count", &Clients::count, some_clients, "number of clients");
  rows.key("compute", &Clients::compute, "the timer of local computations");
  rows.key("transmit", &Clients::transmit, "the timer of transmissions");
  rows.key("classes", &Clients::classes, "kinds of devices, each with a share of the clients; [] for one kind");
}

void describe(Rows<DeviceClass>& rows) {
  rows.table = "device";
  rows.required("name", &DeviceClass::name, "what results call it");
  rows.required("share", &DeviceClass::share, chance_not_none,
                "of the clients; which ones is drawn from the seed. What is left has no class");
  rows.key("rate", &DeviceClass::rate, positive, "ticks a second of the compute timer, drawn for each client; none: as for all");
  rows.key("transmit_rate", &DeviceClass::transmit_rate, positive, "the same of the transmit timer, where it has one of its own");
  rows.key("up", &DeviceClass::up, positive,
           "bits per second that it can send, as in a channel of kind bandwidth; none: as for all");
  rows.key("down", &DeviceClass::down, positive, "the same of receiving");
  rows.key("transmit_watts", &DeviceClass::transmit_watts, not_negative, "as in [energy]; none: as for all");
  rows.key("compute_joules", &DeviceClass::compute_joules, not_negative, "likewise");
  rows.key("model", &DeviceClass::model,
           "the model of these clients, as model.name; none: that of all. What else [model] says holds for all clients");
  rows.key("hidden", &DeviceClass::hidden, {1, 1e6}, "its hidden layers, as model.hidden; none: those of all");
  rows.key("layers", &DeviceClass::layers, "its layers, as model.layers; none: those of all");
}

void describe(Rows<TimerLaw>& rows) {
  rows.table = "timer";
  rows.key("law", &TimerLaw::law, "law of the timer")
      .one_of("poisson|fixed|shifted_exp|gamma|lognormal|trace|table|off" + own_laws())
      .of("clients.compute", Clients{}.compute);
  rows.key("law", &TimerLaw::law, "law of the timer; coupled transmits at the instant of a computation, right after it")
      .of("clients.transmit", Clients{}.transmit);
  rows.key("per_link", &TimerLaw::per_link, "every outgoing link has a timer of its own")
      .with("law=poisson|fixed|shifted_exp|gamma|lognormal" + own_laws())
      .of("clients.transmit", Clients{}.transmit);
  rows.key("rate", &TimerLaw::rate, positive, "ticks per second; shifted_exp, gamma: rate of the random part")
      .as(Type::per_client)
      .with("law=poisson|shifted_exp|gamma");
  rows.only_with("law=fixed");
  rows.required("period", &TimerLaw::period, some_seconds, "seconds between ticks").as(Type::per_client);
  rows.key("phase", &TimerLaw::phase, seconds, "seconds before the first tick").as(Type::per_client);
  rows.required("min", &TimerLaw::min, seconds, "shortest interval in seconds").as(Type::per_client).with("law=shifted_exp");
  rows.required("shape", &TimerLaw::shape, positive, "shape of the interval's law").as(Type::per_client).with("law=gamma");
  rows.only_with("law=lognormal");
  rows.required("mean", &TimerLaw::mean, some_seconds, "mean interval in seconds").as(Type::per_client);
  rows.required("sigma", &TimerLaw::sigma, not_negative, "standard deviation of the interval's logarithm").as(Type::per_client);
  rows.required("file", &TimerLaw::file, "text file, one line per client: its ticks in ascending seconds").with("law=trace");
  rows.required("ticks", &TimerLaw::ticks, seconds, "one list per client: its ticks in ascending seconds")
      .as(Type::ticks)
      .with("law=table");
  rows.only_with("law=coupled");
  rows.key("every", &TimerLaw::every, {1, 1e9}, "transmit after every so many computations");
  rows.key("repeat", &TimerLaw::repeat, {1, 1e6}, "transmissions each time");
  if (own_timer_laws().empty()) return;
  rows.key("numbers", &TimerLaw::numbers, "what a law of the program's own is made from").with("law=" + own_laws().substr(1));
}

void describe(Rows<Law>& rows) {
  rows.table = "law";
  rows.required("law", &Law::law, "the law");
  rows.required("value", &Law::value, "the number itself").with("law=constant");
  rows.required("mean", &Law::mean, positive, "mean of the drawn number").with("law=exponential|lognormal");
  rows.required("sigma", &Law::sigma, not_negative, "standard deviation of its logarithm").with("law=lognormal");
  rows.only_with("law=uniform");
  rows.required("low", &Law::low, "smallest number");
  rows.required("high", &Law::high, "largest number");
  rows.only_with("law=beta");
  rows.required("a", &Law::a, positive, "first exponent; numbers lie between 0 and 1");
  rows.required("b", &Law::b, positive, "second exponent");
  rows.required("shape", &Law::shape, positive, "shape").with("law=gamma");
  rows.required("rate", &Law::rate, positive, "rate; the mean of gamma is shape / rate, of shifted_exp min + 1 / rate")
      .with("law=gamma|shifted_exp");
  rows.required("min", &Law::min, "smallest number").with("law=shifted_exp");
  rows.required("values", &Law::values, "one number per client; of a delay: taken in turn").with("law=list");
}

}  // namespace rubato::config
