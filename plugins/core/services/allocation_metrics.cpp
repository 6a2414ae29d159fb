#include "services/allocation_metrics.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane::core {
namespace {

const std::string kAddressAllocator = "kube_apiserver_clusterip_allocator_", kPortAllocator = "kube_apiserver_nodeport_allocator_";
const std::vector<double> kDefaultBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

struct AllocatorMetrics {
  Metric& used =
      Metric::gauge(kAddressAllocator + "allocated_ips", "[ALPHA] Gauge measuring the number of allocated IPs for Services", {"cidr"});
  Metric& free =
      Metric::gauge(kAddressAllocator + "available_ips", "[ALPHA] Gauge measuring the number of available IPs for Services", {"cidr"});
  Metric& total = Metric::counter(kAddressAllocator + "allocation_total", "[ALPHA] Number of Cluster IPs allocations", {"cidr", "scope"});
  Metric& errors = Metric::counter(kAddressAllocator + "allocation_errors_total", "[ALPHA] Number of errors trying to allocate Cluster IPs",
                                   {"cidr", "scope"});
  Metric& durations = Metric::histogram(kAddressAllocator + "allocation_duration_seconds",
                                        "[ALPHA] Duration in seconds to allocate a Cluster IP by ServiceCIDR", {"cidr"}, kDefaultBounds);
  Metric& used_ports =
      Metric::gauge(kPortAllocator + "allocated_ports", "[ALPHA] Gauge measuring the number of allocated NodePorts for Services", {});
  Metric& free_ports =
      Metric::gauge(kPortAllocator + "available_ports", "[ALPHA] Gauge measuring the number of available NodePorts for Services", {});
  Metric& port_total = Metric::counter(kPortAllocator + "allocation_total", "[ALPHA] Number of NodePort allocations", {"scope"});
  Metric& port_errors =
      Metric::counter(kPortAllocator + "allocation_errors_total", "[ALPHA] Number of errors trying to allocate NodePort", {"scope"});
};
AllocatorMetrics& allocator_metrics() {
  static AllocatorMetrics all;
  return all;
}

struct RepairMetrics {
  Metric& addresses =
      Metric::counter("apiserver_clusterip_repair_ip_errors_total",
                      "[ALPHA] Number of errors detected on clusterips by the repair loop broken down by type of error: leak, "
                      "repair, full, outOfRange, duplicate, unknown, invalid",
                      {"type"});
  Metric& address_passes = Metric::counter("apiserver_clusterip_repair_reconcile_errors_total",
                                           "[ALPHA] Number of reconciliation failures on the clusterip repair reconcile loop", {});
  Metric& ports =
      Metric::counter("apiserver_nodeport_repair_port_errors_total",
                      "[ALPHA] Number of errors detected on ports by the repair loop broken down by type of error: leak, repair, "
                      "full, outOfRange, duplicate, unknown",
                      {"type"});
  Metric& port_passes = Metric::counter("apiserver_nodeport_repair_reconcile_errors_total",
                                        "[ALPHA] Number of reconciliation failures on the nodeport repair reconcile loop", {});
};
RepairMetrics& repair_metrics() {
  static RepairMetrics all;
  return all;
}

struct RepairReason {
  std::string_view reason, type;
  bool port;
};
constexpr RepairReason kRepairReasons[] = {
    {"ClusterIPNotAllocated", "repair", false},    {"ClusterIPAlreadyAllocated", "duplicate", false},
    {"ClusterIPOutOfRange", "outOfRange", false},  {"IPAddressNotAllocated", "leak", false},
    {"IPAddressWrongReference", "invalid", false}, {"PortNotAllocated", "repair", true},
    {"PortAlreadyAllocated", "duplicate", true},   {"PortOutOfRange", "outOfRange", true},
};

}  // namespace

std::string cidr_of(const AddressRange& range) {
  constexpr int kMostBits = 128;
  for (int bits = 0; bits <= kMostBits; ++bits) {
    std::string text = range.address(0) + "/" + std::to_string(bits);
    const auto parsed = AddressRange::parse(text);
    if (parsed.ok() && *parsed == range) return text;
  }
  return range.address(0);
}

void count_address(const std::string& cidr, std::string_view scope) { allocator_metrics().total.add({cidr, scope}); }
void count_address_error(const std::string& cidr, std::string_view scope) { allocator_metrics().errors.add({cidr, scope}); }
void count_address_duration(const std::string& cidr, std::chrono::nanoseconds took) {
  allocator_metrics().durations.observe({cidr}, std::chrono::duration<double>(took).count());
}

void UsedAddresses::show(const AddressRange& range, std::int64_t used) {
  const std::string cidr = cidr_of(range);
  allocator_metrics().used.set({cidr}, static_cast<double>(used));
  allocator_metrics().free.set({cidr}, static_cast<double>(range.size()) - static_cast<double>(used));
}

void UsedAddresses::set(const AddressRange& range, std::int64_t used) {
  const std::lock_guard lock(mutex_);
  used_[cidr_of(range)] = used;
  show(range, used);
}

void UsedAddresses::add(const AddressRange& range, std::int64_t change) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(cidr_of(range));
  if (found == used_.end()) return;
  found->second += change;
  show(range, found->second);
}

void count_port(std::string_view scope) { allocator_metrics().port_total.add({scope}); }
void count_port_error(std::string_view scope) { allocator_metrics().port_errors.add({scope}); }
void show_ports(const PortRange& range, const PortMap& map) {
  const auto used = static_cast<double>(map.count(range));
  allocator_metrics().used_ports.set({}, used);
  allocator_metrics().free_ports.set({}, range.last - range.first + 1 - used);
}

void count_repair_event(std::string_view reason) {
  for (const RepairReason& row : kRepairReasons) {
    if (row.reason == reason) (row.port ? repair_metrics().ports : repair_metrics().addresses).add({row.type});
  }
}
void count_leaked_port() { repair_metrics().ports.add({"leak"}); }
void count_failed_address_repair() { repair_metrics().address_passes.add({}); }
void count_failed_port_repair() { repair_metrics().port_passes.add({}); }

}  // namespace backplane::core
