#include "services/repair.hpp"

#include <algorithm>
#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/unreadable_object.hpp"
#include "services/allocation_metrics.hpp"

namespace backplane::core {

namespace {

// Upstream's constants: the interval of the passes, the number of passes until a leaked port is released, and the time within which a
// service may be created after its address.
constexpr std::chrono::minutes kInterval{3};
constexpr std::chrono::minutes kFirstPass{1};
constexpr std::chrono::milliseconds kPause{50};
constexpr int kPassesBeforeFreed = 3;
constexpr std::int64_t kGraceSeconds = 60, kWrittenFirstSeconds = 5;
constexpr const char* kAddressReporter = "ipallocator-repair-controller";
constexpr const char* kPortReporter = "portallocator-repair-controller";

std::int64_t now_unix() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::int64_t age_of_object(const Object& object) {
  const auto made = parse_rfc3339(meta_text(object, "creationTimestamp"));
  return made ? now_unix() - *made : kGraceSeconds;
}

const Object& parent_of(const Object& entry) { return object_or_empty(object_or_empty(entry, "spec"), "parentRef"); }

bool names_a_service(const Object& parent) { return get_string(parent, "group").empty() && get_string(parent, "resource") == "services"; }

std::string parent_key(const Object& parent) { return object_key(get_string(parent, "namespace"), get_string(parent, "name")); }

// Formats the reference like Go's %v.
std::string printed(const Object& parent) {
  std::string out = "&{" + std::string(get_string(parent, "group"));
  for (const char* member : {"resource", "namespace", "name"}) out += " " + std::string(get_string(parent, member));
  return out + "}";
}

std::string with_family(const std::string& address) { return "[" + std::string(family_of(address)) + "]: " + address; }

// One write of a repair. An entry that has changed since it was read is processed in the next pass.
class RepairWrite : public BegunWrite {
 public:
  Task<Result<bool>> join(RequestContext&, StoreTransaction& transaction) final {
    if (transaction.again()) co_return false;
    Status joined = add(transaction);
    if (!joined.ok()) co_return joined;
    co_return true;
  }

 private:
  virtual Status add(StoreTransaction& transaction) = 0;
};

class RepairAddress final : public RepairWrite {
 public:
  RepairAddress(const StandardStorage& store, std::string address, std::string ns, std::string name)
      : store_(store), address_(std::move(address)), ns_(std::move(ns)), name_(std::move(name)) {}

 private:
  Status add(StoreTransaction& transaction) override {
    return transaction.create(store_, "", address_, Addresses::object(address_, ns_, name_));
  }
  const StandardStorage& store_;
  std::string address_, ns_, name_;
};

class RepairPorts final : public RepairWrite {
 public:
  RepairPorts(const NodePorts& ports, const NodePorts::Stored& before, const PortMap& map) : ports_(ports), before_(before), map_(map) {}

 private:
  Status add(StoreTransaction& transaction) override { return ports_.join(transaction, before_, map_); }
  const NodePorts& ports_;
  const NodePorts::Stored& before_;
  const PortMap& map_;
};

}  // namespace

bool ServiceRepair::Holder::has(const std::string& address) const {
  return std::find(holdings.addresses.begin(), holdings.addresses.end(), address) != holdings.addresses.end();
}

Task<Result<bool>> ServiceRepair::write(BegunWrite& repair) {
  RequestContext own;
  co_return co_await resources_->addresses.store().transact(own, repair);
}

Task<Result<ServiceRepair::Holders>> ServiceRepair::read_services() {
  Holders out;
  RequestContext own;
  ListOptions all;
  auto listed = co_await services_->list(own, std::move(all));
  if (!listed.ok()) co_return std::move(listed).status();
  Status read = co_await for_each(*listed->items, [&out](const ObjectEntry& entry) {
    const Object service = decode(entry, json::storage_ptr());
    const Object& spec = object_or_empty(service, "spec");
    Holder holder{std::make_shared<const ObjectEntry>(entry), holdings_of(spec), get_string(spec, "type") == "ExternalName"};
    out.emplace(object_key(entry), std::move(holder));
  });
  if (!read.ok()) co_return read;
  co_return out;
}

Task<Result<ServiceRepair::Entries>> ServiceRepair::read_entries() {
  Entries out;
  RequestContext own;
  ListOptions all;
  auto listed = co_await resources_->addresses.store().list(own, std::move(all));
  if (!listed.ok()) co_return std::move(listed).status();
  Status read = co_await for_each(
      *listed->items, [&out](const ObjectEntry& entry) { out.emplace(entry.name(), std::make_shared<const ObjectEntry>(entry)); });
  if (!read.ok()) co_return read;
  co_return out;
}

namespace {

// Events are constructed outside of coroutines, because g++ 12 miscompiles aggregate initialization inside them.
struct EventSource {
  const char* group;
  const char* kind;
  const char* action;
  const char* reporter;
};
constexpr EventSource kOfAddress = {"networking.k8s.io", "IPAddress", "IPAddressAllocation", kAddressReporter};
constexpr EventSource kOfService = {"", "Service", "ClusterIPAllocation", kAddressReporter};
constexpr EventSource kOfPort = {"", "Service", "PortAllocation", kPortReporter};

RepairEvent event_of(const EventSource& source, ObjectRef about, std::string reason, std::string note) {
  RepairEvent event;
  event.kind = GroupVersionKind{source.group, "v1", source.kind};
  event.about = std::move(about);
  event.reporter = source.reporter;
  event.reason = std::move(reason);
  event.action = source.action;
  event.note = std::move(note);
  return event;
}

}  // namespace

Task<void> ServiceRepair::report_address(ObjectRef entry, std::string reason, std::string note) {
  count_repair_event(reason);
  RepairEvent event = event_of(kOfAddress, std::move(entry), std::move(reason), std::move(note));
  co_await events_->report(std::move(event));
}

Task<void> ServiceRepair::report_service(ObjectRef service, std::string reason, std::string note) {
  count_repair_event(reason);
  RepairEvent event = event_of(kOfService, std::move(service), std::move(reason), std::move(note));
  co_await events_->report(std::move(event));
}

// False: the entry has changed since it was read.
Task<Result<bool>> ServiceRepair::free_address(ObjectRef entry) {
  RequestContext own;
  DeleteOptions options;
  options.preconditions.resource_version = std::to_string(entry->revision);
  auto removed = co_await resources_->addresses.store().remove(own, std::string(entry->name()), std::move(options));
  if (removed.ok()) co_return removed->deleted;
  const bool moved = removed.status().reason() == Reason::kConflict || removed.status().reason() == Reason::kNotFound;
  if (!moved) co_return std::move(removed).status();
  co_return false;
}

// False: an entry exists already.
Task<Result<bool>> ServiceRepair::restore_address(std::string address, ObjectRef service) {
  RepairAddress repair(resources_->addresses.store(), std::move(address), std::string(service->ns()), std::string(service->name()));
  auto made = co_await write(repair);
  co_return made;
}

Task<Status> ServiceRepair::check_address(const Holder& holder, std::string address, ObjectRef entry, const Holders& holders) {
  const ObjectRef service = holder.service;
  std::string note = "Cluster IP " + with_family(address) + " is not allocated; repairing";
  if (entry != nullptr) {
    const Object object = decode(*entry, json::storage_ptr());
    const Object& parent = parent_of(object);
    const auto other = holders.find(parent_key(parent));
    const bool ours = Addresses::belongs_to(object, service->ns(), service->name());
    if (ours && Addresses::is_labelled(object)) co_return Status();
    if (!ours && names_a_service(parent) && other != holders.end()) {
      if (other->second.has(address)) {
        note = "Cluster IP [" + std::string(family_of(address)) + "]:" + address +
               " was assigned to multiple services; please recreate service";
        co_await report_service(service, "ClusterIPAlreadyAllocated", std::move(note));
        co_return Status();
      }
      if (Addresses::is_labelled(object)) co_return Status();  // check_entry() processes it
    }
    auto freed = co_await free_address(std::move(entry));
    if (!freed.ok()) co_return std::move(freed).status();
    if (!*freed) co_return Status();
    note = "the ClusterIP " + with_family(address) + " for Service " + object_key(*service) + " has a wrong reference; repairing";
  }
  auto restored = co_await restore_address(std::move(address), service);
  if (!restored.ok()) co_return std::move(restored).status();
  if (*restored) co_await report_service(service, "ClusterIPNotAllocated", std::move(note));
  co_return Status();
}

Task<Status> ServiceRepair::check_holder(const Holder& holder, const Holders& holders, const Entries& entries) {
  const auto ranges = resources_->addresses.ranges().now();
  for (const std::string& address : holder.holdings.addresses) {
    if (!any_holds(ranges->all, address)) {
      std::string note = "Cluster IP " + with_family(address) + " is not within any configured Service CIDR; please recreate service";
      co_await report_service(holder.service, "ClusterIPOutOfRange", std::move(note));
      continue;
    }
    const auto found = entries.find(address);
    ObjectRef entry;
    if (found != entries.end()) entry = found->second;
    Status checked = co_await check_address(holder, address, std::move(entry), holders);
    if (!checked.ok()) co_return checked;
  }
  co_return Status();
}

// Releases an entry that the server has created and that does not belong to a service any more.
Task<Status> ServiceRepair::check_entry(ObjectRef entry, const Holders& holders) {
  const Object object = decode(*entry, json::storage_ptr());
  if (!Addresses::is_ours(object)) co_return Status();
  const Object& parent = parent_of(object);
  const auto holder = holders.find(parent_key(parent));
  const bool young = age_of_object(object) < kGraceSeconds;
  const std::string whose = "IPAddress: " + std::string(entry->name()) + " for Service " + parent_key(parent);
  std::string reason = "IPAddressNotAllocated", note;
  if (!names_a_service(parent)) {
    note = "IPAddress " + std::string(entry->name()) + " appears to have been modified, not referencing a Service " + printed(parent) +
           ": cleaning up";
  } else if (holder == holders.end()) {
    // A client may create the address before the service.
    if (young) co_return Status();
    note = whose + " appears to have leaked: cleaning up";
  } else {
    const bool coming = young && (holder->second.external || age_of_object(object) < kWrittenFirstSeconds);
    if (holder->second.has(std::string(entry->name())) || coming) co_return Status();
    reason = "IPAddressWrongReference";
    note = whose + " has a wrong reference; cleaning up";
  }
  auto freed = co_await free_address(entry);
  if (!freed.ok()) co_return std::move(freed).status();
  if (*freed) co_await report_address(std::move(entry), std::move(reason), std::move(note));
  co_return Status();
}

Task<Status> ServiceRepair::repair_addresses() {
  // The entries are read first, so that the later list of services has every service with an entry of this list.
  auto entries = co_await read_entries();
  if (!entries.ok()) co_return std::move(entries).status();
  std::vector<std::string> used;
  for (const auto& [address, entry] : *entries) used.push_back(address);
  resources_->addresses.note_all_used(used);
  auto holders = co_await read_services();
  if (!holders.ok()) co_return std::move(holders).status();
  for (const auto& [key, holder] : *holders) {
    Status checked = co_await check_holder(holder, *holders, *entries);
    if (!checked.ok()) co_return checked;
  }
  for (const auto& [address, entry] : *entries) {
    Status checked = co_await check_entry(entry, *holders);
    if (!checked.ok()) co_return checked;
  }
  co_return Status();
}

Task<void> ServiceRepair::report_port(ObjectRef service, std::string reason, std::string note) {
  count_repair_event(reason);
  RepairEvent event = event_of(kOfPort, std::move(service), std::move(reason), std::move(note));
  co_await events_->report(std::move(event));
}

// Marks the ports of services in `map`, and reports ports that are out of range, repeated or not allocated.
Task<void> ServiceRepair::check_ports(const Holders& holders, PortMap& map, bool& changed) {
  const PortRange& range = resources_->ports.range();
  std::set<std::int64_t> seen;
  for (const auto& [key, holder] : holders) {
    for (std::int64_t port : holder.holdings.ports) {
      const std::string which = "Port " + std::to_string(port);
      if (!range.holds(port)) {
        std::string note = which + " is not within the port range " + range.text() + "; please recreate service";
        co_await report_port(holder.service, "PortOutOfRange", std::move(note));
      } else if (!seen.insert(port).second) {
        std::string note = which + " was assigned to multiple services; please recreate service";
        co_await report_port(holder.service, "PortAlreadyAllocated", std::move(note));
      } else if (!map.taken(port)) {
        map.set(port);
        changed = true;
        std::string note = which + " is not allocated; repairing";
        co_await report_port(holder.service, "PortNotAllocated", std::move(note));
      }
    }
  }
}

Task<Status> ServiceRepair::repair_ports() {
  auto stored = co_await resources_->ports.read(true);
  if (!stored.ok()) co_return std::move(stored).status();
  auto holders = co_await read_services();
  if (!holders.ok()) co_return std::move(holders).status();
  std::set<std::int64_t> held;
  for (const auto& [key, holder] : *holders) held.insert(holder.holdings.ports.begin(), holder.holdings.ports.end());
  PortMap map = stored->map;
  bool changed = stored->entry == nullptr;
  co_await check_ports(*holders, map, changed);
  std::map<std::int64_t, int> leaks;
  for (std::int64_t port : stored->map.all()) {
    if (held.contains(port)) continue;
    const int seen = leaks_[port] + 1;
    if (seen < kPassesBeforeFreed) leaks[port] = seen;
    if (seen < kPassesBeforeFreed) continue;
    map.set(port, false);
    changed = true;
    count_leaked_port();
    logger_.warn("freed a node port without a service port=" + std::to_string(port));
  }
  leaks_ = std::move(leaks);
  show_ports(resources_->ports.range(), map);
  if (!changed) co_return Status();
  RepairPorts repair(resources_->ports, *stored, map);
  auto written = co_await write(repair);
  co_return written.ok() ? Status() : std::move(written).status();
}

Task<Status> ServiceRepair::run_once() {
  Status addresses = co_await repair_addresses();
  Status ports = co_await repair_ports();
  if (!addresses.ok()) count_failed_address_repair();
  if (!ports.ok()) count_failed_port_repair();
  co_return addresses.ok() ? std::move(ports) : std::move(addresses);
}

Task<Status> ServiceRepair::start(Signal& stop) {
  Sleeper sleeper(stop);
  const auto end = std::chrono::steady_clock::now() + kFirstPass;
  for (;;) {
    Status status = co_await run_once();
    if (status.ok() || is_unreadable(status) || std::chrono::steady_clock::now() > end) co_return status;
    const bool running = co_await sleeper.sleep(kPause);
    if (!running) co_return status;
  }
}

Task<void> ServiceRepair::run(Signal& stop) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kInterval)) {
    Status status = co_await run_once();
    if (!status.ok() && !stop.fired()) logger_.error("repairing service addresses and node ports failed: " + status.message());
  }
}

}  // namespace backplane::core
