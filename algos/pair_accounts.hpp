// PairAccounts: what two clients that meet have decided for each other, counted, so that a reply that gets lost is made up for by
// the next one.
// Source: our own form of a meeting over links that lose messages (docs/references.md#meetings).
//
// D_i: all increments that this client, as the partner, has ever decided for asker i, and their number
// E_j: what this client, as the asker, has applied of partner j's D, and up to which number
//
//   decide   D_i <- D_i + d                              the partner's half; d is applied here at once with the other sign
//   reply    carries D_i and its number
//   hear     apply D - E_j;  E_j <- D                    the asker's half, unless the number is not higher
//   request  says up to which number the asker has heard; what it has not heard is owed and counts with its model
//
// So at every client by itself x + sum_i D_i - sum_j E_j is its start and its own steps, whatever is lost, late or comes twice. A
// client that goes back to an archive begins a life in which its numbers count as higher; an asker that knows more of its earlier
// lives than it does itself, or less than its partner still lists, is told D alone, and does not meet it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"

namespace rubato {

/// Of one client, in float64; an account is made when it is used. Not used where the protocol commits what it knows.
template <class Real>
class PairAccounts {
 public:
  /// Increments that an asker may not have heard of before it is met no more until it has.
  static constexpr std::size_t most_unheard = 64;

  /// Of increments with so many numbers. What the spans of the view show must outlive this.
  PairAccounts(const ClientView& client_view, std::size_t numbers)
      : neighbours_{client_view.receivers}, numbers_{numbers}, is_kept_{client_view.counts_increments} {
    if (is_kept_) accounts_.resize(neighbours_.size());
  }

  /// As the asker: says in the request what is known of this partner.
  void address(Payload& request, ClientId partner, TensorPool& pool) const {
    if (!is_kept_) return;
    const Account& account = accounts_[place_of(neighbours_, partner)];
    request.common[1] = note(account.heard_life, account.heard, pool);
  }

  /// As the partner, in this life: notes what the asker has heard. False: it is only told what is known, and is not met.
  bool note_heard(const Received<Real>& request, std::uint32_t life) {
    if (!is_kept_) return true;
    Account& account = account_of(request.sender);
    const std::uint32_t* heard = request.payload.common[1].template data<std::uint32_t>();
    const bool is_common = heard[0] == life || (heard[0] < life && heard[1] <= account.common);
    const std::uint32_t first = account.number - static_cast<std::uint32_t>(account.unheard.size());
    if (!is_common || heard[1] < first || heard[1] > account.number) return false;
    account.unheard.erase(account.unheard.begin(), account.unheard.begin() + (heard[1] - first));
    return account.unheard.size() < most_unheard;
  }
  /// Adds to the asker's model what it has not heard of, so many times.
  void add_owed(ClientId asker, double times, VectorRef<Real> model) const {
    for (const Tensor& increment : accounts_[place_of(neighbours_, asker)].unheard)
      model += static_cast<Real>(times) * numbers_of<Real>(increment);
  }
  bool is_owed(ClientId asker) const { return is_kept_ && !accounts_[place_of(neighbours_, asker)].unheard.empty(); }

  /// As the partner: this increment is the asker's.
  void decide(ClientId asker, const Tensor& increment, TensorPool& pool) {
    if (!is_kept_) return;
    Account& account = account_of(asker);
    if (!account.given) account.given = zeros<double>(numbers_, pool);
    account.given.separate();
    numbers_of<double>(account.given) += numbers_of<Real>(increment).template cast<double>();
    ++account.number;
    account.unheard.push_back(increment);
  }

  /// What the asker is told: the increment, or where they are counted all of them and their number in this life.
  Payload reply(ClientId asker, Tensor increment, std::uint32_t life, TensorPool& pool) {
    Payload payload;
    if (!is_kept_) {
      payload.common[0] = increment ? std::move(increment) : zeros<Real>(numbers_, pool);
      return payload;
    }
    Account& account = account_of(asker);
    if (!account.given) account.given = zeros<double>(numbers_, pool);
    payload.common[0] = account.given;
    payload.common[1] = note(life, account.number, pool);
    return payload;
  }

  /// As the asker: apply(increment) with what is news in the reply. False: it was heard already.
  template <class Apply>
  bool hear(const Received<Real>& reply, Work<Real>& work, Apply apply) {
    if (!is_kept_) {
      apply(reply.common());
      return true;
    }
    Account& account = account_of(reply.sender);
    const std::uint32_t* told = reply.payload.common[1].template data<std::uint32_t>();
    if (std::pair(told[0], told[1]) <= std::pair(account.heard_life, account.heard)) return false;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> increment = work.scratch.vector(static_cast<Index>(numbers_));
    const auto given = reply.template common<double>();
    if (account.taken)
      increment = (given - numbers_of<double>(std::as_const(account.taken))).template cast<Real>();
    else
      increment = given.template cast<Real>();
    account.taken = reply.payload.common[0];
    account.heard_life = told[0], account.heard = told[1];
    apply(read_only(increment));
    return true;
  }

  /// Whether a reply, or else a request, has this form.
  bool fits(const Payload& payload, bool is_reply) const {
    if (!is_kept_) return holds<Real>(payload.common[0], numbers_);
    const bool holds_model = is_reply ? holds<double>(payload.common[0], numbers_) : holds<Real>(payload.common[0], numbers_);
    return holds_model && holds<std::uint32_t>(payload.common[1], 2);
  }

  /// Shows what was decided for client 3 as "for 3", and what was heard from it as "from 3".
  void inspect(Probe& probe) const {
    for (std::size_t place = 0; place < accounts_.size(); ++place) {
      const std::string other = std::to_string(neighbours_[place].value);
      if (accounts_[place].given) show(probe, "for " + other, numbers_of<double>(accounts_[place].given));
      if (accounts_[place].taken) show(probe, "from " + other, numbers_of<double>(accounts_[place].taken));
    }
  }

  /// Another that is read begins a life of its own.
  void archive(Archive& archive) {
    for (Account& account : accounts_) {
      archive(account.number, account.common, account.heard_life, account.heard);
      archive.optional(account.given, Scalar::float64, numbers_);
      archive.optional(account.taken, Scalar::float64, numbers_);
      archive.list(account.unheard, [&](Archive& each, Tensor& increment) { each.optional(increment, scalar_of<Real>, numbers_); });
      archive.require(account.unheard.size() <= account.number, "more increments are not heard than there are");
      if (archive.is_reading()) account.common = std::min(account.common, account.number);
    }
  }

 private:
  struct Account {
    Tensor given{};                      // D; empty: 0
    std::uint32_t number = 0;            // of the increments in it
    std::vector<Tensor> unheard{};       // the last of them
    std::uint32_t common = 0xFFFF'FFFF;  // numbers up to this one mean the same increments in all lives
    Tensor taken{};                      // E: the partner's own tensor, kept; empty: 0
    std::uint32_t heard_life = 0;
    std::uint32_t heard = 0;
  };

  Account& account_of(ClientId neighbour) { return accounts_[place_of(neighbours_, neighbour)]; }
  static Tensor note(std::uint32_t life, std::uint32_t number, TensorPool& pool) {
    Tensor two = pool.make<std::uint32_t>(2);
    std::uint32_t* numbers = two.writable<std::uint32_t>();
    numbers[0] = life, numbers[1] = number;
    return two;
  }

  std::span<const ClientId> neighbours_;
  std::size_t numbers_;
  bool is_kept_;
  std::vector<Account> accounts_;
};

}  // namespace rubato
