// Allocates the node ports of a service for one attempt of a write.
//
// Thread-safety: belongs to one attempt of a write.
// Errors:        422 for a port that is out of range or taken, 500 for a full range, with upstream's messages.
#pragma once

#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "services/node_ports.hpp"

namespace backplane::core {

class PortOperation {
 public:
  // `trial`: a dry run. It reports only whether a requested port is allocated already, even if the port is out of range, and uses
  // placeholders for ports that were not requested.
  PortOperation(const PortRange& range, const PortMap& map, bool trial) : range_(range), map_(map), trial_(trial) {}

  // Allocates a node port for every port of the service that needs one, and for its health check. `before`: the stored spec; null on
  // create.
  Status allocate(Object& service, const Object* before);
  const std::vector<std::int64_t>& taken() const noexcept { return taken_; }

 private:
  std::string take(std::int64_t port);  // returns the reason for a failure; empty: the port was allocated
  std::int64_t take_any();              // returns 0 if the range is full
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
