#include "experiment/build/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algos/catalogue.hpp"
#include "experiment/build/devices.hpp"

namespace rubato {

namespace {

bool has_model(const config::DeviceClass& device) { return device.model || device.hidden || device.layers; }

ModelOptions options_of(const config::DeviceClass& device, const ModelOptions& usual) {
  ModelOptions options = usual;
  if (device.model) options.name = *device.model;
  if (device.hidden) options.hidden = *device.hidden;
  if (device.layers) options.layers = *device.layers;
  return options;
}

}  // namespace

ExperimentModels models_of(const config::Experiment& experiment) {
  const config::Clients& clients = experiment.clients;
  ExperimentModels models{.options = {experiment.model}, .of_client = {}};
  if (std::ranges::none_of(clients.classes, has_model)) return models;
  std::vector<std::uint32_t> of_class;
  for (const config::DeviceClass& device : clients.classes) {
    const ModelOptions options = options_of(device, experiment.model);
    const auto known = std::ranges::find(models.options, options);
    of_class.push_back(static_cast<std::uint32_t>(known - models.options.begin()));
    if (known == models.options.end()) models.options.push_back(options);
  }
  for (const std::optional<std::size_t>& place : classes_of(clients, static_cast<std::uint64_t>(experiment.seed)))
    models.of_client.push_back(place ? of_class[*place] : 0);
  return models;
}

void judge_architectures(const config::Experiment& experiment, config::Faults& faults) {
  if (std::ranges::none_of(experiment.clients.classes, has_model)) return;
  const std::string what = "clients.classes: classes with models of their own";
  if (!catalogue_entry(experiment.algorithm.name).may_differ)
    faults.refuse(
        fmt::format("{} cannot learn with algorithm.name = \"{}\", which mixes whole models; kdpdfl and local_only do not", what,
                    experiment.algorithm.name));
  if (experiment.unification.period) faults.refuse(what + " cannot be unified; leave unification.period out");
  if (!experiment.churn.events.empty() || !experiment.churn.random.empty())
    faults.refuse(what + " cannot take over each other's models; leave [churn] out");
  if (experiment.metrics.training || experiment.metrics.gradient_norm)
    faults.refuse(what + " have no mean; leave metrics.training and metrics.gradient_norm out");
  if (experiment.model.init_from) faults.refuse(what + " have no common start; leave model.init_from out");
  if (experiment.channel.kind == config::ChannelKind::aircomp)
    faults.refuse(what + " cannot be added up in the air; choose another channel.kind");
  if (experiment.data.is_made_up()) faults.refuse(fmt::format("{} need samples: data.name is \"{}\"", what, experiment.data.name));
  for (const config::DeviceClass& device : experiment.clients.classes)
    if (device.model == "torchscript" || device.model == "quadratic" || device.model == "least_squares")
      faults.refuse(fmt::format("{} cannot have the model \"{}\"", what, *device.model));
}

}  // namespace rubato
