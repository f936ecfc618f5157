// pull: a client asks its neighbours, takes the first answers or those that came in time, and absorbs them together.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/protocols/client_protocol.hpp"

namespace rubato {

/// Shared by the clients of a run; must outlive them.
struct PullSettings {
  const ClientSettings* push = nullptr;  ///< graph, timers, deadline, needs, weights, absorb_every
  /// [client][pull] -> the neighbours it asks, ascending; behind its end they are drawn.
  std::vector<std::vector<std::vector<ClientId>>> asked;

  /// A pull belongs to a computation, not to the transmit timer.
  bool at_compute() const { return push->needs.absorb == AbsorbAt::compute; }
  /// The share of the neighbours that a pull asks, drawn, and of those whose answers end it; both rounded up. At a
  /// computation all are asked and the first few count, else only those are asked that count.
  double asks(ClientId client) const { return at_compute() ? 1 : push->needs.fanout.share_for(client.value); }
  double awaits(ClientId client) const { return at_compute() ? push->needs.fanout.share_for(client.value) : 1; }
  /// After a pull the client tells those that answered what has become of its model. An exchange number 1 says so.
  bool announces() const;
};

/// A pull begins at a transmit tick or, with needs.absorb = compute, at the compute ticks whose number is a multiple
/// of the client's absorb_every. Requests go to the neighbours; a neighbour that hears one answers at once with a publish step
/// (phase 0) to the asker alone. When enough answers are in, or at the deadline after the requests, all of them are
/// one merge step (phase 0, senders ascending), or none if nothing came; later answers are discarded, as late or
/// superseded.
///
/// A pull at a compute tick is followed by that computation; compute ticks until then are skipped. A pull at a
/// transmit tick leaves computations alone; transmit ticks while it lasts are skipped. With announces() the merge is
/// followed by a publish step (phase 1) to those that answered, and its arrivals are merge steps of phase 1. Without a
/// deadline the links must retransmit. There is no reception cap.
class Pull final : public TickingProtocol {
 public:
  Pull(const PullSettings& settings, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_deadline(Time now, Sequence pull, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void archive(Archive& archive) override;

  /// Ticks at which nothing happened because a pull was under way.
  std::uint64_t skipped() const { return skipped_; }

 private:
  bool ask(Time now, Effects& effects);
  void choose_asked();
  void compute_once(Time now, Effects& effects);
  void finish(Time now, Effects& effects);
  Offer judge(const Arrival& arrival) const;

  const PullSettings& rules_;
  std::uint32_t pulls_ = 0;  // begun; the number of the present or last one is one less
  bool awaits_ = false;
  bool is_cut_ = false;     // the last pull was ended by the deadline
  std::size_t enough_ = 0;  // answers that end the present pull
  std::uint64_t skipped_ = 0;
  std::vector<ClientId> asked_;
  std::vector<Arrival> answers_;
  std::vector<Arrival> news_;  // what others announced, at this instant
};

}  // namespace rubato
