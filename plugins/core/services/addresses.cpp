#include "services/addresses.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/strategy.hpp"
#include "networking_v1_json.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::string_view kApiVersion = "networking.k8s.io/v1", kKind = "IPAddress";
constexpr std::string_view kFamilyLabel = "ipaddress.kubernetes.io/ip-family", kManagerLabel = "ipaddress.kubernetes.io/managed-by";
constexpr std::string_view kManager = "ipallocator.k8s.io";
constexpr int kGuesses = 32;  // attempts before all allocated addresses are read
constexpr int kMisses = 32;   // attempts with addresses that were free at the last such read

}  // namespace

Result<ResourceConfig> address_config() {
  auto schemas = embedded_schemas({networking_v1_json()});
  if (!schemas.ok()) return std::move(schemas).status();
  ResourceConfig config;
  config.kind = {"networking.k8s.io", "v1", std::string(kKind)};
  config.resource = "ipaddresses";
  config.schema = schemas->front()->find(config.kind);
  config.schemas = std::move(schemas->front());
  KindFacts facts;
  facts.namespaced = false;
  config.strategy = std::make_shared<KindStrategy>(std::move(facts));
  return config;
}

bool Addresses::has_family(std::string_view family) const {
  const auto& flags = ranges_->flags();
  return std::any_of(flags.begin(), flags.end(), [&](const AddressRange& range) { return range.family() == family; });
}

StandardStorage& Addresses::store() const {
  std::call_once(store_->once, [this] {
    store_->store = store_->find();
    if (store_->store == nullptr) throw std::logic_error("there is no storage of IPAddresses");
  });
  return *store_->store;
}

Task<Result<ObjectRef>> Addresses::find(std::string address, bool newest) const {
  RequestContext own;
  GetOptions options;
  if (!newest) options.resource_version = "0";
  auto found = co_await store().get(own, std::move(address), std::move(options));
  if (!found.ok() && found.status().reason() == Reason::kNotFound) co_return ObjectRef();
  co_return found;
}

Task<Result<std::string>> Addresses::pick(std::string family) const {
  const auto now = ranges_->now();
  Result<std::string> picked;
  for (const AddressRange& range : now->ready) {
    if (range.family() != family) continue;
    picked = co_await pick_in(range);
    if (!picked.ok() || !picked->empty()) co_return picked;
  }
  co_return std::string();
}

Task<Result<std::string>> Addresses::pick_in(const AddressRange& range) const {
  auto picked = co_await pick_known(range);
  if (!picked.ok() || !picked->empty()) co_return picked;
  picked = co_await guess(range);
  if (!picked.ok() || !picked->empty()) co_return picked;
  Status looked = co_await look(range);
  if (!looked.ok()) co_return looked;
  picked = co_await pick_known(range);
  co_return picked;
}

// An address that was free may have been allocated since then, also by another server.
Task<Result<std::string>> Addresses::pick_known(const AddressRange& range) const {
  Result<ObjectRef> found;
  for (int misses = 0; misses < kMisses; ++misses) {
    auto known = state_->free.take(range);
    if (!known) break;
    auto finding = find(*known, true);
    found = co_await std::move(finding);
    if (!found.ok()) co_return std::move(found).status();
    if (*found == nullptr) co_return std::move(*known);
  }
  co_return std::string();
}

// Tries random addresses above band(), because clients usually request the addresses up to band() explicitly.
Task<Result<std::string>> Addresses::guess(const AddressRange& range) const {
  const std::uint64_t first = range.band() + 1, count = range.size() - range.band();
  if (count == 0) co_return std::string();
  Result<ObjectRef> taken;
  for (int guess = 0; guess < kGuesses; ++guess) {
    std::string address = range.address(first + random_below(count));
    auto finding = find(address, false);
    taken = co_await std::move(finding);
    if (!taken.ok()) co_return std::move(taken).status();
    if (*taken == nullptr) co_return address;
  }
  co_return std::string();
}

// Reads all allocated addresses, because the range is nearly full. Reads them from the store, so that addresses that were just released
// count as free.
Task<Status> Addresses::look(const AddressRange& range) const {
  RequestContext own;
  ListOptions all;
  auto listed = co_await store().list(own, std::move(all));
  if (!listed.ok()) co_return std::move(listed).status();
  std::unordered_set<std::string> taken;
  Status read = co_await for_each(*listed->items, [&taken](const ObjectEntry& entry) { taken.emplace(entry.name()); });
  if (!read.ok()) co_return read;
  state_->looks.fetch_add(1);
  state_->free.learn(range, taken);
  co_return Status();
}

void Addresses::release(const std::vector<std::string>& addresses) const {
  for (const std::string& address : addresses) state_->free.release(address);
}

void Addresses::note_used(const std::vector<std::string>& taken, const std::vector<std::string>& given) const {
  const auto now = ranges_->now();
  for (const AddressRange& range : now->ready) {
    const auto in_range = [&range](const std::string& address) { return range.holds(address); };
    const auto more = std::count_if(taken.begin(), taken.end(), in_range) - std::count_if(given.begin(), given.end(), in_range);
    if (more != 0) state_->used.add(range, more);
  }
}

void Addresses::note_all_used(const std::vector<std::string>& addresses) const {
  const auto now = ranges_->now();
  for (const AddressRange& range : now->ready) {
    const auto in_range = [&range](const std::string& address) { return range.holds(address); };
    state_->used.set(range, std::count_if(addresses.begin(), addresses.end(), in_range));
  }
}

void Addresses::count(const std::string& address, std::string_view scope, bool allocated) const {
  const auto now = ranges_->now();
  for (const AddressRange& range : now->ready) {
    if (range.family() != family_of(address) || (allocated && !range.holds(address))) continue;
    return allocated ? count_address(cidr_of(range), scope) : count_address_error(cidr_of(range), scope);
  }
}

void Addresses::count_picked(const std::string& family, const std::string& address, std::chrono::nanoseconds took) const {
  const auto now = ranges_->now();
  for (const AddressRange& range : now->ready) {
    if (range.family() != family || (!address.empty() && !range.holds(address))) continue;
    const std::string cidr = cidr_of(range);
    address.empty() ? count_address_error(cidr, kDynamicScope) : count_address(cidr, kDynamicScope);
    return count_address_duration(cidr, took);
  }
}

Object Addresses::object(std::string_view address, std::string_view ns, std::string_view name) {
  Object out;
  out["kind"] = kKind;
  out["apiVersion"] = kApiVersion;
  Object& metadata = out["metadata"].emplace_object();
  metadata["name"] = address;
  metadata["uid"] = new_uid();
  metadata["creationTimestamp"] = now_rfc3339();
  Object& labels = metadata["labels"].emplace_object();
  labels[kFamilyLabel] = family_of(address);
  labels[kManagerLabel] = kManager;
  Object& parent = out["spec"].emplace_object()["parentRef"].emplace_object();
  parent["resource"] = "services";
  parent["namespace"] = ns;
  parent["name"] = name;
  return out;
}

bool Addresses::belongs_to(const Object& object, std::string_view ns, std::string_view name) {
  const Object& parent = object_or_empty(object_or_empty(object, "spec"), "parentRef");
  return get_string(parent, "group").empty() && get_string(parent, "resource") == "services" && get_string(parent, "namespace") == ns &&
         get_string(parent, "name") == name;
}

bool Addresses::is_ours(const Object& object) {
  return get_string(object_or_empty(object_or_empty(object, "metadata"), "labels"), kManagerLabel) == kManager;
}

bool Addresses::is_labelled(const Object& object) {
  const std::string_view family = get_string(object_or_empty(object_or_empty(object, "metadata"), "labels"), kFamilyLabel);
  return is_ours(object) && family == family_of(meta_name(object));
}

}  // namespace backplane::core
