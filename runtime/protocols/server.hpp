// server: a centre and its clients. The centre hands out, the selected work and answer, the centre combines; or
// everybody hands in, the centre combines and hands out, everybody works.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/protocols/protocol.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

enum class CentreLaw : std::uint8_t {
  fixed,    ///< always the first centre; after a failure the client behind the one that failed
  in_turn,  ///< the first centre, the client behind it, ...
  drawn,    ///< any client, with equal chances
};

/// What the clients of a run with a centre share: the choices and how far the round is. Must outlive them.
struct ServerBoard {
  const PushSettings* settings = nullptr;  ///< graph, compute law, deadline, needs with the program, merge weights
  CentreLaw law = CentreLaw::fixed;
  ClientId first_centre{};
  std::vector<ClientId> centres;           ///< by turn; behind its end the law goes on
  double share = 1;                        ///< of all clients that a round selects, rounded up
  std::vector<std::vector<ClientId>> selected;  ///< [round], ascending; behind its end they are drawn

  enum class Stage : std::uint8_t { gathering, scattering, working };
  std::uint64_t round = 0;        ///< rounds that are over, without the opening
  bool is_opening = false;        ///< a round that selects everybody comes before round 0
  std::uint32_t turn = 0;         ///< rounds begun before this one, with the opening and those that were repeated
  std::uint64_t failures = 0;     ///< rounds that had to be repeated with the next centre
  ClientId centre{};
  Stage stage = Stage::gathering;
  std::vector<ClientId> chosen;   ///< of this round, ascending
  std::vector<bool> is_awaited;   ///< by client: its message to the centre has not arrived
  std::size_t missing = 0;        ///< messages of this stage that are still waited for
  std::size_t computing = 0;      ///< swarm: clients that work on the centre's answer
  std::size_t started = 0;        ///< clients that are there

  /// Everybody hands in before anybody works: so it is where the program's round ends with the computation.
  bool gathers_first() const;
};

/// Steps of a round. Usual order: the centre publishes (phase 0) to the selected; a receiver merges (phase 0) on
/// arrival, computes for one interval of its law, publishes (phase 1) to the centre; a selected centre computes
/// without messages; when all have answered, or the deadline after the start of the round has passed, the centre
/// merges what came (phase 1, also if that is nothing), senders ascending. With gathers_first(): all others publish
/// (phase 0) to the centre, which merges (phase 0) and publishes (phase 1); receivers merge (phase 1), all compute.
/// Where nobody has the answer by the deadline after its departure, the round is repeated with the next centre; who
/// missed it sits the round out.
///
/// Merge steps carry the number of the round as their index. Messages of a stage that is over are late. A client
/// whose work is overtaken by a newer model drops it. Without a deadline the links must retransmit. There is no
/// reception cap.
class Server final : public Protocol {
 public:
  Server(ServerBoard& board, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_deadline(Time now, Sequence detail, Effects& effects) override;
  void on_departed(std::size_t, Time, Effects&) override {}
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void on_refill() override {}
  void on_unify(Time, bool, Effects&) override {}
  const Mailbox& mailbox() const override { return mailbox_; }

 private:
  std::uint32_t clients() const { return static_cast<std::uint32_t>(board_.settings->graph->clients()); }
  bool is_centre() const { return self_ == board_.centre; }
  std::uint32_t tag_of(std::uint8_t phase) const { return 2 * board_.turn + phase; }

  void enter_turn(Time now, bool is_repeat, Effects& effects);
  ClientId next_centre(bool is_repeat) const;
  void choose();
  void hand_out(Time now, Effects& effects);
  void hand_in(Time now, Effects& effects);
  void answer_all(Time now, Effects& effects);
  void publish(std::uint8_t phase, std::span<const ClientId> receivers, Time now, Effects& effects);
  void merge(std::uint8_t phase, Time now, Effects& effects);
  void begin_job(Time now, Effects& effects);
  void await_until_deadline(std::uint8_t phase, Time now, Effects& effects);
  void count_answer(Time now, Effects& effects);
  void end_round(Time now, Effects& effects);

  Offer judge(const Arrival& arrival, std::uint8_t phase) const;
  void accept(const Arrival& arrival, std::uint8_t phase, Effects& effects);

  ServerBoard& board_;
  ClientId self_;
  bool gathers_first_;
  Sequence sequence_ = 0;
  std::optional<std::uint32_t> job_;    // the turn that this client works for
  std::optional<std::uint32_t> heard_;  // the turn of the newest message of the centre
  ClientId answers_to_{};
  std::vector<Arrival> arrived_;  // of this stage
  std::vector<ClientId> others_;  // receivers of a publish step; kept for its memory
  Mailbox mailbox_;
};

}  // namespace rubato
