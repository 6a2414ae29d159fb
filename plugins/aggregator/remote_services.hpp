// Group versions of other servers: each has an APIService that names a service of this cluster. Requests are forwarded to that service, its
// availability is checked, and its documents are added to discovery.
//
// Each APIService is checked when it, its service or the service's endpoints change, every half minute, and more often while its server
// does not respond; the server's documents are read in the background, never while a request waits. An APIService whose server hangs does
// not delay the others: each has at most one task.
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

// Returns an APIService's spec.service; null: this server serves the group version.
const Object* service_of(const Object& apiservice);

class RemoteServices : public std::enable_shared_from_this<RemoteServices> {
 public:
  // Writes the condition of the APIService of that name if it differs.
  using Report = std::function<Task<Status>(std::string name, Availability availability)>;
  RemoteServices(Host& host, std::shared_ptr<DynamicGroups> groups, Report report);
  // Start the workers that probe servers, and those that read their documents.
  void start_checks();
  void start_readings();
  void stop();

  // Records an APIService that names a service: another server serves its group version.
  void note(const Object& apiservice);
  // Withdraws the group version of an APIService that was deleted or names no service any more.
  void forget(const std::string& name);

  // Calls the server, and returns its current availability. Errors: a problem that prevents the call.
  Task<Result<Availability>> availability(std::string name);

 private:
  struct Remote {
    RemoteTarget target;
    int group_priority = 0;
    int version_priority = 0;
    std::shared_ptr<ProxyState> state;
    RemoteDocumentsRef documents;
    std::optional<Availability> reported;  // the result of the last check
    Availability stored;
    std::optional<Availability> written;  // the last condition that this server wrote or would have written
  };

  void follow();
  void service_changed(const std::string& service);
  void publish(const Remote& remote);
  // Writes the result of a check. If another server keeps writing another result, the name is queued again later instead.
  Task<Status> report(std::string name, Availability found);
  Task<Status> check(std::string name);
  Task<Status> read(std::string name);
  std::optional<Availability> service_problem(const RemoteTarget& target) const;
  // Returns the problem of the endpoints of the service's port; nullopt: there is none.
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
  std::map<std::string, std::set<std::string>> by_service_;  // the names of APIServices, by service
  // Created for the first APIService with a service: a cluster without aggregated servers does not need them.
  std::unique_ptr<SharedInformerFactory> informers_;
  std::shared_ptr<SharedInformer> services_;
  std::shared_ptr<SharedInformer> slices_;
};

}  // namespace backplane
