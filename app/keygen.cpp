#include <cstdio>

#include "app/commands.hpp"
#include "transports/zmq_identity.hpp"

namespace rubato::app {

int keygen(const KeygenArguments& arguments) {
  const Identity identity = make_identity();
  const IdentityFiles files = write_identity(identity, arguments.out.empty() ? "." : arguments.out, arguments.name);
  std::printf("# %s stays on this host. What follows goes into the experiment file, on every host.\n", files.secret.c_str());
  std::printf("[[roster]]\nname = \"%s\"\naddress = \"tcp://%s:7001\"\npublic_key = \"%s\"\n", arguments.name.c_str(),
              arguments.name.c_str(), identity.public_key.c_str());
  return ok;
}

}  // namespace rubato::app
