// Learners and a transport as a plug-in.
#include <rubato/app/plugin.hpp>

#include "transports/open.hpp"

namespace {

// f(x) = 1/2 |x - c|^2, c the client's number.
template <class Real>
class Pull final : public rubato::Learner<Real> {
 public:
  explicit Pull(rubato::ClientId client) : centre_{static_cast<Real>(client.value)} {}
  rubato::Index dimension() const override { return 3; }
  std::uint32_t samples() const override { return 1; }
  Real gradient(rubato::ConstVectorRef<Real> x, rubato::Picks, rubato::VectorRef<Real> g, rubato::Scratch<Real>&) const override {
    g = x.array() - centre_;
    return g.squaredNorm() / 2;
  }

 private:
  Real centre_;
};

template <class Real>
std::unique_ptr<rubato::Learner<Real>> pull(rubato::ClientId client, const rubato::config::Experiment&) {
  return std::make_unique<Pull<Real>>(client);
}

// other://HOST:PORT is carried as tcp://HOST:PORT.
std::unique_ptr<rubato::Transport> open(rubato::HostId self, const std::vector<std::string>& addresses, rubato::TensorPool& pool) {
  rubato::TransportOptions options;
  options.self = self;
  for (const std::string& address : addresses) options.hosts.push_back({address, "tcp" + address.substr(address.find(':')), {}});
  return open_transport(std::move(options), pool).transport;
}

constexpr rubato::OwnLearners learners{&pull<float>, &pull<double>};
constexpr rubato::OwnTransport transport{"other", &open};
constexpr const rubato::OwnTransport* transports[] = {&transport};

}  // namespace

extern "C" const rubato::Plugin* rubato_plugin() {
  static const rubato::Plugin plugin = rubato::plugin_of({.transports = transports, .learners = &learners});
  return &plugin;
}
