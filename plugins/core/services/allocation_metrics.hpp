// The metrics kube_apiserver_clusterip_allocator_…, kube_apiserver_nodeport_allocator_…, apiserver_clusterip_repair_… and
// apiserver_nodeport_repair_…
//
// Each repair pass counts the addresses in use of a range. Between passes this server adds its own allocations and subtracts its own
// releases.
// Thread-safety: any thread.
// Lifetime:      UsedAddresses: that of the allocator.
// Errors:        none.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "services/node_ports.hpp"
#include "services/ranges.hpp"

namespace backplane::core {

// "10.0.0.0/24", with the network's own address.
std::string cidr_of(const AddressRange& range);

// The label `scope`: static if the client requested the address or the port, otherwise dynamic.
inline constexpr std::string_view kStaticScope = "static", kDynamicScope = "dynamic";

void count_address(const std::string& cidr, std::string_view scope);
void count_address_error(const std::string& cidr, std::string_view scope);
void count_address_duration(const std::string& cidr, std::chrono::nanoseconds took);

class UsedAddresses {
 public:
  // Sets the number of addresses in use of `range`, from a repair pass.
  void set(const AddressRange& range, std::int64_t used);
  // Adds `change` to the number; has no effect for a range for which set() was not called.
  void add(const AddressRange& range, std::int64_t change);

 private:
  static void show(const AddressRange& range, std::int64_t used);
  std::mutex mutex_;
  std::map<std::string, std::int64_t> used_;  // by CIDR
};

void count_port(std::string_view scope);
void count_port_error(std::string_view scope);
void show_ports(const PortRange& range, const PortMap& map);

// Counts an error that the repair has found, by its event's reason ("ClusterIPNotAllocated"); other reasons are not counted.
void count_repair_event(std::string_view reason);
void count_leaked_port();
void count_failed_address_repair();
void count_failed_port_repair();

}  // namespace backplane::core
