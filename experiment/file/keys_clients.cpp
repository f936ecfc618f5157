// The keys of [clients], of a kind of device, of timers, and of a law from which a number is drawn.
#include "experiment/file/fields.hpp"

namespace rubato::config {

namespace {

constexpr const char* own_timer = "law=poisson|fixed|shifted_exp|gamma|lognormal";

}  // namespace

Fields<Clients> rows_of(const Clients*) {
  return table<Clients>(
      "clients", {
                     required("count", &Clients::count, some_clients, "number of clients"),
                     key("compute", &Clients::compute, "the timer of local computations"),
                     key("transmit", &Clients::transmit, "the timer of transmissions"),
                     key("classes", &Clients::classes, "kinds of devices, each with a share of the clients; [] for one kind"),
                 });
}

Fields<DeviceClass> rows_of(const DeviceClass*) {
  return table<DeviceClass>(
      "device",
      {
          required("name", &DeviceClass::name, "what results call it"),
          required("share", &DeviceClass::share, chance_not_none,
                   "of the clients; which ones is drawn from the seed. What is left has no class"),
          key("rate", &DeviceClass::rate, positive, "ticks a second of the compute timer, drawn for each client; none: as for all"),
          key("transmit_rate", &DeviceClass::transmit_rate, positive,
              "the same of the transmit timer, where it has one of its own"),
          key("up", &DeviceClass::up, positive,
              "bits per second that it can send, as in a channel of kind bandwidth; none: as for all"),
          key("down", &DeviceClass::down, positive, "the same of receiving"),
          key("transmit_watts", &DeviceClass::transmit_watts, not_negative, "as in [energy]; none: as for all"),
          key("compute_joules", &DeviceClass::compute_joules, not_negative, "likewise"),
      });
}

Fields<TimerLaw> rows_of(const TimerLaw*) {
  return table<TimerLaw>(
      "timer",
      {
          key("law", &TimerLaw::law, "law of the timer")
              .one_of("poisson|fixed|shifted_exp|gamma|lognormal|trace|table|off")
              .of("clients.compute", Clients{}.compute),
          key("law", &TimerLaw::law, "law of the timer; coupled transmits at the instant of a computation, right after it")
              .of("clients.transmit", Clients{}.transmit),
          key("per_link", &TimerLaw::per_link, "every outgoing link has a timer of its own")
              .with(own_timer)
              .of("clients.transmit", Clients{}.transmit),
          key("rate", &TimerLaw::rate, positive, "ticks per second; shifted_exp, gamma: rate of the random part")
              .as(Type::per_client)
              .with("law=poisson|shifted_exp|gamma"),
          required("period", &TimerLaw::period, some_seconds, "seconds between ticks").as(Type::per_client).with("law=fixed"),
          key("phase", &TimerLaw::phase, seconds, "seconds before the first tick").as(Type::per_client).with("law=fixed"),
          required("min", &TimerLaw::min, seconds, "shortest interval in seconds").as(Type::per_client).with("law=shifted_exp"),
          required("shape", &TimerLaw::shape, positive, "shape of the interval's law").as(Type::per_client).with("law=gamma"),
          required("mean", &TimerLaw::mean, some_seconds, "mean interval in seconds").as(Type::per_client).with("law=lognormal"),
          required("sigma", &TimerLaw::sigma, not_negative, "standard deviation of the interval's logarithm")
              .as(Type::per_client)
              .with("law=lognormal"),
          required("file", &TimerLaw::file, "text file, one line per client: its ticks in ascending seconds").with("law=trace"),
          required("ticks", &TimerLaw::ticks, seconds, "one list per client: its ticks in ascending seconds")
              .as(Type::ticks)
              .with("law=table"),
          key("every", &TimerLaw::every, {1, 1e9}, "transmit after every so many computations").with("law=coupled"),
          key("repeat", &TimerLaw::repeat, {1, 1e6}, "transmissions each time").with("law=coupled"),
      });
}

Fields<Law> rows_of(const Law*) {
  return table<Law>(
      "law", {
                 required("law", &Law::law, "the law"),
                 required("value", &Law::value, "the number itself").with("law=constant"),
                 required("mean", &Law::mean, positive, "mean of the drawn number").with("law=exponential|lognormal"),
                 required("sigma", &Law::sigma, not_negative, "standard deviation of its logarithm").with("law=lognormal"),
                 required("low", &Law::low, "smallest number").with("law=uniform"),
                 required("high", &Law::high, "largest number").with("law=uniform"),
                 required("a", &Law::a, positive, "first exponent; numbers lie between 0 and 1").with("law=beta"),
                 required("b", &Law::b, positive, "second exponent").with("law=beta"),
                 required("shape", &Law::shape, positive, "shape").with("law=gamma"),
                 required("rate", &Law::rate, positive, "rate; the mean of gamma is shape / rate, of shifted_exp min + 1 / rate")
                     .with("law=gamma|shifted_exp"),
                 required("min", &Law::min, "smallest number").with("law=shifted_exp"),
                 required("values", &Law::values, "one number per client; of a delay: taken in turn").with("law=list"),
             });
}

}  // namespace rubato::config
