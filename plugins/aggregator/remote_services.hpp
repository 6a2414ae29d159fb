// Group versions that an APIService says another server answers for, over a service of this cluster.  This server does not forward
// requests: they are answered 503 as they are by one that cannot reach the service, and the condition Available says how far the service is
// there.
//
// Thread-safety: note(), forget() and names() from any thread; availability() on the host's executor.
// Lifetime:      logger and client outlive it.
// Errors:        a group version that cannot be published is logged.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <backplane/host.hpp>

namespace backplane {

// The condition Available of an APIService.
struct Availability {
  std::string status, reason, message;
};

// An APIService's spec.service; null: its group version is served from here.
const Object* service_of(const Object& apiservice);

class RemoteServices {
 public:
  RemoteServices(Logger& logger, std::shared_ptr<DynamicGroups> groups) : logger_(logger), groups_(std::move(groups)) {}

  // Before availability() is first called.
  void use(LoopbackClient& client) noexcept { client_ = &client; }
  // The group version of this APIService, which names a service, is answered for elsewhere.
  void note(const Object& apiservice);
  // The APIService of that name has gone, or names no service.
  void forget(const std::string& name);
  // Of those that are noted.
  std::vector<std::string> names() const;

  // As far as it can be told without asking the service itself (remote.AvailableConditionController).
  Task<Availability> availability(const Object& apiservice);

 private:
  struct Remote {
    GroupVersion version;
    int group_priority = 0;
    int version_priority = 0;
    bool operator==(const Remote&) const = default;
  };
  struct Target;  // of an APIService
  // What is wrong with the endpoints of the service's port, or nothing.
  Task<std::optional<Availability>> endpoints_problem(const Target& target, std::string port_name);

  Logger& logger_;
  std::shared_ptr<DynamicGroups> groups_;
  LoopbackClient* client_ = nullptr;
  mutable std::mutex mutex_;
  std::map<std::string, Remote> remotes_;
};

}  // namespace backplane
