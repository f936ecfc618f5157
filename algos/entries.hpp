// The entries of the catalogue, each defined in the file of its algorithm.
#pragma once

#include "algos/catalogue.hpp"

namespace rubato::entries {

extern const CatalogueEntry ab;
extern const CatalogueEntry acid;
extern const CatalogueEntry adpsgd;
extern const CatalogueEntry amelie;
extern const CatalogueEntry anq_nids;
extern const CatalogueEntry asgd;
extern const CatalogueEntry async_dsgd;
extern const CatalogueEntry beer;
extern const CatalogueEntry centralised;
extern const CatalogueEntry choco;
extern const CatalogueEntry decefl;
extern const CatalogueEntry decentralised_fedavg;
extern const CatalogueEntry decentralised_fedavg_plus;
extern const CatalogueEntry depositum;
extern const CatalogueEntry dfedsam;
extern const CatalogueEntry digest;
extern const CatalogueEntry diloco;
extern const CatalogueEntry dpsgd;
extern const CatalogueEntry draco;
extern const CatalogueEntry dsgt;
extern const CatalogueEntry event_triggered;
extern const CatalogueEntry fedadmm;
extern const CatalogueEntry fedasync;
extern const CatalogueEntry fedavg;
extern const CatalogueEntry fedavg_paper;
extern const CatalogueEntry fedavg_plus;
extern const CatalogueEntry fedbuff;
extern const CatalogueEntry feddr;
extern const CatalogueEntry fedmid;
extern const CatalogueEntry fragile;
extern const CatalogueEntry g_push_pull;
extern const CatalogueEntry kdpdfl;
extern const CatalogueEntry kgt;
extern const CatalogueEntry kgt_directed;
extern const CatalogueEntry local_only;
extern const CatalogueEntry m_sync;
extern const CatalogueEntry malenia;
extern const CatalogueEntry minibatch_tree;
extern const CatalogueEntry nids;
extern const CatalogueEntry noloco;
extern const CatalogueEntry osgp;
extern const CatalogueEntry pame;
extern const CatalogueEntry pushpull;
extern const CatalogueEntry rennala;
extern const CatalogueEntry rfast;
extern const CatalogueEntry ringleader;
extern const CatalogueEntry ringmaster;
extern const CatalogueEntry sgp;
extern const CatalogueEntry spodgt;
extern const CatalogueEntry sporadic_kgt;
extern const CatalogueEntry swarm;
extern const CatalogueEntry swarm_sgd;
extern const CatalogueEntry sync_barrier_dsgd;
extern const CatalogueEntry sync_dsgd;

}  // namespace rubato::entries
