#include "app/other_stores.hpp"

#include <algorithm>

#include "registry/store_override_names.hpp"

namespace backplane {
namespace {

Status invalid() {
  return bad_request(
      "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated");
}

bool has_empty_part(std::string_view text, char separator) {
  return text.empty() || text.front() == separator || text.back() == separator ||
         text.find(std::string(2, separator)) != std::string_view::npos;
}

// The resource in an override that is written in one transaction with other resources, and so must be in the same store as these. Empty:
// the override names no such resource.
std::string written_with_others(const GroupResource& named) {
  const GroupResource together[] = {{"", "services"}, {"networking.k8s.io", "ipaddresses"}};
  const auto moved = std::find_if(std::begin(together), std::end(together), [&](const GroupResource& each) {
    return each == named || (each.group == named.group && named.resource == kWholeGroup);
  });
  return moved == std::end(together) ? "" : moved->to_string();
}

}  // namespace

Result<std::vector<StoreOverride>> parse_store_overrides(const std::vector<std::string>& values) {
  std::vector<StoreOverride> overrides;
  for (const std::string& value : values) {
    const auto hash = value.find('#'), slash = value.find('/');
    if (hash == std::string::npos || slash == std::string::npos || slash > hash || value.find('#', hash + 1) != std::string::npos)
      return invalid();
    StoreOverride override;
    override.resource = {value.substr(0, slash), value.substr(slash + 1, hash - slash - 1)};
    override.servers = value.substr(hash + 1);
    if (override.resource.resource.find('/') != std::string::npos || has_empty_part(override.servers, ';')) return invalid();
    if (const std::string moved = written_with_others(override.resource); !moved.empty()) {
      return bad_request("--etcd-servers-overrides: " + moved +
                         " are written together with what they hold, in one transaction, and stay in the store of --etcd-servers");
    }
    // If a resource is named twice, the last value counts.
    std::erase_if(overrides, [&](const StoreOverride& other) { return other.resource == override.resource; });
    overrides.push_back(std::move(override));
  }
  return overrides;
}

std::string override_backend(std::string_view backend, std::string_view servers) {
  return std::string(backend) + "#" + std::string(servers);
}

ConfirmedReads ConfirmedReads::of(bool watch_cache, const std::vector<std::string>& sizes) {
  ConfirmedReads out;
  out.all = !watch_cache;
  out.resources = {"events"};  // as upstream: events have no cache unless a size is set for them
  for (const std::string& each : sizes) {
    const auto hash = each.find('#');
    if (hash == std::string::npos) continue;
    std::erase(out.resources, each.substr(0, hash));
    if (each.find_first_not_of('0', hash + 1) == std::string::npos) out.resources.push_back(each.substr(0, hash));
  }
  return out;
}

bool ConfirmedReads::includes(const GroupResource& resource) const {
  return all || std::find(resources.begin(), resources.end(), resource.to_string()) != resources.end();
}

const StoreParts& HubOfStores::store_of(const CacheConfig& config) {
  for (const GroupResource& name : override_names(config)) {
    for (const StoreParts& store : stores_) {
      if (std::find(store.resources.begin(), store.resources.end(), name) == store.resources.end()) continue;
      used_.insert(name);
      return store;
    }
  }
  return stores_.front();
}

std::vector<GroupResource> HubOfStores::unused() const {
  std::vector<GroupResource> out;
  for (const StoreParts& store : stores_) {
    std::copy_if(store.resources.begin(), store.resources.end(), std::back_inserter(out),
                 [this](const GroupResource& each) { return !used_.contains(each); });
  }
  return out;
}

std::shared_ptr<ResourceCache> HubOfStores::add(CacheConfig config, bool eager) {
  config.confirmed = confirmed_.includes(config.resource);
  const StoreParts& store = store_of(config);
  store.measured->use_resource(config.prefix, config.resource);
  return store.hub->add(std::move(config), eager);
}

// A store that has no cache with this prefix ignores the call.
void HubOfStores::remove(std::string_view prefix) {
  for (const StoreParts& store : stores_) {
    store.hub->remove(prefix);
    store.measured->forget_resource(prefix);
  }
}

void HubOfStores::retire(std::string_view prefix) {
  for (const StoreParts& store : stores_) store.hub->retire(prefix);
}

void HubOfStores::restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) {
  for (const StoreParts& store : stores_) store.hub->restore(prefix, retired);
}

Task<Status> HubOfStores::start() {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    if (started_[i]) continue;
    auto starting = stores_[i].hub->start();
    Status status = co_await std::move(starting);
    if (!status.ok()) co_return status;
    started_[i] = true;
  }
  co_return Status();
}

Task<void> HubOfStores::stop() {
  for (const StoreParts& store : stores_) {
    auto stopping = store.hub->stop();
    co_await std::move(stopping);
  }
}

}  // namespace backplane
