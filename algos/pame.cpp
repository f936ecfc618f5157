// PaME: decentralised learning with partial message exchange.
// Source: Sha, Zhou, Wang, Kong and Li, "Decentralized Federated Learning by Partial Message Exchange", algorithms 1
// and 2, equations 3 to 8 (docs/references.md#pame).
//
// w: model   v: what the exchange makes of it   g: gradient   PME: partial mean, see pme.hpp   kappa: period
// m_sel: messages in the last exchange, at first t = ceil(nu |N|)   s: coordinates in a message
// sigma: inverse step size   gamma: its growth
//
//   publish   for every receiver choose s coordinates of w;  send them and their values
//   merge     v <- PME(w, messages);  m_sel <- number of messages        right before every kappa-th computation
//   compute   v <- w if nothing was merged;  w <- v - g(v; batch) / (sigma m_sel);  sigma <- gamma sigma
//
// A round is exchange, compute. A client's own value only fills in for what no neighbour sent (formula 6; the text says
// otherwise, PA-4). Every receiver is sent coordinates of its own; shared_coords sends the same to all (PA-3). t is
// rounded up: rounded down it may be 0 (PA-2). The paper counts 63 s + n bits for a message (PA-6). Decisions:
// docs/references.md#pame-decisions.
#include <algorithm>
#include <cmath>
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "algos/pme.hpp"
#include "runtime/protocols/link_choice.hpp"

namespace rubato {

namespace {

struct PameSettings {
  PerClientNumber nu;
  PerClientNumber share;
  PerClientNumber sigma0;
  PerClientNumber gamma;
  PerClientNumber m0;  // 0: t
  bool shares_coordinates;
  std::uint32_t value_bits;
};

Index sent_of(std::size_t numbers, double share) { return std::max<Index>(1, std::lround(share * static_cast<double>(numbers))); }

template <class Real>
class Pame final : public LocalModel<Real, PameSettings> {
  using Base = LocalModel<Real, PameSettings>;

 public:
  explicit Pame(const Setup<Real, PameSettings>& setup)
      : Base(setup),
        v_{copy_of<Real>(setup.start, setup.pool)},
        sent_count_{sent_of(this->count(), this->settings().share.of(this->client()))},
        selected_{first_selected(setup.client_view)},
        sigma_{this->settings().sigma0.of(this->client())} {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    if (!std::exchange(has_merged_, false)) v() = this->x();
    this->x() = v();
    if (!step.with_gradient) return;
    const double eta = 1 / (sigma_ * static_cast<double>(selected_));
    work.descend(this->x(), step.index, static_cast<Real>(eta));
    sigma_ *= this->settings().gamma.of(this->client());
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    if (this->settings().shares_coordinates) {
      auto [coordinates, values] = part_for(work, step, this->client_id());
      payload.paper_bits = bits_of(values);
      payload.common = {std::move(coordinates), std::move(values)};
      return payload;
    }
    payload.own_each = 2;
    payload.own.reserve(2 * step.entries.size());
    for (const StepEntry& receiver : step.entries) {
      auto [coordinates, values] = part_for(work, step, receiver.peer);
      payload.paper_bits += bits_of(values) / static_cast<double>(step.entries.size());
      payload.own.push_back(std::move(coordinates));
      payload.own.push_back(std::move(values));
    }
    return payload;
  }

  void merge(Work<Real>& work, const Step&, std::span<const Received<Real>> window) override {
    if (window.empty()) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    PartialMean<Real> pme(this->x().size(), work.scratch);
    for (const Received<Real>& message : window) {
      const bool is_shared = this->settings().shares_coordinates;
      const Tensor& coordinates = is_shared ? message.payload.common[0] : message.own_tensor(0);
      const Tensor& values = is_shared ? message.payload.common[1] : message.own_tensor(1);
      pme.add({coordinates.data<std::uint32_t>(), coordinates.count()}, numbers_of<Real>(values));
    }
    pme.fill(this->model(), v());
    selected_ = window.size();
    has_merged_ = true;
  }

  bool fits(const Payload& payload, const Step&, std::uint32_t place) const override {
    if (this->settings().shares_coordinates) return are_coordinates<Real>(payload.common[0], payload.common[1], v_.count());
    const std::size_t first = std::size_t{2} * place;
    return payload.own_each == 2 && first + 1 < payload.own.size() &&
           are_coordinates<Real>(payload.own[first], payload.own[first + 1], v_.count());
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(v_);
    archive(has_merged_);
    archive(selected_);
    archive(sigma_);
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "vbar", numbers_of<Real>(v_));
    show(probe, "sigma", sigma_);
    show(probe, "m_i", static_cast<double>(selected_));
  }

 private:
  VectorRef<Real> v() { return numbers_of<Real>(v_); }

  std::size_t first_selected(const ClientView& client_view) const {
    const double given = this->settings().m0.of(this->client());
    if (given > 0) return static_cast<std::size_t>(given);
    const std::size_t taken = share_of(this->settings().nu.of(this->client()), client_view.senders.size());
    return std::max<std::size_t>(1, taken);  // also of a client without neighbours
  }

  double bits_of(const Tensor& values) const {
    return pme_message_bits(this->model().size(), static_cast<Index>(values.count()), this->settings().value_bits);
  }

  std::pair<Tensor, Tensor> part_for(Work<Real>& work, const Step& step, ClientId receiver) const {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Picks picks = work.coordinates(step.index, receiver, this->model().size(), sent_count_);
    Tensor coordinates = work.pool.template make<std::uint32_t>(picks.size());
    Tensor values = work.pool.template make<Real>(picks.size());
    std::copy(picks.begin(), picks.end(), coordinates.writable<std::uint32_t>());
    for (std::size_t i = 0; i < picks.size(); ++i) numbers_of<Real>(values)[static_cast<Index>(i)] = this->model()[picks[i]];
    return {std::move(coordinates), std::move(values)};
  }

  Tensor v_;
  bool has_merged_ = false;  // v is newer than w
  Index sent_count_;         // s
  std::size_t selected_;     // m_sel
  double sigma_;
};

constexpr OptionSpec pame_table[] = {
    {"nu", OptionType::number, "0.2", "share of its neighbours that a client takes, rounded up, for all or a list", 0, 1, true},
    {"share", OptionType::number, "0.2", "share of the coordinates in a client's messages: s/n, for all or a list", 0, 1, true},
    {"kappa", OptionType::number, "1", "a client takes messages in every kappa-th computation only, for all or a list", 1, 1e6},
    {"kappa_high", OptionType::whole, "0", "if not 0: each client draws its kappa once, from kappa to kappa_high", 0, 1e6},
    {"sigma0", OptionType::number, "1", "inverse step size at the start, for all or a list", 0, 1e12, true},
    {"gamma", OptionType::number, "1.005", "what sigma is multiplied by with every computation, for all or a list", 1, 1e6},
    {"m0", OptionType::number, "0",
     "messages that steps before the first exchange are divided by, for all or a list; 0: as many as will be taken", 0, 1e6},
    {"shared_coords", OptionType::flag, "false", "all receivers of a message are sent the same coordinates"},
    {"value_bits", OptionType::whole, "64", "of a number, where bits are counted as in the paper", 1, 64},
};

Every periods(const OptionReader& options) {
  const std::vector<double> kappa = options.wholes("kappa");
  const std::uint64_t high = options.whole("kappa_high");
  Every every;
  if (kappa.size() > 1) {
    if (high != 0) refuse_option("kappa_high", std::to_string(high), "must be 0 where kappa is a list");
    every.list.assign(kappa.begin(), kappa.end());
    return every;
  }
  every.low = static_cast<std::uint32_t>(kappa[0]);
  if (high != 0 && high < every.low)
    refuse_option("kappa_high", std::to_string(high), "must be 0, or at least kappa and at most 1000000");
  every.high = high == 0 ? every.low : static_cast<std::uint32_t>(high);
  return every;
}

PameSettings read_pame(const OptionReader& options) {
  periods(options);
  return {options.numbers("nu"),
          options.numbers("share"),
          options.numbers("sigma0"),
          options.numbers("gamma"),
          options.wholes("m0"),
          options.flag("shared_coords"),
          static_cast<std::uint32_t>(options.whole("value_bits"))};
}

Needs pame_needs(const OptionReader& reader) {
  read_pame(reader);
  std::vector<double> nu = reader.numbers("nu");
  const double greatest = *std::ranges::max_element(nu);
  if (nu.size() == 1) nu.clear();
  return {
      .keep = Keep::newest,
      .absorb = AbsorbAt::compute,
      .asks_every = periods(reader),
      .fanout = {.share = greatest, .shares = std::move(nu), .chosen_by_receiver = true},
      .program = {.round = {Phase{PhaseKind::exchange}, Phase{PhaseKind::compute}}},
  };
}

double part_bytes(const AlgorithmOptions& given, const MessageForm& form) {
  return static_cast<double>(sent_of(form.numbers, read_pame({given, pame_table}).share.greatest())) *
         static_cast<double>(form.scalar_bytes + sizeof(std::uint32_t));
}

// Where every client always takes all of its neighbours and has no weight itself, the two sides of a bipartite graph swap
// their models for ever.
void check_pame(const AlgorithmOptions& given, const Graph& graph) {
  const PerClientNumber nu = read_pame({given, pame_table}).nu;
  if (!graph.is_bipartite()) return;
  for (std::uint32_t i = 0; i < graph.clients(); ++i)
    if (share_of(nu.of(i), graph.in_degree({i})) < graph.in_degree({i})) return;
  refuse_option("nu", nu.greatest(),
                "takes all neighbours of every client, and the graph is bipartite: without a weight of their own its two "
                "sides would swap models for ever; take fewer, or a graph with an odd cycle");
}

}  // namespace

constinit const CatalogueEntry entries::pame{
    .name = "pame",
    .summary = "means of the coordinates that arrive, ever smaller steps",
    .options = pame_table,
    .runs = {ProtocolKind::push, ProtocolKind::rounds, ProtocolKind::pull},
    .may_be_unified = true,
    .needs = needs_by<pame_needs, pame_table>,
    .message_bytes = part_bytes,
    .make = made_by<Pame, read_pame, pame_table>,
    .check = check_pame,
};

}  // namespace rubato
