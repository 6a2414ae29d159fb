// The resources that peers (other servers that share the store) serve. They can be read by resource, and in the format of aggregated
// discovery.
// Requests for custom resources and for resources of extension servers are never forwarded to peers, because this server serves them, too.
// A group version that was removed remains excluded for kGrace, because peers may still list it (upstream: GVExclusionManager).
//
// Thread-safety: any thread.
// Lifetime:      returned values do not change.
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

  // Replaces all known peers.
  void know(Peers peers);
  Peers peers() const;
  // Records group versions that were added and removed on this server.
  void follow(const GroupVersionsChange& change, Clock::time_point now = Clock::now());
  // Ends the exclusion of group versions that were removed kGrace ago.
  void forget_removed(Clock::time_point now = Clock::now());

  // The peers that serve the resource.
  std::vector<std::string> servers_of(const GroupVersionResource& resource) const;
  // Returns null if peers have no further resources.
  PeerDiscoveryRef discovery() const;

 private:
  // Called with the lock held.
  bool is_local_version(const GroupVersion& version) const;
  void changed(const GroupVersion& version);
  Array shown_groups(const Peer& peer) const;

  const std::string own_id_;
  mutable std::mutex mutex_;
  Peers peers_;
  std::map<GroupVersionResource, std::vector<std::string>> servers_;
  std::set<GroupVersion> listed_;                   // the group versions that any peer lists
  std::map<GroupVersion, Clock::time_point> ours_;  // excluded group versions, and the time of removal; max(): not removed
  mutable PeerDiscoveryRef discovery_;              // made by the first call of discovery()
  mutable bool made_ = true;
};

// Makes a Peer from the APIGroupDiscoveryLists that a server returns for /api and /apis.
PeerCatalog::Peer peer_of(const Object& api, const Object& apis);

}  // namespace backplane::core
