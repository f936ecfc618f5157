#include "transports/transport.hpp"

namespace rubato {

Duration monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace rubato
