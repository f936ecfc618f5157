#include "algos/catalogue.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "algos/entries.hpp"
#include "learning/joined.hpp"

namespace rubato {

namespace {

constexpr std::array all{
    &entries::ab,
    &entries::acid,
    &entries::adpsgd,
    &entries::amelie,
    &entries::anq_nids,
    &entries::asgd,
    &entries::async_dsgd,
    &entries::beer,
    &entries::centralised,
    &entries::choco,
    &entries::decefl,
    &entries::decentralised_fedavg,
    &entries::decentralised_fedavg_plus,
    &entries::depositum,
    &entries::dfedsam,
    &entries::digest,
    &entries::diloco,
    &entries::dpsgd,
    &entries::draco,
    &entries::dsgt,
    &entries::event_triggered,
    &entries::fedadmm,
    &entries::fedasync,
    &entries::fedavg,
    &entries::fedavg_paper,
    &entries::fedavg_plus,
    &entries::fedbuff,
    &entries::feddr,
    &entries::fedmid,
    &entries::fragile,
    &entries::g_push_pull,
    &entries::kdpdfl,
    &entries::kgt,
    &entries::kgt_directed,
    &entries::local_only,
    &entries::m_sync,
    &entries::malenia,
    &entries::minibatch_tree,
    &entries::nids,
    &entries::noloco,
    &entries::osgp,
    &entries::pame,
    &entries::pushpull,
    &entries::rennala,
    &entries::rfast,
    &entries::ringleader,
    &entries::ringmaster,
    &entries::sgp,
    &entries::spodgt,
    &entries::sporadic_kgt,
    &entries::swarm,
    &entries::swarm_sgd,
    &entries::sync_barrier_dsgd,
    &entries::sync_dsgd,
};

std::vector<const CatalogueEntry*>& known() {
  static std::vector<const CatalogueEntry*> entries(all.begin(), all.end());
  return entries;
}

std::atomic<std::uint64_t>& version_of_known() {
  static std::atomic<std::uint64_t> version{0};
  return version;
}

[[noreturn]] void refuse(const CatalogueEntry& entry, const std::string& why) {
  throw std::invalid_argument("algorithm.name = \"" + std::string(entry.name) + "\" " + why);
}

bool is_symmetric(const Graph& graph) {
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    if (!graph.find_link(ends.target, ends.source)) return false;
  }
  return true;
}

}  // namespace

std::span<const CatalogueEntry* const> catalogue() { return known(); }

void extend_catalogue(std::span<const CatalogueEntry* const> own) {
  for (const CatalogueEntry* entry : own) {
    if (!entry->make.of_float || !entry->make.of_double) refuse(*entry, "cannot be made for both precisions");
    const auto same = std::ranges::find(known(), entry->name, &CatalogueEntry::name);
    if (same == known().end())
      known().push_back(entry);
    else if (*same != entry)
      refuse(*entry, "is in the catalogue already");
    ++version_of_known();
  }
}

std::uint64_t catalogue_version() { return version_of_known().load(); }

const CatalogueEntry& catalogue_entry(std::string_view name) {
  const auto found = std::ranges::find(known(), name, &CatalogueEntry::name);
  if (found != known().end()) return **found;
  throw std::invalid_argument("algorithm.name = \"" + std::string(name) +
                              "\" is not known; known are: " + joined(known(), &CatalogueEntry::name));
}

double model_and_mass_bytes(const AlgorithmOptions&, const MessageForm& form) {
  return static_cast<double>(form.numbers * (form.scalar_bytes + form.mass_bytes));
}

void require_graph(const CatalogueEntry& entry, const AlgorithmOptions& options, const Graph& graph, ClientId centre) {
  const std::size_t others = graph.clients() - 1;
  if (entry.graphs == Graphs::undirected && !is_symmetric(graph))
    refuse(entry, "needs an undirected graph: every link with its reverse");
  if (entry.graphs == Graphs::complete && graph.links() != graph.clients() * others)
    refuse(entry, "needs a complete graph: topology.kind = \"complete\"");
  if (entry.graphs == Graphs::centred && (graph.out_degree(centre) != others || graph.in_degree(centre) != others))
    refuse(entry, "needs client " + std::to_string(centre.value) +
                      ", the centre, linked with all others: topology.kind = \"star\" or \"complete\"");
  if (entry.check) entry.check(options, graph);
}

}  // namespace rubato
