// Group versions that an APIService says another server answers for, over a service of this cluster.  This server does not forward
// requests: they are answered 503 as they are by one that cannot reach the service, and the condition Available says how far the service is
// there.
//
// Services and their endpoints are known from informers, which run from when the first such APIService is seen.
// Thread-safety: the host's executor.
// Lifetime:      the host outlives it; its informers end with the host's stop signal.
// Errors:        a group version that cannot be published is logged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <backplane/host.hpp>
#include <backplane/informer.hpp>

namespace backplane {

// The condition Available of an APIService.
struct Availability {
  std::string status, reason, message;
};

// An APIService's spec.service; null: its group version is served from here.
const Object* service_of(const Object& apiservice);

class RemoteServices {
 public:
  // `changed` is called with the name of an APIService when its service or that one's endpoints have changed.
  using Changed = std::function<void(const std::string& name)>;
  RemoteServices(Host& host, std::shared_ptr<DynamicGroups> groups, Changed changed)
      : host_(host), groups_(std::move(groups)), changed_(std::move(changed)) {}

  // The group version of this APIService, which names a service, is answered for elsewhere.
  void note(const Object& apiservice);
  // The APIService of that name has gone, or names no service.
  void forget(const std::string& name);

  // As far as it can be told without asking the service itself (remote.AvailableConditionController).
  // Errors: kServiceUnavailable when the server stops.
  Task<Result<Availability>> availability(const Object& apiservice);

 private:
  struct Remote {
    GroupVersion version;
    int group_priority = 0;
    int version_priority = 0;
    std::string service;  // "namespace/name"
    bool operator==(const Remote&) const = default;
  };
  struct Target;  // of an APIService
  void follow();
  void service_changed(const std::string& service);
  Availability judge(const Target& target) const;
  static std::string discovery_problem(const Target& target, const Object& service_spec);
  // What is wrong with the endpoints of the service's port, or nothing.
  std::optional<Availability> endpoints_problem(const Target& target, const std::string& port_name) const;

  Host& host_;
  const std::shared_ptr<DynamicGroups> groups_;
  const Changed changed_;
  std::map<std::string, Remote> remotes_;
  std::map<std::string, std::set<std::string>> by_service_;  // names of APIServices
  // Since follow(); of what nobody serves there is none.
  std::unique_ptr<SharedInformerFactory> informers_;
  std::shared_ptr<SharedInformer> services_;
  std::shared_ptr<SharedInformer> endpoints_;  // EndpointSlices where they are served, else Endpoints
  bool sliced_ = false;
};

}  // namespace backplane
