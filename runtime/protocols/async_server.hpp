// async_server: a centre and its workers without rounds. Every answer is handled when it arrives.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "runtime/counts.hpp"
#include "runtime/protocols/answer_book.hpp"
#include "runtime/protocols/client_protocol.hpp"
#include "runtime/protocols/server.hpp"

namespace rubato {

/// Work that the centre has asked a worker for. `number` is the sequence of the message that asked; of all that the centre
/// has sent to a worker no two have the same.
struct Order {
  std::uint32_t number;
  std::uint64_t version;  ///< of the model that is worked at
  std::uint32_t place;    ///< counts the orders of a worker
  bool is_outstanding;
};

/// An answer at the centre.
struct AnswerReport {
  ClientId worker;
  Order order;
  Sequence sequence;  ///< counts the answers of its worker
  std::uint64_t delay;
  AnswerFate fate;
  std::uint64_t version;  ///< after it
};

/// Watches orders as they are decided on, before their steps are performed; for traces and tests.
class OrderObserver {
 public:
  virtual ~OrderObserver() = default;
  virtual void on_dispatch(Time, ClientId /*worker*/, const Order&, bool /*again*/) {}
  /// `dropped`: numbers of the job and of the models in wait that it takes the place of.
  virtual void on_begin(Time, ClientId /*worker*/, std::uint32_t /*number*/, std::span<const std::uint32_t> /*dropped*/) {}
  /// A model that waits.
  virtual void on_hold(Time, ClientId /*worker*/, std::uint32_t /*number*/) {}
  virtual void on_finish(Time, ClientId /*worker*/, std::uint32_t /*number*/, Sequence) {}
  virtual void on_answer(Time, const AnswerReport&) {}
  virtual void on_patience(Time, ClientId /*worker*/, const Order&) {}
  /// A round was ended before all had answered; the version after it.
  virtual void on_round_end(Time, ClientId /*centre*/, std::uint64_t /*version*/) {}
};

/// Steps: a worker merges (at_work::begins) the model when it begins, computes at the end of its job, publishes (hands_in)
/// the answer to the centre, which merges or discards it at its arrival and publishes (hands_out) its model to those that
/// the rule names. Work once more at the model that a worker holds is ordered by a control message. The tag of a model says
/// whether work is cancelled for it, the tag of an answer is the number of its order. There is no window and no reception cap.
///
/// At start all get the model, workers ascending. A lost message is given up by patience alone: without it the links must
/// retransmit. Workers that have gone get nothing until they are here again.
class AsyncServer final : public ClientProtocol {
 public:
  /// The needs of the settings have a rule for answers.
  AsyncServer(const ServerSettings& rules, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t job, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_deadline(Time now, Sequence detail, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t number, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  bool awaits_computations() const override { return true; }
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override;
  void archive(Archive& archive) override;

  const OrderCounts& orders() const { return orders_; }
  /// At the centre.
  std::uint64_t version() const { return version_; }
  const AnswerBook& book() const { return book_; }
  /// Orders of the worker that may still be answered, oldest first; at the centre.
  std::vector<Order> outstanding(ClientId worker) const;
  /// Of the answers of a worker, in versions; NaN before the first. At the centre.
  double mean_delay(ClientId worker) const;
  /// The number of the order that this client works at.
  std::optional<std::uint32_t> working() const { return job_ ? std::optional(job_->number) : std::nullopt; }

 private:
  struct Job {
    std::uint32_t number;  // of the order
    std::uint32_t place;   // among the jobs of this client
  };
  // Of one worker, at the centre.
  struct Worker {
    std::deque<Order> orders;  // the oldest first; those that are not outstanding are forgotten after a while
    std::uint32_t next = 0;    // orders so far
    std::uint64_t answers = 0, delays = 0;
    bool waits = false;  // for the next version
  };
  struct Alarm {
    Time at;
    ClientId worker;
    std::uint32_t number, place;
  };

  bool is_centre() const { return self_ == rules_.centre; }
  const AnswerRule& rule() const { return *settings_.needs.answers; }
  bool is_worker(ClientId client) const { return client != rules_.centre || rule().centre_works; }

  // At a worker.
  void take_model(std::uint32_t number, bool cancels, const Arrival* model, Time now, Effects& effects);
  void begin(std::uint32_t number, Time now, Effects& effects);
  void drop_waiting(Time now, Effects& effects);

  // At the centre.
  void hand_out(std::span<const ClientId> workers, bool cancels, Time now, Effects& effects);
  Order& add_order(ClientId worker, std::uint64_t version);
  void await(ClientId worker, const Order& order, Time now, Effects& effects);
  void ask_again(ClientId worker, std::uint64_t version, Time now, Effects& effects);
  Offer take_answer(ClientId worker, std::uint32_t number, Sequence sequence, const Arrival* answer, Time now, Effects& effects);
  void merge_answer(std::uint8_t phase, std::uint64_t delay, const Arrival* answer, Time now, Effects& effects);
  void hand_out_after(ClientId worker, const AnswerFate& fate, std::uint64_t its_version, Time now, Effects& effects);
  void hand_out_to_all(bool cancels, Time now, Effects& effects);
  void stop_old_work(Time now, Effects& effects);
  ClientId next_worker(ClientId answerer);
  void begin_round(Time now, Effects& effects);
  void close_round(Time now, Effects& effects);
  void end_round(Time now, Effects& effects);

  const ServerSettings& rules_;
  OrderCounts orders_;
  // Of a worker.
  std::optional<Job> job_;
  std::uint32_t jobs_ = 0;       // begun
  Sequence answers_ = 0;         // published, or at the centre handled
  std::deque<Arrival> waiting_;  // models; at a centre that works there are none
  std::vector<std::uint32_t> dropped_;
  // Of the centre.
  std::uint64_t version_ = 0;
  AnswerBook book_;
  std::vector<Worker> workers_;  // by client
  std::uint64_t oldest_ = 0;     // no outstanding order is of an earlier version
  std::deque<Alarm> alarms_;     // by time
  std::uint64_t turned_ = 0;     // answers after which a worker was chosen
  std::uint64_t round_ = 0;
  std::uint32_t asked_ = 0;  // of the round
  std::optional<Time> round_ends_;
  std::vector<ClientId> others_;  // receivers of a publish step; kept for its memory
  std::vector<Arrival> taken_;    // the answer of a merge step
  Absentees absent_;
};

}  // namespace rubato
