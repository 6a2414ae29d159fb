// Group versions that another server serves according to an APIService, over a service of this cluster: requests are forwarded to it, it is
// for availability, and its documents are shown in discovery.
//
// Each APIService is looked at when it, its service or that one's endpoints change, every half minute besides, and soon again while its
// server does not answer; the server's documents are read in the background, never while a request waits.  An APIService whose
// server hangs delays no other server: each has at most one task.
// Thread-safety: the host's executor.
// Lifetime:      shared by its tasks, which end after stop(); the host outlives it.
// Errors:        a group version that cannot be published is logged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <backplane/core/work_queue.hpp>
#include <backplane/host.hpp>
#include <backplane/kit/rewrite_pause.hpp>
#include <backplane/net/informer.hpp>
#include "backplane/rest/api_group.hpp"

#include "proxy_handler.hpp"

namespace backplane {

// The condition Available of an APIService.
struct Availability {
  std::string status, reason, message;
  bool operator==(const Availability&) const = default;
};

// An APIService's spec.service; null: its group version is served from here.
const Object* service_of(const Object& apiservice);

class RemoteServices : public std::enable_shared_from_this<RemoteServices> {
 public:
  // Writes the condition of the APIService of that name, if it is another one.
  using Report = std::function<Task<Status>(std::string name, Availability availability)>;
  RemoteServices(Host& host, std::shared_ptr<DynamicGroups> groups, Report report);
  // Start the workers that probe servers, and those that read their documents.
  void start_checks();
  void start_readings();
  void stop();

  // The group version of this APIService, which names a service, is served by another server.
  void note(const Object& apiservice);
  // The APIService of that name has gone, or names no service.
  void forget(const std::string& name);

  // The current availability; calls the server.
  // Errors: a problem that prevents the call.
  Task<Result<Availability>> availability(std::string name);

 private:
  struct Remote {
    RemoteTarget target;
    int group_priority = 0;
    int version_priority = 0;
    std::shared_ptr<ProxyState> state;
    RemoteDocumentsRef documents;
    std::optional<Availability> told;  // what was found last
    Availability stored;
    std::optional<Availability> written;  // by this server, or as it would have
  };

  void follow();
  void service_changed(const std::string& service);
  void publish(const Remote& remote);
  // Writes what was found, unless another server keeps writing otherwise: then the name comes back later.
  Task<Status> tell(std::string name, Availability found);
  Task<Status> check(std::string name);
  Task<Status> read(std::string name);
  std::optional<Availability> service_problem(const RemoteTarget& target) const;
  // The problem of the endpoints of the service's port, or nothing.
  std::optional<Availability> endpoints_problem(const RemoteTarget& target, const std::string& port_name) const;

  Host& host_;
  const std::shared_ptr<DynamicGroups> groups_;
  const Report report_;
  const std::shared_ptr<ServiceResolver> resolver_;
  const bool reject_redirects_;
  const std::shared_ptr<const kit::FrontProxy> front_;
  const std::shared_ptr<WorkQueue> checks_;
  const std::shared_ptr<WorkQueue> readings_;
  kit::RewritePause pauses_;
  std::map<std::string, Remote> remotes_;
  std::map<std::string, std::set<std::string>> by_service_;  // names of APIServices
  // Since the first APIService of a service: a cluster without aggregated servers has none of this.
  std::unique_ptr<SharedInformerFactory> informers_;
  std::shared_ptr<SharedInformer> services_;
  std::shared_ptr<SharedInformer> slices_;
};

}  // namespace backplane
