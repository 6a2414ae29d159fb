// The resources that peers serve, by resource and as discovery lists them.
//
// Group versions of custom resources and of extension servers are no peer's: this server has all of them, and excludes
// removed ones for a while, since peers may still list them (upstream: GVExclusionManager).
//
// Thread-safety: any thread.
// Lifetime:      values that are handed out stay as they are.
// Errors:        none.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/peers.hpp"
#include "backplane/rest/api_group.hpp"

namespace backplane::core {

class PeerCatalog {
 public:
  using Clock = std::chrono::steady_clock;
  // Upstream's defaultExclusionGracePeriod.
  static constexpr std::chrono::minutes kGrace{5};

  // The resources of one server, from its aggregated discovery.
  struct Peer {
    Array groups;  // without the core group, which is not listed at /apis
    std::vector<GroupVersionResource> resources;
  };
  using PeerRef = std::shared_ptr<const Peer>;
  using Peers = std::map<std::string, PeerRef>;  // by their ids

  explicit PeerCatalog(std::string own_id) : own_id_(std::move(own_id)) {}

  // In the place of all that was known.
  void know(Peers peers);
  Peers peers() const;
  // Groups added and removed here.
  void follow(const GroupVersionsChange& change, Clock::time_point now = Clock::now());
  // Groups removed kGrace ago are no longer excluded.
  void forget_gone(Clock::time_point now = Clock::now());

  // The peers that serve the resource.
  std::vector<std::string> servers_of(const GroupVersionResource& resource) const;
  // Null: there is nothing to show.
  PeerDiscoveryRef discovery() const;

 private:
  // With the lock.
  bool is_our_own(const GroupVersion& version) const;
  void changed(const GroupVersion& version);
  Array shown_groups(const Peer& peer) const;

  const std::string own_id_;
  mutable std::mutex mutex_;
  Peers peers_;
  std::map<GroupVersionResource, std::vector<std::string>> servers_;
  std::set<GroupVersion> listed_;                   // by any peer
  std::map<GroupVersion, Clock::time_point> ours_;  // since when they have gone; max(): they have not
  mutable PeerDiscoveryRef discovery_;              // made at first use
  mutable bool made_ = true;
};

// Of APIGroupDiscoveryLists, as a server answers with them for /api and for /apis.
PeerCatalog::Peer peer_of(const Object& api, const Object& apis);

}  // namespace backplane::core
