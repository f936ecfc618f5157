// server: a centre and its clients. The centre hands out, the selected work and answer, the centre combines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocols/client_protocol.hpp"

namespace rubato {

class OrderObserver;

/// Shared by the clients of a run with a centre; must outlive them.
struct ServerSettings {
  const ClientSettings* push = nullptr;  ///< graph, compute law, deadline, needs with the program, merge weights
  ClientId centre{};
  double share = 1;                             ///< of all clients that a round selects, rounded up
  std::vector<std::vector<ClientId>> selected;  ///< [round], ascending; behind its end they are drawn
  std::vector<std::vector<Duration>> jobs{};  ///< [client][job] how long it takes, the last again and again; empty: as the law says
  std::vector<ClientId> next{};               ///< which worker gets the model after the k-th answer; empty: as the rule says
  OrderObserver* watch = nullptr;             ///< of a centre without rounds; null: none

  /// A round that selects all clients comes before round 0.
  bool has_opening() const { return push->needs.program.opening.size() > 0; }
  /// All clients hand in before any of them works: GatherFirst or GatherByMessage, and not Server, plays such a program.
  bool gathers_first() const;
};

/// How long this client's work takes in a turn, as its law says. Each turn has an address of its own.
Duration length_of_job(const ClientSettings& settings, ClientId client, std::uint32_t turn);

/// The same where jobs say it: [client][turn], the last again and again; empty: as the law says.
Duration length_of_job(const std::vector<std::vector<Duration>>& jobs, const ClientSettings& settings, ClientId client,
                       std::uint32_t turn);

/// Steps of a round. The centre publishes (phase 0) to the selected; a receiver merges (phase 0) on arrival, computes
/// for one interval of its law, publishes (phase 1) to the centre; a selected centre computes without messages; when
/// all have answered, or the deadline after the start of the round has passed, the centre merges what came (phase 1,
/// also if that is nothing), senders ascending.
///
/// Merge steps carry the number of the round as their index. All state of a round is at the centre; the others know its
/// turn from its message. Answers to a round that is over are late, and so is a model older than the deadline. A client
/// whose work is overtaken by a newer model drops it. Without a deadline the links must retransmit. There is no
/// reception cap.
///
/// Clients that are not here are not selected, and those that go are not waited for. Where the centre is gone nothing happens until
/// it comes back: it then begins the round again in which it was saved.
class Server final : public ClientProtocol {
 public:
  Server(const ServerSettings& rules, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_deadline(Time now, Sequence detail, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  bool awaits_computations() const override { return true; }
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override;
  void on_new_life(ClientId sender) override;
  void archive(Archive& archive) override;

 private:
  // Of the round that the centre leads.
  struct Leading {
    std::uint32_t turn = 0;        // rounds begun before this one, the opening included
    std::vector<ClientId> chosen;  // ascending
    std::vector<bool> is_awaited;  // by client: no answer yet; empty between rounds
    std::size_t missing = 0;       // answers that are still waited for
    bool is_closing = false;       // enough waited: it is merged at this instant
    Absentees absent;
  };

  bool is_centre() const { return self_ == rules_.centre; }
  bool is_opening(std::uint32_t turn) const { return rules_.has_opening() && turn == 0; }
  std::uint64_t round_of(std::uint32_t turn) const { return rules_.has_opening() && turn > 0 ? turn - 1 : turn; }

  void begin_round(Time now, Effects& effects);
  void choose();
  void merge_arrived(std::uint8_t phase, std::uint32_t turn, Time now, Effects& effects);
  void begin_job(std::uint32_t turn, Time now, Effects& effects);
  void count_answer(ClientId client, Time now, Effects& effects);
  void close_round(Time now, Effects& effects);
  Offer judge(const Arrival& arrival) const;

  const ServerSettings& rules_;
  std::optional<std::uint32_t> job_;    // the turn that this client works for
  std::optional<std::uint32_t> heard_;  // the turn of the newest message of the centre
  std::vector<Arrival> arrived_;        // at the centre: answers; else: the model, at this instant
  std::vector<ClientId> others_;        // receivers of a publish step; kept for its memory
  Leading leading_;                     // at the centre alone
};

}  // namespace rubato
