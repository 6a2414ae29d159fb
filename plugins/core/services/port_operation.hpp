// The node ports of one attempt of a write: which it takes, and the errors for those it cannot have.
//
// Thread-safety: one try.
// Errors:        422 for a port that is out of range or taken, 500 for a full range, with upstream's messages.
#pragma once

#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "services/node_ports.hpp"

namespace backplane::core {

class PortOperation {
 public:
  // A dry run reports only whether a port is taken already, in or out of range, and invents those that were not requested.
  PortOperation(const PortRange& range, const PortMap& map, bool trial) : range_(range), map_(map), trial_(trial) {}

  // Gives every port of the service that needs one a node port, and its health check too.  `before` is the stored spec, null on create.
  Status allocate(Object& service, const Object* before);
  const std::vector<std::int64_t>& taken() const noexcept { return taken_; }

 private:
  std::string take(std::int64_t port);  // why not; empty: it is taken now
  std::int64_t take_any();              // 0: the range is full
  Status create_ports(Object& service);
  Status update_ports(Object& service, const Object& before);
  Status take_named(const Object& service, std::size_t index, std::int64_t port);
  Status allocate_health_port(Object& spec, const Object* before);

  PortRange range_;
  const PortMap& map_;
  bool trial_;
  std::vector<std::int64_t> taken_;
};

}  // namespace backplane::core
