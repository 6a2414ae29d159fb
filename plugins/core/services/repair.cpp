#include "services/repair.hpp"

#include <chrono>

#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"

namespace backplane::core {

using namespace kit;

namespace {

// Upstream's: the controllers' interval, the passes that a leaked port is watched for, the time in which a service may follow its address.
constexpr std::chrono::minutes kInterval{3};
constexpr std::chrono::minutes kFirstPass{1};
constexpr std::chrono::milliseconds kPause{50};
constexpr int kPassesBeforeFreed = 3;
constexpr std::int64_t kGraceSeconds = 60;

std::int64_t now_unix() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_ours(const Object& address) {
  return get_string(object_or_empty(object_or_empty(address, "metadata"), "labels"), "ipaddress.kubernetes.io/managed-by") ==
         "ipallocator.k8s.io";
}

// Somebody may have written the address first and be about to write the service.
bool is_young(const Object& address) {
  const auto made = parse_rfc3339(meta_text(address, "creationTimestamp"));
  return made && now_unix() - *made < kGraceSeconds;
}

// One write of a repair.  What has changed since it was read is left to the next pass.
class Mend : public BegunWrite {
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

class MendAddress final : public Mend {
 public:
  MendAddress(const StandardStorage& store, std::string address, std::string ns, std::string name)
      : store_(store), address_(std::move(address)), ns_(std::move(ns)), name_(std::move(name)) {}

 private:
  Status add(StoreTransaction& transaction) override {
    return transaction.create(store_, "", address_, Addresses::object(address_, ns_, name_));
  }
  const StandardStorage& store_;
  std::string address_, ns_, name_;
};

class MendPorts final : public Mend {
 public:
  MendPorts(const NodePorts& ports, const NodePorts::Stored& before, const PortMap& map) : ports_(ports), before_(before), map_(map) {}

 private:
  Status add(StoreTransaction& transaction) override { return ports_.join(transaction, before_, map_); }
  const NodePorts& ports_;
  const NodePorts::Stored& before_;
  const PortMap& map_;
};

}  // namespace

Task<Result<bool>> ServiceRepair::write(BegunWrite& mend) {
  RequestContext own;
  co_return co_await dynamic_cast<Transactor&>(*addresses_).transact(own, mend);
}

Task<Result<ServiceRepair::Held>> ServiceRepair::read_services() {
  Held held;
  RequestContext own;
  ListOptions all;
  auto listed = co_await services_->list(own, std::move(all));
  if (!listed.ok()) co_return std::move(listed).status();
  Status read = co_await for_each(*listed->items, [&held](const ObjectEntry& entry) {
    const Object service = decode(entry, json::storage_ptr());
    const Holdings holdings = holdings_of(object_or_empty(service, "spec"));
    for (const std::string& address : holdings.addresses) held.addresses.emplace(address, std::make_pair(entry.ns, entry.name));
    held.ports.insert(holdings.ports.begin(), holdings.ports.end());
  });
  if (!read.ok()) co_return read;
  co_return held;
}

Task<Status> ServiceRepair::free_address(ObjectRef entry) {
  RequestContext own;
  DeleteOptions options;
  options.preconditions.resource_version = std::to_string(entry->revision);
  auto removed = co_await addresses_->remove(own, entry->name, std::move(options));
  if (removed.ok()) logger_.warn("freed a service address that nobody held address=" + entry->name);
  const bool moved = !removed.ok() && (removed.status().reason() == Reason::kConflict || removed.status().reason() == Reason::kNotFound);
  co_return removed.ok() || moved ? Status() : std::move(removed).status();
}

Task<Status> ServiceRepair::restore_address(std::string address, std::string ns, std::string name) {
  MendAddress mend(*addresses_, address, ns, name);
  auto made = co_await write(mend);
  if (!made.ok()) co_return std::move(made).status();
  if (*made) logger_.warn("a service's address had no entry, which is there again address=" + address + " service=" + ns + "/" + name);
  co_return Status();
}

Task<Status> ServiceRepair::repair_addresses() {
  // The entries first: a service that comes with an entry of this list is in the list of services, which is read later.
  std::map<std::string, ObjectRef> entries;
  RequestContext own;
  ListOptions all;
  auto listed = co_await addresses_->list(own, std::move(all));
  if (!listed.ok()) co_return std::move(listed).status();
  Status read = co_await for_each(
      *listed->items, [&entries](const ObjectEntry& entry) { entries.emplace(entry.name, std::make_shared<const ObjectEntry>(entry)); });
  if (!read.ok()) co_return read;
  auto held = co_await read_services();
  if (!held.ok()) co_return std::move(held).status();
  for (const auto& [address, entry] : entries) {
    const auto holder = held->addresses.find(address);
    const Object object = decode(*entry, json::storage_ptr());
    const bool right = holder != held->addresses.end() && Addresses::belongs_to(object, holder->second.first, holder->second.second);
    if (right || !is_ours(object) || is_young(object)) continue;
    Status freed = co_await free_address(entry);
    if (!freed.ok()) co_return freed;
    entries[address] = nullptr;
  }
  for (const auto& [address, holder] : held->addresses) {
    const auto entry = entries.find(address);
    if (entry != entries.end() && entry->second != nullptr) continue;
    Status restored = co_await restore_address(address, holder.first, holder.second);
    if (!restored.ok()) co_return restored;
  }
  co_return Status();
}

Task<Status> ServiceRepair::repair_ports() {
  auto stored = co_await resources_->ports.read(true);
  if (!stored.ok()) co_return std::move(stored).status();
  auto held = co_await read_services();
  if (!held.ok()) co_return std::move(held).status();
  PortMap map = stored->map;
  bool changed = stored->entry == nullptr;
  for (std::int64_t port : held->ports) {
    if (map.taken(port) || !resources_->ports.range().holds(port)) continue;
    map.set(port);
    changed = true;
    logger_.warn("a service's node port was not marked as taken, and is again port=" + std::to_string(port));
  }
  std::map<std::int64_t, int> leaks;
  for (std::int64_t port : stored->map.all()) {
    if (held->ports.contains(port)) continue;
    const int seen = leaks_[port] + 1;
    if (seen < kPassesBeforeFreed) leaks[port] = seen;
    if (seen < kPassesBeforeFreed) continue;
    map.set(port, false);
    changed = true;
    logger_.warn("freed a node port that no service held port=" + std::to_string(port));
  }
  leaks_ = std::move(leaks);
  if (!changed) co_return Status();
  MendPorts mend(resources_->ports, *stored, map);
  auto written = co_await write(mend);
  co_return written.ok() ? Status() : std::move(written).status();
}

Task<Status> ServiceRepair::run_once() {
  Status addresses = co_await repair_addresses();
  Status ports = co_await repair_ports();
  co_return addresses.ok() ? std::move(ports) : std::move(addresses);
}

Task<Status> ServiceRepair::start(Signal& stop) {
  Sleeper sleeper(stop);
  const auto end = std::chrono::steady_clock::now() + kFirstPass;
  for (;;) {
    Status status = co_await run_once();
    if (status.ok() || std::chrono::steady_clock::now() > end) co_return status;
    const bool running = co_await sleeper.sleep(kPause);
    if (!running) co_return status;
  }
}

Task<void> ServiceRepair::run(Signal& stop) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kInterval)) {
    Status status = co_await run_once();
    if (!status.ok() && !stop.fired()) logger_.error("service addresses and node ports could not be repaired: " + status.message());
  }
}

}  // namespace backplane::core
