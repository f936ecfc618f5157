// ClientProtocol: what the protocols of clients share: settings, how messages are sent, refused and merged, timers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/protocols/link_choice.hpp"
#include "runtime/protocols/needs.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/receptions.hpp"
#include "runtime/renewal.hpp"
#include "runtime/world/fading_links.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// With which chance a client computes a gradient at a tick and a link is up at a turn, and whether that is drawn or
/// only paid for. Empty: 1.
struct Chances {
  std::vector<double> computes;  ///< by client
  std::vector<double> links;     ///< by directed link
};

/// Shared by the clients of a run; must outlive them.
struct ClientSettings {
  const Graph* graph = nullptr;
  std::uint64_t seed = 0;
  std::vector<TimerLaw> compute;   ///< one for all, or one per client
  std::vector<TimerLaw> transmit;  ///< likewise
  bool transmit_per_link = false;  ///< one transmit timer per out-link instead of one per client
  MailboxLimits limits;
  Needs needs;
  bool may_duplicate = false;       ///< links deliver messages twice: receivers remember what they have seen
  bool takes_late = false;          ///< messages beyond the deadline may count
  bool shares_out_weights = false;  ///< merge weights of absent clients go to those that are here
  Chances chances;
  std::vector<std::vector<bool>> gradients;        ///< [client][computation]; empty: drawn, or always
  std::vector<std::vector<double>> merge_weights;  ///< by directed link, a row a round in turn; empty: 1
  std::vector<std::vector<double>> share_weights;  ///< likewise
  std::vector<std::uint32_t> absorb_every;         ///< by client, in computations; empty: 1
  LinkChoice links;

  const TimerLaw& compute_law(ClientId client) const { return compute[compute.size() > 1 ? client.value : 0]; }
  const TimerLaw& transmit_law(ClientId client) const { return transmit[transmit.size() > 1 ? client.value : 0]; }
  const FadingLinks* fading = nullptr;  ///< weights are those of the links that are up; null: merge_weights
  Duration change_every{};              ///< how long a row of weights is in force, where time tells; 0: rounds do
  /// How many messages will come: the cap removes those beyond it by chance; null: first come, first served.
  const ReceptionCensus* receptions = nullptr;
  ReceptionCensus* counts_receptions = nullptr;  ///< where they are counted, and no cap is in force; null: nowhere
  bool weighs_as_sent = false;                   ///< a message has its weight from when it was sent; else from when it is merged

  /// Which row of weights is in force, counted on and on.
  std::uint64_t row_at(Time now) const {
    return change_every > Duration::zero() ? static_cast<std::uint64_t>(now.time_since_epoch() / change_every) : 0;
  }
  /// Whether the client's `number`-th computation has a gradient.
  bool has_gradient(ClientId client, std::uint64_t number) const;
  double merge_weight(LinkIndex link, std::uint64_t round = 0) const {
    if (fading) return fading->metropolis(link, round);
    return merge_weights.empty() ? 1 : merge_weights[round % merge_weights.size()][link];
  }
  /// A graph that changes gives its idle links no weight.
  bool is_idle(LinkIndex link, std::uint64_t round) const {
    if (fading) return !fading->is_up(link, round);
    const bool changes = merge_weights.size() > 1 || share_weights.size() > 1;
    return changes && (merge_weights.empty() || merge_weight(link, round) == 0) &&
           (share_weights.empty() || share_weight(link, round) == 0);
  }
  double share_weight(LinkIndex link, std::uint64_t round = 0) const {
    return share_weights.empty() ? 1 : share_weights[round % share_weights.size()][link];
  }
  /// Calls use(place) for the links of the sender that an exchange or a tick uses, ascending. `turn`: those before it.
  template <class Use>
  void each_link_used(ClientId sender, std::uint64_t turn, std::uint64_t round, Use use) const {
    const LinkIndex first = graph->first_link(sender);
    const auto use_if_there = [&](std::uint32_t place) {
      if (!is_idle(first + place, round)) use(place);
    };
    if (links.is_all())
      for (std::uint32_t place = 0; place < graph->out_degree(sender); ++place) use_if_there(place);
    else
      for (const std::uint32_t place : links.choose(*graph, sender, turn)) use_if_there(place);
  }
};

/// Of all clients those that are not here.
class Absentees {
 public:
  bool empty() const { return clients_.empty(); }
  std::size_t size() const { return clients_.size(); }
  bool has(ClientId client) const { return std::binary_search(clients_.begin(), clients_.end(), client); }
  void set(ClientId client, bool is_here) {
    const auto at = std::lower_bound(clients_.begin(), clients_.end(), client);
    const bool is_listed = at != clients_.end() && *at == client;
    if (is_here && is_listed) clients_.erase(at);
    if (!is_here && !is_listed) clients_.insert(at, client);
  }

 private:
  std::vector<ClientId> clients_;  // ascending
};

/// Remembers which messages of one link have been seen, as far back as a duplicate can reasonably come.
class DuplicateFilter {
 public:
  static constexpr std::uint32_t window = 1024;

  enum class Verdict : std::uint8_t { fresh, seen, too_old };

  /// Notes the sequence. One that lies more than `window` below the highest cannot be told from a duplicate: too old.
  Verdict add(Sequence sequence) {
    if (sequence + 1 > next_) {
      const std::uint64_t skipped = std::min<std::uint64_t>(sequence + std::uint64_t{1} - next_, window);
      for (std::uint64_t i = 0; i < skipped; ++i) clear(static_cast<std::uint32_t>(sequence - i));
      next_ = sequence + std::uint64_t{1};
    } else if (next_ - sequence > window) {
      return Verdict::too_old;
    }
    std::uint64_t& word = bits_[sequence % window / 64];
    const std::uint64_t bit = std::uint64_t{1} << (sequence % 64);
    const bool is_seen = word & bit;
    word |= bit;
    return is_seen ? Verdict::seen : Verdict::fresh;
  }

 private:
  void clear(std::uint32_t sequence) { bits_[sequence % window / 64] &= ~(std::uint64_t{1} << (sequence % 64)); }

  std::uint64_t next_ = 0;  // one above the highest
  std::array<std::uint64_t, window / 64> bits_{};
};

/// The entry of a merge step for a message in the mailbox.
StepEntry merge_entry(const Arrival& arrival, Time now, double weight);

/// A step that says the message is not wanted.
void discard(const Arrival& arrival, ClientId self, Time now, Effects& effects);

/// The one step that a model asks for: it is adopted if it is news.
void take_model(const Arrival& model, bool is_news, ClientId self, Time now, Effects& effects);

/// So many of them stay, drawn and in ascending order.
void keep_drawn(std::vector<ClientId>& clients, std::size_t count, Stream& draws);

/// One client, whatever its protocol makes it wait for.
class ClientProtocol : public Protocol {
 protected:
  /// The settings outlive it.
  ClientProtocol(const ClientSettings& settings, ClientId self) : settings_{settings}, self_{self} {}

  std::uint32_t clients() const { return static_cast<std::uint32_t>(settings_.graph->clients()); }
  bool has_deadline() const { return settings_.limits.deadline != Duration::max(); }
  bool is_too_old(const Arrival& arrival) const { return arrival.arrived - arrival.sent > settings_.limits.deadline; }
  /// Of the senders to this client.
  std::size_t place_of(ClientId sender) const {
    const auto senders = settings_.graph->senders_to(self_);
    return static_cast<std::size_t>(std::ranges::lower_bound(senders, sender) - senders.begin());
  }
  /// The next computation, with a gradient or without.
  Step& compute(Time now, Effects& effects);
  /// The next message, to neighbours; its sequence number is its turn as well.
  void publish(std::uint8_t phase, std::span<const ClientId> receivers, std::uint32_t tag, Time now, Effects& effects);
  /// One receiver of the publish step just begun; `row` of the weights is in force.
  void send_to(ClientId receiver, LinkIndex link, std::uint64_t row, Effects& effects) const {
    effects.entry({.peer = receiver, .sequence = sequence_, .weight = settings_.share_weight(link, row), .place = link});
  }
  /// Counts what becomes of the message; true if it is kept, else it is discarded.
  [[nodiscard]] bool admit(Offer offer, const Arrival& arrival, Effects& effects) {
    // In the order of Offer.
    static constexpr std::array counters{&MessageCounts::kept, &MessageCounts::late, &MessageCounts::capped,
                                         &MessageCounts::duplicates, &MessageCounts::superseded};
    ++(counts_.*counters[static_cast<std::size_t>(offer)]);
    if (offer != Offer::kept) discard(arrival, self_, arrival.arrived, effects);
    return offer == Offer::kept;
  }
  /// The same for the offer itself.
  Offer conclude(Offer offer, const Arrival& arrival, Effects& effects) {
    (void)admit(offer, arrival, effects);
    return offer;
  }
  /// One step for all that has arrived, senders ascending; nothing is left. `row` of the weights is in force.
  Step& merge(std::vector<Arrival>& arrived, std::uint8_t phase, std::uint64_t row, Time now, Effects& effects);
  /// Discards those of them that is(arrival) says yes to, each asked once; how many these were.
  template <class Is>
  std::size_t discard_if(std::vector<Arrival>& arrived, Is is, Time now, Effects& effects) const {
    return std::erase_if(arrived, [&](const Arrival& arrival) {
      if (!is(arrival)) return false;
      discard(arrival, self_, now, effects);
      return true;
    });
  }
  /// The same for what is superseded.
  template <class Is>
  void give_up_if(std::vector<Arrival>& arrived, Is is, Time now, Effects& effects) {
    counts_.superseded += discard_if(arrived, is, now, effects);
  }
  void give_up(std::vector<Arrival>& arrived, Time now, Effects& effects) {
    const auto all = [](const Arrival&) { return true; };
    give_up_if(arrived, all, now, effects);
  }

  const ClientSettings& settings_;
  ClientId self_;
  Sequence sequence_ = 0;  // of the next message
};

/// One with timers for computing and for sending.
class TickingProtocol : public ClientProtocol {
 public:
  void skip_compute(Effects& effects) override { wake_compute(effects); }

 protected:
  using ClientProtocol::ClientProtocol;

  const TimerLaw& transmit_law() const { return settings_.transmit_law(self_); }
  void wake_compute(Effects& effects);
  /// Nothing if transmit ticks follow from computations.
  void wake_transmit(Effects& effects);
  void skip_timers_to(Time now);
  void archive_timers(Archive& archive) { archive(compute_timer_, transmit_timer_); }

  Timer compute_timer_;
  Timer transmit_timer_;
};

}  // namespace rubato
