#include "backplane/net/service_resolver.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"
#include "net/services/addresses.hpp"

namespace backplane::services {
namespace {

constexpr std::string_view kServiceIndex = "service";
// The maximum number of cached resolutions. A service that is not cached is resolved at each call.
constexpr std::size_t kMaxKnown = 4096;

std::vector<std::string> service_of_slice(const ObjectEntry& slice) {
  const auto service = slice.labels().find("kubernetes.io/service-name");
  if (!service) return {};
  return {object_key(slice.ns(), *service)};
}

// Returns the address at which this server calls itself.
std::string own_address(const Host& host) {
  std::string address = host.flag("bind-address").value_or("");
  if (address.empty() || address == "0.0.0.0" || address == "::") address = "127.0.0.1";
  const std::string port = host.flag("secure-port").value_or("6443");
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + port;
}

class InformedResolver final : public ServiceResolver {
 public:
  explicit InformedResolver(Host& host) : host_(host), by_endpoints_(host.flag("enable-aggregator-routing") == "true") {}

  Task<Result<std::string>> resolve(std::string ns, std::string name, int port) override {
    if (ns == "default" && name == "kubernetes" && port == 443) co_return own_address(host_);
    if (!synced_.load(std::memory_order_acquire)) {
      follow();
      auto syncing = informers_->wait_for_cache_sync();
      const bool synced = co_await std::move(syncing);
      if (!synced) co_return service_unavailable("the server is stopping");
      synced_.store(true, std::memory_order_release);
    }
    co_return find(ns, name, port);
  }

 private:
  // The cached resolution of a service. It is valid as long as the informers have the same entries `made_of`.
  struct Known {
    std::vector<ObjectRef> made_of;
    Endpoints endpoints;
  };

  void follow() {
    const std::lock_guard lock(mutex_);
    if (informers_) return;
    auto informers = std::make_unique<SharedInformerFactory>(host_);
    if (host_.find_storage({"", "v1", "services"}) != nullptr) services_ = informers->for_resource({"", "v1", "services"});
    if (by_endpoints_ && host_.find_storage({"discovery.k8s.io", "v1", "endpointslices"}) != nullptr) {
      slices_ = informers->for_resource({"discovery.k8s.io", "v1", "endpointslices"});
      Status indexed = slices_->indexer().add_indexers({{std::string(kServiceIndex), service_of_slice}});
      if (!indexed.ok()) host_.logger().error("finding the endpoints of a service failed: " + indexed.message());
    }
    informers->start();
    informers_ = std::move(informers);
  }

  std::vector<ObjectRef> entries(const std::string& key) const {
    std::vector<ObjectRef> out;
    ObjectRef service = services_ ? services_->indexer().get(key) : nullptr;
    if (service == nullptr) return out;
    out.push_back(std::move(service));
    if (slices_ == nullptr) return out;
    auto slices = slices_->indexer().by_index(kServiceIndex, key);
    if (slices.ok()) out.insert(out.end(), slices->begin(), slices->end());
    return out;
  }

  Result<std::string> find(const std::string& ns, const std::string& name, int port) {
    std::vector<ObjectRef> entries = this->entries(object_key(ns, name));
    if (entries.empty()) return not_found("", "service", name);
    const std::string key = object_key(ns, name) + ":" + std::to_string(port);
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(key);
    if (known != known_.end() && known->second.made_of == entries) return pick(known->second.endpoints);
    auto made = make(entries, name, port);
    if (!made.ok()) {
      known_.erase(key);
      return std::move(made).status();
    }
    std::string address = pick(*made);
    if (known_.size() >= kMaxKnown) known_.clear();
    known_[key] = Known{std::move(entries), std::move(*made)};
    return address;
  }

  Result<Endpoints> make(const std::vector<ObjectRef>& entries, const std::string& name, int port) const {
    const Object service = decode(*entries.front(), json::storage_ptr());
    if (!by_endpoints_) {
      auto address = cluster_address(service, name, port);
      if (!address.ok()) return std::move(address).status();
      Endpoints one;
      one.addresses.push_back(std::move(*address));
      one.preferred = 1;
      return one;
    }
    std::vector<Object> slices;
    for (std::size_t i = 1; i < entries.size(); ++i) slices.push_back(decode(*entries[i], json::storage_ptr()));
    return endpoint_addresses(service, name, port, slices);
  }

  std::string pick(const Endpoints& endpoints) {
    return endpoints.addresses[turn_.fetch_add(1, std::memory_order_relaxed) % endpoints.preferred];
  }

  Host& host_;
  const bool by_endpoints_;
  std::atomic<bool> synced_{false};
  std::atomic<std::size_t> turn_{0};
  std::mutex mutex_;  // guards the members below; the informers are created once and then exist until the resolver is destroyed
  std::unique_ptr<SharedInformerFactory> informers_;
  std::shared_ptr<SharedInformer> services_;
  std::shared_ptr<SharedInformer> slices_;
  std::map<std::string, Known> known_;
};

}  // namespace

}  // namespace backplane::services

namespace backplane BACKPLANE_API {

ServiceResolver::~ServiceResolver() = default;

std::string service_server_name(std::string_view ns, std::string_view name) {
  std::string out(name);
  return out.append(".").append(ns).append(".svc");
}

std::shared_ptr<ServiceResolver> make_service_resolver(Host& host) { return std::make_shared<services::InformedResolver>(host); }

}  // namespace BACKPLANE_API
