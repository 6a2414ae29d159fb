// The ServiceCIDR `kubernetes`: the ranges that --service-cluster-ip-range names, as an object that allocators of addresses read (upstream:
// the hook start-kubernetes-service-cidr-controller).  It is created if it is missing, gets a second family if the flags name one now,
// and is otherwise unchanged.
//
// Thread-safety: one executor.
// Lifetime:      the hook owns it; the host destroys the hook after the task that it starts has ended.
// Errors:        failed writes are logged and retried in the next pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::networking {

// The action of a pass, by the state of the object.
enum class CidrStep : unsigned char {
  kNothing,
  kJoinFamily,        // the object has only the first range, the flag has two
  kSetReady,          // the condition Ready is absent
  kMismatch,          // other ranges than the flags name
  kNotReadyByClient,  // a client has set Ready to False
};
CidrStep next_step(const Object& service_cidr, const std::vector<std::string>& ranges);

// Parses the flag, and returns its ranges in the format of the object: as canonical networks.
std::vector<std::string> canonical_ranges(std::string_view flag);

class DefaultServiceCidr {
 public:
  DefaultServiceCidr(Host& host, std::vector<std::string> ranges) : host_(host), ranges_(std::move(ranges)) {}

  // Returns when the object exists; a task maintains it from then on.
  Task<Status> start(PostStartHookContext context);

 private:
  Task<void> run(Signal& stop);
  Task<Status> sync();
  Task<Status> make();
  Task<Status> set_ready(Object object);
  Task<Status> join_family(Object object);
  Task<void> warn(Object object, std::string reason, std::string note);

  Host& host_;
  const std::vector<std::string> ranges_;
  std::optional<ApiClient> client_;  // set by start()
  bool reported_mismatch_ = false;
  bool reported_not_ready_ = false;
};

}  // namespace backplane::networking
