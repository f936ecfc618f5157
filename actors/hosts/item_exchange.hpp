// ItemExchange: what this host keeps for others until they have it, and what it waits for from them. Things are asked
// for by name until they come, so a lost parcel or connection only means asking again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/hosts/membership.hpp"
#include "transports/parcel_head.hpp"

namespace rubato {

enum class ItemKind : std::uint8_t {
  payload = 1,  ///< of the so-and-so-manieth publication of the run
  snapshot,     ///< of a client in a sample
  answer,       ///< to the so-and-so-manieth decide step of the run
  model,        ///< of a client at the end
  result,       ///< of a host at the end
  end,          ///< of the run: from the first host to all
};
inline constexpr std::uint8_t last_item_kind = 6;

/// Names the same thing on every host. Of each kind a host promises ascending numbers.
struct ItemName {
  ItemKind kind{};
  std::uint64_t number = 0;
  bool operator==(const ItemName&) const = default;
  void archive(Archive& archive);
};

/// A host that is started again asks anew: what its earlier life has asked for, and what was on its way to that, is
/// forgotten.
///
/// Any thread may use it. One thread of its own sends what may wait a moment: wants and receipts, many in a parcel.
class ItemExchange {
 public:
  /// What goes to this host; it may be asked again after a loss, on any thread.
  using Pack = std::function<Item(HostId)>;
  /// The item, or nothing if it will not come any more. Called once, on a thread of the transport or on the one that
  /// gives up; must not block. False: it cannot be what it should be.
  using Receive = std::function<bool(std::optional<Item>)>;

  static constexpr std::size_t usual_parcel_bytes = std::size_t{8} << 20;
  static constexpr std::size_t head_room = std::size_t{64} << 10;
  static constexpr std::size_t bytes_besides = 128;  ///< that a tensor, or a part, takes with nothing in it

  /// Takes over the assembly's parcels of the kinds want, payload and have: make it before the assembly starts. Item
  /// with more than `parcel_bytes` go in several parcels, but for single tensors, which go whole. What arrives is
  /// copied into the pool: a transport bounds the memory of what it hands out, and algorithms keep tensors for as long
  /// as they like.
  ItemExchange(Membership& membership, Transport& transport, TensorPool& pool, std::size_t parcel_bytes = usual_parcel_bytes);
  ItemExchange(const ItemExchange&) = delete;
  ItemExchange& operator=(const ItemExchange&) = delete;

  /// It is going to be here, for these hosts; there is at least one.
  void promise(ItemName name, std::vector<HostId> hosts);
  /// Here it is: hosts that have asked get it now, the others when they ask. Nothing happens if it is not needed any more.
  void deliver(ItemName name, Pack pack);
  /// That host will never ask.
  void let_go(ItemName name, HostId host);

  /// Items have at most so many tensors, of so many bytes each, and a head of `head_room`. What is larger is refused, also
  /// while it is coming.
  void allow(std::size_t tensors, std::size_t bytes_each);
  /// Asks the owner until it comes.
  void want(ItemName name, HostId owner, Receive receive);
  /// The same for an item that is a thing: `receive` is given the thing, or nothing if it will not come any more.
  template <class Thing, class ReceiveThing>
  void want_thing(ItemName name, HostId owner, ReceiveThing receive) {
    want(name, owner, [receive](std::optional<Item> item) {
      if (!item) return receive(std::nullopt);
      auto thing = read_item<Thing>(item->head, std::move(item->tensors));
      return thing && receive(std::move(thing));
    });
  }
  /// All that has been received so far is receipted when this returns: before a host goes. Not to be called by a
  /// receiver.
  void settle();
  /// Nothing that was wanted will come, nor what will be wanted.
  void give_up();

  /// Things promised and not yet with all hosts.
  std::size_t kept() const;
  /// A host does not have this one yet.
  bool keeps(ItemName name) const;
  /// Called, on any thread, whenever there is less to keep than before. Set it while nothing is kept.
  void on_less(std::function<void()> heard) { on_less_ = std::move(heard); }
  struct Awaited {
    HostId owner;
    Duration since{};
  };
  /// What has been wanted longest; nothing if nothing is.
  std::optional<Awaited> longest_awaited() const;
  /// What arrived and could not be used.
  std::uint64_t refused() const { return refused_; }

 private:
  struct HashName {
    std::size_t operator()(const ItemName& name) const {
      return std::hash<std::uint64_t>{}(name.number * 8 + static_cast<std::uint64_t>(name.kind));
    }
  };
  struct Hold {
    HostId host;
    bool has_asked = false;
    bool is_sent = false;
    bool is_refused = false;  // by a full queue: sent again from this part on
    std::uint32_t next_part = 0;
  };
  struct Kept {
    Pack pack;
    std::vector<Hold> holds;
  };
  struct Arriving {
    std::uint32_t parts_in_all = 0;       // as the first that came said; 0: none has come
    std::map<std::uint32_t, Item> parts;  // those that are here
    std::size_t bytes = 0;                // of all that were admitted, with their heads
  };
  struct Wanted {
    HostId owner;
    Receive receive;
    Duration since = monotonic_now();
    Arriving arriving = {};
  };
  struct Sent {
    ItemName name;
    Duration at{};
  };
  struct Peer {
    std::uint64_t life = 0;                            // the newest that was heard of
    std::vector<ItemName> wants, receipts, questions;  // to be said soon
    std::vector<ItemName> repeats;                     // wants that stand for items that were lost
    std::deque<Sent> unconfirmed;                      // in order
    std::deque<ItemName> refused;                      // by a full queue, to be sent again
    Duration round_trip{};                             // of items: from sending to receipt
    std::size_t early = 0;                             // names of early_ that it has asked for
    Duration last_repeat{}, next_repeat{};
    Duration pause{};     // between repetitions
    bool is_due = false;  // its wants are repeated now
  };
  struct Names;
  struct PartHead;

  void look_at_life(HostId host);
  void forget_earlier_life(HostId host);
  void on_want(HostId from, const Parcel& parcel);
  void on_item(HostId from, Parcel parcel);
  void on_have(HostId from, const Parcel& parcel);
  void on_receipts(HostId from, const std::vector<ItemName>& names);
  void on_questions(HostId from, const std::vector<ItemName>& names);
  void remember_early(ItemName name, HostId host);
  bool drop(ItemName name, HostId host);
  void ship(ItemName name, const Pack& pack, HostId to);
  Hold* find_hold(ItemName name, HostId host);
  bool is_wanted(const PartHead& head, HostId from);
  bool admit(const PartHead& head, HostId from, const Parcel& parcel, std::size_t own_head_bytes);
  void refuse(HostId from, Misdeed what);
  void forget_parts(ItemName name);
  static std::optional<Item> add_part(Arriving& arriving, std::uint32_t part, Item item);
  void ship_refused(HostId to);
  void confirm(Peer& peer, const ItemName& name, Duration now);
  void run(std::stop_token stop);
  void speak(std::unique_lock<std::mutex>& lock);
  void repeat_wants(Duration now);
  void ask_about_unconfirmed(Duration now);
  void wake_speaker();
  void say(ParcelKind kind, HostId to, std::span<const ItemName> names, bool flag);

  Membership& membership_;
  Transport& transport_;
  TensorPool& pool_;
  const std::size_t parcel_bytes_;
  std::function<void()> on_less_;
  std::atomic<std::uint64_t> refused_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::vector<Peer> peers_;  // by host
  std::unordered_map<ItemName, Kept, HashName> kept_;
  std::unordered_map<ItemName, std::vector<HostId>, HashName> early_;  // asked for before they were promised
  std::uint64_t promised_[last_item_kind + 1] = {};                    // by kind: the next number that may be promised
  std::unordered_map<ItemName, Wanted, HashName> wanted_;
  std::size_t most_bytes_ = std::numeric_limits<std::size_t>::max();
  int receiving_ = 0;  // items in the hands of their receivers
  int speaking_ = 0;   // threads that send words
  bool has_given_up_ = false;
  bool has_words_ = false;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace rubato
