// Makes the allocations consistent with the services (upstream: start-service-ip-repair-controllers): creates missing entries (IPAddresses
// and bits of the node port map), releases entries without a service, and reports both in events. A pass reads the entries before the
// services, and releases an entry only if it has not changed since, so entries that are allocated meanwhile are retained.
//
// Thread-safety: one pass at a time.
// Lifetime:      shares the storages.
// Errors:        a pass that cannot read or write is logged; the next pass tries again.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "backplane/host.hpp"
#include "services/allocation.hpp"
#include "services/repair_events.hpp"

namespace backplane::core {

class ServiceRepair {
 public:
  ServiceRepair(std::shared_ptr<StandardStorage> services, std::shared_ptr<const ServiceResources> resources,
                std::unique_ptr<RepairEvents> events, Logger& logger)
      : services_(std::move(services)), resources_(std::move(resources)), events_(std::move(events)), logger_(logger) {}

  // One pass over addresses and ports.
  Task<Status> run_once();
  // Runs the first pass as soon as the caches have been loaded; gives up after a minute.
  Task<Status> start(Signal& stop);
  // Runs passes periodically until the server stops.
  Task<void> run(Signal& stop);

 private:
  // A service, and its addresses and ports.
  struct Holder {
    ObjectRef service;
    Holdings holdings;
    bool external = false;
    bool has(const std::string& address) const;
  };
  using Holders = std::map<std::string, Holder>;     // by "namespace/name"
  using Entries = std::map<std::string, ObjectRef>;  // by address
  Task<Result<bool>> write(BegunWrite& mend);
  Task<Result<Holders>> read_services();
  Task<Result<Entries>> read_entries();
  Task<Status> repair_addresses();
  Task<Status> check_holder(const Holder& holder, const Holders& holders, const Entries& entries);
  Task<Status> check_address(const Holder& holder, std::string address, ObjectRef entry, const Holders& holders);
  Task<Status> check_entry(ObjectRef entry, const Holders& holders);
  Task<Result<bool>> free_address(ObjectRef entry);
  Task<Result<bool>> restore_address(std::string address, ObjectRef service);
  Task<void> report_address(ObjectRef entry, std::string reason, std::string note);
  Task<void> report_service(ObjectRef service, std::string reason, std::string note);
  Task<Status> repair_ports();
  Task<void> check_ports(const Holders& holders, PortMap& map, bool& changed);
  Task<void> report_port(ObjectRef service, std::string reason, std::string note);

  std::shared_ptr<StandardStorage> services_;
  std::shared_ptr<const ServiceResources> resources_;
  std::unique_ptr<RepairEvents> events_;
  Logger& logger_;
  std::map<std::int64_t, int> leaks_;  // ports without a service, and the number of passes that have found them
};

}  // namespace backplane::core
