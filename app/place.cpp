#include "app/place.hpp"

#include <fstream>
#include <stdexcept>

#include "experiment/launcher.hpp"
#include "experiment/roster.hpp"

namespace rubato::app {

namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) throw std::invalid_argument(file.string() + ": there is no public key to be read");
  return line;
}

// NAME.secret: in the folder of keys, or beside the experiment file.
fs::path usual_key(const NodeArguments& arguments, const std::string& name) {
  return (arguments.keys.empty() ? arguments.run.file.parent_path() : arguments.keys) / (name + ".secret");
}

}  // namespace

HostId select_host(const NodeArguments& arguments, config::Experiment& experiment) {
  std::string name = arguments.host;
  if (name.empty() || experiment.roster.empty())
    if (const auto launch = launch_of(own_environment(), arguments.port)) {
      const std::string launched = join_roster(experiment, *launch);
      if (name.empty()) name = launched;
    }
  if (experiment.roster.empty())
    throw std::invalid_argument(arguments.run.file.string() +
                                ": there is no roster; name the hosts in [[roster]], or use rubato run");
  if (name.empty()) throw std::invalid_argument("--host: no launcher says which host of the roster this is; name it");
  const HostId self = host_named(experiment, name);
  if (arguments.keys.empty()) return self;
  for (config::Host& host : experiment.roster)
    if (!host.public_key) host.public_key = line_of(arguments.keys / (host.name + ".public"));
  return self;
}

SecretKey secret_of(const NodeArguments& arguments, const config::Host& host) {
  if (!host.public_key && arguments.key.empty()) return {};
  const fs::path file = arguments.key.empty() ? usual_key(arguments, host.name) : arguments.key;
  SecretKey secret = read_secret_key(file);
  if (host.public_key && secret.public_key() != *host.public_key)
    throw std::invalid_argument(file.string() + " is not the other half of the public key of \"" + host.name + "\"");
  return secret;
}

}  // namespace rubato::app
