#include "services/allocation.hpp"

#include <algorithm>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "services/allocation_metrics.hpp"
#include "services/families.hpp"
#include "services/port_operation.hpp"
#include "services/spec.hpp"

namespace backplane::core {

namespace {

template <class T, class U>
bool holds(const std::vector<T>& list, const U& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

template <class T>
std::vector<T> without(const std::vector<T>& list, const std::vector<T>& kept) {
  std::vector<T> out;
  std::copy_if(list.begin(), list.end(), std::back_inserter(out), [&](const T& item) { return !holds(kept, item); });
  return out;
}

// The error for a service without a name. Upstream stores an IPAddress, which must name the service, before it validates the service.
std::string without_a_name(const std::string& address) {
  return "IPAddress.networking.k8s.io " + quoted(address) + " is invalid: spec.parentRef.name: Required value";
}

// Formats spec.clusterIPs for an error during the allocation: one item for each family, which is empty until the family has an address.
std::string shown_addresses(const Object& spec) {
  auto ips = cluster_ips(spec);
  ips.resize(std::max(ips.size(), texts_of(spec, "ipFamilies").size()));
  Array out;
  for (const auto& ip : ips) out.emplace_back(ip);
  return to_json(out);
}

Status blamed(const FieldErrors& errors, const Object& service) { return errors.to_status("", "Service", meta_name(service)); }

// The addresses and ports that one attempt of a write allocates (`taken`) and releases (`given`).
class ServiceWrite final : public BegunWrite {
 public:
  ServiceWrite(std::shared_ptr<const ServiceResources> resources, const Object& service)
      : resources_(std::move(resources)), ns_(meta_namespace(service)), name_(meta_name(service)) {}

  Task<Result<bool>> join(RequestContext&, StoreTransaction& transaction) override {
    for (const std::string& address : taken.addresses) {
      auto joined = co_await join_taken(transaction, address);
      if (!joined.ok() || !*joined) co_return joined;
    }
    for (const std::string& address : given.addresses) {
      Status joined = co_await join_given(transaction, address);
      if (!joined.ok()) co_return joined;
    }
    if (taken.ports.empty() && given.ports.empty()) co_return true;
    co_return co_await join_ports(transaction);
  }

  Task<void> finish(bool kept) override {
    resources_->addresses.release(kept ? given.addresses : taken.addresses);
    if (kept) resources_->addresses.note_used(taken.addresses, given.addresses);
    co_return;
  }

  Holdings taken;
  Holdings given;

 private:
  Task<Result<bool>> join_taken(StoreTransaction& transaction, std::string address) {
    // The transaction checks that the address is free, so its object is read only after the first attempt has failed.
    if (transaction.again()) {
      auto found = co_await resources_->addresses.find(address, true);
      if (!found.ok()) co_return std::move(found).status();
      if (*found != nullptr) co_return false;
    }
    Object object = Addresses::object(address, ns_, name_);
    Status joined = transaction.create(resources_->addresses.store(), "", std::move(address), std::move(object));
    if (!joined.ok()) co_return joined;
    co_return true;
  }

  // Does not release an address that another service has taken meanwhile.
  Task<Status> join_given(StoreTransaction& transaction, std::string address) {
    auto found = co_await resources_->addresses.find(std::move(address), true);
    if (!found.ok()) co_return std::move(found).status();
    if (*found == nullptr) co_return Status();
    const Object object = decode(**found, json::storage_ptr());
    if (!Addresses::belongs_to(object, ns_, name_)) co_return Status();
    // An object that has finalizers is not removed here; the repair removes it later.
    if (get_array(object_or_empty(object, "metadata"), "finalizers") != nullptr) co_return Status();
    co_return transaction.remove(resources_->addresses.store(), *found);
  }

  Task<Result<bool>> join_ports(StoreTransaction& transaction) {
    if (!turn_) turn_ = co_await resources_->ports.turn();
    auto stored = co_await resources_->ports.read(true);
    if (!stored.ok()) co_return std::move(stored).status();
    PortMap map = stored->map;
    for (std::int64_t port : taken.ports) {
      if (map.taken(port)) co_return false;
      map.set(port);
    }
    for (std::int64_t port : given.ports) map.set(port, false);
    Status joined = resources_->ports.join(transaction, *stored, map);
    if (!joined.ok()) co_return joined;
    show_ports(resources_->ports.range(), map);
    co_return true;
  }

  std::shared_ptr<const ServiceResources> resources_;
  std::string ns_;
  std::string name_;
  std::optional<Turns::Turn> turn_;  // held from the first join of ports to the end of the write
};

class ServiceHooks final : public StoreHooks {
 public:
  explicit ServiceHooks(std::shared_ptr<const ServiceResources> resources) : resources_(std::move(resources)) {}

  Task<Result<Begun>> begin_create(RequestContext&, Object& service, bool dry_run) const override {
    Object& spec = ensure_object(service, "spec");
    normalize_cluster_ips(spec, nullptr);
    auto write = std::make_unique<ServiceWrite>(resources_, service);
    FieldErrors errors;
    init_families(spec, nullptr, resources_->addresses, errors);
    if (!errors.empty()) co_return blamed(errors, service);
    Status allocated = co_await take_all_addresses(service, dry_run, write->taken);
    if (!allocated.ok()) co_return allocated;
    allocated = co_await take_ports(service, nullptr, dry_run, *write);
    if (!allocated.ok()) co_return allocated;
    co_return Begun(std::move(write));
  }

  Task<Result<Begun>> begin_update(RequestContext&, Object& service, const Object& old, bool dry_run) const override {
    Object& spec = ensure_object(service, "spec");
    const Object& before = object_or_empty(old, "spec");
    keep_allocated(spec, before);
    normalize_cluster_ips(spec, &before);
    auto write = std::make_unique<ServiceWrite>(resources_, old);
    FieldErrors errors;
    init_families(spec, &before, resources_->addresses, errors);
    if (!errors.empty()) co_return blamed(errors, service);
    Status allocated = co_await change_addresses(service, before, dry_run, *write);
    if (!allocated.ok()) co_return allocated;
    allocated = co_await take_ports(service, &before, dry_run, *write);
    if (!allocated.ok()) co_return allocated;
    co_return Begun(std::move(write));
  }

  Task<Result<Begun>> begin_delete(RequestContext&, const Object& old) const override {
    auto write = std::make_unique<ServiceWrite>(resources_, old);
    write->given = holdings_of(object_or_empty(old, "spec"));
    if (write->given.addresses.empty() && write->given.ports.empty()) co_return Begun();
    co_return Begun(std::move(write));
  }

 private:
  // Allocates one address for each family; addresses that the client requests must be free.
  Task<Status> take_all_addresses(Object& service, bool dry_run, Holdings& taken) const {
    Object& spec = ensure_object(service, "spec");
    const auto ips = cluster_ips(spec);
    if (get_string(spec, "type") == "ExternalName" || (!ips.empty() && ips[0] == kHeadless)) co_return Status();
    const auto families = texts_of(spec, "ipFamilies");
    for (std::size_t i = 0; i < families.size(); ++i) {
      Status status = co_await take_address(service, i, families[i], dry_run, taken);
      if (!status.ok()) co_return status;
    }
    co_return Status();
  }

  // Allocates address number `i` of the service.
  Task<Status> take_address(Object& service, std::size_t i, std::string family, bool dry_run, Holdings& taken) const {
    Object& spec = ensure_object(service, "spec");
    if (!resources_->addresses.has_family(family)) co_return internal_error("no service addresses of family " + family + " are configured");
    auto ips = cluster_ips(spec);
    const bool nameless = !dry_run && meta_name(service).empty();
    if (i < ips.size() && !ips[i].empty()) {
      std::string address = canonical_address(ips[i]).value_or(ips[i]);
      Result<std::string> why = why_not_in_range(address);
      if (!dry_run) why = co_await allocation_problem(address);
      if (!why.ok()) co_return std::move(why).status();
      if (why->empty() && nameless) *why = without_a_name(address);
      if (!dry_run) resources_->addresses.count(address, kStaticScope, why->empty());
      if (why->empty()) {
        taken.addresses.push_back(std::move(address));
        co_return Status();
      }
      co_return refused(service, "failed to allocate IP " + ips[i] + ": " + *why);
    }
    const auto start = std::chrono::steady_clock::now();
    auto picked = co_await resources_->addresses.pick(family);
    if (!picked.ok()) co_return std::move(picked).status();
    if (!dry_run) resources_->addresses.count_picked(family, *picked, std::chrono::steady_clock::now() - start);
    if (picked->empty())
      co_return internal_error("failed to allocate a serviceIP for Service " + quoted(meta_name(service)) + ": range is full");
    if (nameless) {
      resources_->addresses.release({*picked});
      co_return refused(service, "failed to allocate IP: " + without_a_name(*picked));
    }
    if (i == 0) spec["clusterIP"] = *picked;
    add_text(spec, "clusterIPs", *picked);
    taken.addresses.push_back(std::move(*picked));
    co_return Status();
  }

  static Status refused(const Object& service, const std::string& why) {
    FieldErrors errors;
    errors.invalid_raw("spec.clusterIPs", shown_addresses(object_or_empty(service, "spec")), why);
    return blamed(errors, service);
  }

  // For a dry run upstream checks only the first range of the family, and only whether it contains the address.
  std::string why_not_in_range(const std::string& address) const {
    const auto now = resources_->addresses.ranges().now();
    for (const AddressRange& range : now->ready) {
      if (range.family() != family_of(address)) continue;
      if (range.holds(address)) return {};
      return "the provided IP (" + address + ") is not in the valid range. The range of valid IPs is " + cidr_of(range);
    }
    return "the provided network does not match the current range";
  }

  // Returns the reason why the address cannot be allocated; empty: it can.
  Task<Result<std::string>> allocation_problem(std::string address) const {
    const auto now = resources_->addresses.ranges().now();
    if (!any_holds(now->ready, address)) co_return std::string("the provided network does not match the current range");
    auto found = co_await resources_->addresses.find(std::move(address), true);
    if (!found.ok()) co_return std::move(found).status();
    co_return std::string(*found == nullptr ? "" : "provided IP is already allocated");
  }

  Task<Status> change_addresses(Object& service, const Object& before, bool dry_run, ServiceWrite& write) const {
    const Object& spec = object_or_empty(service, "spec");
    const bool was_external = get_string(before, "type") == "ExternalName", is_external = get_string(spec, "type") == "ExternalName";
    if (families_unchanged(spec, &before)) co_return Status();
    if (was_external && !is_external) co_return co_await take_all_addresses(service, dry_run, write.taken);
    if (is_headless(before)) co_return Status();
    if (is_external && !was_external) {
      write.given.addresses = holdings_of(before).addresses;
      co_return Status();
    }
    const auto families = texts_of(spec, "ipFamilies"), old_families = texts_of(before, "ipFamilies");
    if (old_families.size() == 1 && families.size() == 2) co_return co_await take_address(service, 1, families[1], dry_run, write.taken);
    if (old_families.size() == 2 && families.size() == 1) {
      const auto held = holdings_of(before).addresses;
      if (held.size() > 1) write.given.addresses = {held[1]};
    }
    co_return Status();
  }

  Task<Status> take_ports(Object& service, const Object* before, bool dry_run, ServiceWrite& write) const {
    const Object& spec = object_or_empty(service, "spec");
    const std::vector<std::int64_t> held = before ? holdings_of(*before).ports : std::vector<std::int64_t>();
    if (held.empty() && !may_have_node_ports(spec)) co_return Status();
    auto stored = co_await resources_->ports.read(true);
    if (!stored.ok()) co_return std::move(stored).status();
    PortOperation operation(resources_->ports.range(), stored->map, dry_run);
    Status status = operation.allocate(service, before);
    if (!status.ok()) co_return status;
    write.taken.ports = operation.taken();
    if (before != nullptr) write.given.ports = without(held, node_ports_of(object_or_empty(service, "spec")));
    co_return Status();
  }

  std::shared_ptr<const ServiceResources> resources_;
};

}  // namespace

Holdings holdings_of(const Object& spec) {
  Holdings out;
  if (needs_cluster_ip(spec) && !is_headless(spec)) {
    for (const std::string& ip : cluster_ips(spec)) out.addresses.push_back(canonical_address(ip).value_or(ip));
  }
  out.ports = node_ports_of(spec);
  return out;
}

std::shared_ptr<const StoreHooks> service_hooks(std::shared_ptr<const ServiceResources> resources) {
  return std::make_shared<ServiceHooks>(std::move(resources));
}

}  // namespace backplane::core
