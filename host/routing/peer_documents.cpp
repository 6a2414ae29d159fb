#include "routing/peer_documents.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane {
namespace {

void count(bool kept) {
  static Metric& hits = Metric::counter("aggregator_discovery_peer_aggregated_cache_hits_total",
                                        "Cache hits of merged discovery documents of all peers.", {});
  static Metric& misses = Metric::counter("aggregator_discovery_peer_aggregated_cache_misses_total",
                                          "Cache misses of merged discovery documents of all peers.", {});
  (kept ? hits : misses).add({});
}

}  // namespace

PeerDocuments::Ref PeerDocuments::of(const TableRef& table) {
  PeerDiscoveryRef peers = servers_->discovery();
  if (peers == nullptr || peers->servers.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const bool kept = documents_ != nullptr && documents_->peers == peers && table_.lock() == table;
  count(kept);
  if (!kept) {
    auto made = std::make_shared<Documents>();
    made->peers = std::move(peers);
    documents_ = std::move(made);
    table_ = table;
  }
  return documents_;
}

void PeerDocuments::count_request_without() {
  static Metric& requests =
      Metric::counter("aggregator_discovery_nopeer_requests_total", "Requests for discovery of this server alone, without its peers.", {});
  requests.add({});
}

}  // namespace backplane
