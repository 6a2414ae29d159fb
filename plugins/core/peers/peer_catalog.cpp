#include "peers/peer_catalog.hpp"

#include "backplane/kit/discovery_shapes.hpp"

namespace backplane::core {
namespace {

std::string group_name(const Object& group) {
  const Object* metadata = get_object(group, "metadata");
  return metadata != nullptr ? std::string(get_string(*metadata, "name")) : std::string();
}

// `group`: an item of the result of kit::aggregated_groups(), which always has versions.
const Array& versions_of(const Object& group) { return *get_array(group, "versions"); }

void add_resources(const Array& groups, std::vector<GroupVersionResource>& out) {
  for (const Value& each : groups) {
    const std::string group = group_name(each.get_object());
    for (const Value& version : versions_of(each.get_object())) {
      const Array* resources = get_array(version.get_object(), "resources");
      if (resources == nullptr) continue;
      for (const Value& resource : *resources) {
        out.emplace_back(group, std::string(get_string(version.get_object(), "version")),
                         std::string(get_string(resource.get_object(), "resource")));
      }
    }
  }
}

}  // namespace

PeerCatalog::Peer peer_of(const Object& api, const Object& apis) {
  PeerCatalog::Peer out;
  add_resources(kit::aggregated_groups(api), out.resources);
  const Array groups = kit::aggregated_groups(apis);
  add_resources(groups, out.resources);
  for (const Value& each : groups) {
    if (!group_name(each.get_object()).empty()) out.groups.push_back(each);
  }
  return out;
}

void PeerCatalog::know(Peers peers) {
  const std::lock_guard lock(mutex_);
  peers_ = std::move(peers);
  servers_.clear();
  listed_.clear();
  for (const auto& [id, peer] : peers_) {
    for (const GroupVersionResource& resource : peer->resources) {
      servers_[resource].push_back(id);
      listed_.insert(resource.group_version());
    }
  }
  made_ = false;
}

PeerCatalog::Peers PeerCatalog::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

// ---- resources of this server

bool PeerCatalog::is_local_version(const GroupVersion& version) const { return ours_.contains(version); }

void PeerCatalog::changed(const GroupVersion& version) {
  if (listed_.contains(version)) made_ = false;
}

void PeerCatalog::follow(const GroupVersionsChange& change, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (const GroupVersionInfo& served : change.served) {
    if (!served.published && !served.forwarded) continue;
    ours_[served.group_version] = Clock::time_point::max();
    changed(served.group_version);
  }
  for (const GroupVersion& gone : change.gone) {
    if (const auto found = ours_.find(gone); found != ours_.end()) found->second = now;
  }
}

void PeerCatalog::forget_removed(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (auto at = ours_.begin(); at != ours_.end();) {
    const bool over = at->second != Clock::time_point::max() && now - at->second >= kGrace;
    if (over) changed(at->first);
    at = over ? ours_.erase(at) : std::next(at);
  }
}

// ---- queries

std::vector<std::string> PeerCatalog::servers_of(const GroupVersionResource& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(resource);
  if (found == servers_.end() || is_local_version(resource.group_version())) return {};
  return found->second;
}

Array PeerCatalog::shown_groups(const Peer& peer) const {
  Array out;
  for (const Value& each : peer.groups) {
    const std::string group = group_name(each.get_object());
    Object shown = each.get_object();
    Array& versions = shown["versions"].emplace_array();
    for (const Value& version : versions_of(each.get_object())) {
      if (!is_local_version({group, std::string(get_string(version.get_object(), "version"))})) versions.push_back(version);
    }
    if (!versions.empty()) out.emplace_back(std::move(shown));
  }
  return out;
}

PeerDiscoveryRef PeerCatalog::discovery() const {
  const std::lock_guard lock(mutex_);
  if (!made_) {
    auto made = std::make_shared<PeerDiscovery>();
    made->own_id = own_id_;
    for (const auto& [id, peer] : peers_) made->servers.push_back({id, shown_groups(*peer)});
    discovery_ = peers_.empty() ? nullptr : std::move(made);
    made_ = true;
  }
  return discovery_;
}

}  // namespace backplane::core
