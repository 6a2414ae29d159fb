// Keeps what is allocated and what services hold in step (upstream: start-service-ip-repair-controllers): writes entries that are missing,
// frees what belongs to nobody. A pass reads the entries before the services, and frees only what is still as it read it: whatever has been
// given away meanwhile stays.
//
// Thread-safety: one pass at a time.
// Lifetime:      keeps the storages.
// Errors:        a pass that cannot read or write says so and is tried again at the next.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "backplane/host.hpp"
#include "services/allocation.hpp"

namespace backplane::core {

class ServiceRepair {
 public:
  ServiceRepair(std::shared_ptr<StandardStorage> services, std::shared_ptr<StandardStorage> addresses,
                std::shared_ptr<const ServiceResources> resources, Logger& logger)
      : services_(std::move(services)), addresses_(std::move(addresses)), resources_(std::move(resources)), logger_(logger) {}

  // One pass over addresses and ports.
  Task<Status> run_once();
  // The first pass, as soon as the caches have been loaded; gives up after a minute.
  Task<Status> start(Signal& stop);
  // A pass now and then until the server stops.
  Task<void> run(Signal& stop);

 private:
  struct Held {
    std::map<std::string, std::pair<std::string, std::string>> addresses;  // address → namespace and name
    std::set<std::int64_t> ports;
  };
  Task<Result<bool>> write(BegunWrite& mend);
  Task<Result<Held>> read_services();
  Task<Status> repair_addresses();
  Task<Status> free_address(ObjectRef entry);
  Task<Status> restore_address(std::string address, std::string ns, std::string name);
  Task<Status> repair_ports();

  std::shared_ptr<StandardStorage> services_;
  std::shared_ptr<StandardStorage> addresses_;
  std::shared_ptr<const ServiceResources> resources_;
  Logger& logger_;
  std::map<std::int64_t, int> leaks_;  // ports that nobody holds, and the passes that have seen them so
};

}  // namespace backplane::core
