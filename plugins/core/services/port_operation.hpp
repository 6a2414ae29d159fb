// The node ports of one attempt of a write: its allocations, and the errors for ports that cannot be allocated.
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
  // A dry run only reports whether a requested port is allocated already, in range or not, and uses placeholders for ports that were not
  // requested.
  PortOperation(const PortRange& range, const PortMap& map, bool trial) : range_(range), map_(map), trial_(trial) {}

  // Allocates a node port for every port of the service that needs one, and for its health check. `before`: the stored spec; null on
  // create.
  Status allocate(Object& service, const Object* before);
  const std::vector<std::int64_t>& taken() const noexcept { return taken_; }

 private:
  std::string take(std::int64_t port);  // the reason for a failure; empty: it is allocated
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
