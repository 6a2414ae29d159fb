// Decides whether an object is deleted, released or retained (attemptToDeleteItem).
#include <algorithm>

#include "gc/collector.hpp"

namespace backplane::controllers::gc {
namespace {

std::string api_version_of(std::string_view type) { return std::string(type.substr(0, type.find(' '))); }
std::string kind_of(std::string_view type) { return std::string(type.substr(type.find(' ') + 1)); }

}  // namespace

Task<Status> Collector::collect(Item item) {
  // An object that is being deleted needs no further action.
  if (item.absent || (item.deleted && !item.foreground)) co_return Status();
  const ServedType type = *types_.find(item.type);
  // A cluster-scoped object refers to an owner of a namespaced type. The owner's namespace is unknown, so the owner cannot be read.
  if (type.namespaced && item.ns.empty()) co_return Status();
  const std::string ns = type.namespaced ? item.ns : std::string();
  auto reading = read(type, ns, item.name);
  auto live = co_await std::move(reading);
  if (!live.ok()) co_return std::move(live).status();
  if (live->uid.empty() || Uid::of(live->uid) != item.uid) {
    schedule(graph_.remove(item.uid));
    co_return Status();
  }
  if (!item.observed) {
    // An event may have reported a newer state meanwhile.
    const auto known = graph_.find(item.uid);
    if (known && !known->observed) schedule(graph_.put(item.type, *live));
    const auto found = graph_.find(item.uid);
    if (!found || (found->deleted && !found->foreground)) co_return Status();
    item = *found;
  }
  if (item.foreground) {
    auto finishing = finish_foreground(std::move(item), type);
    co_return co_await std::move(finishing);
  }
  if (live->owners.empty()) co_return Status();
  auto deleting = delete_unowned(std::move(item), std::move(*live), type);
  co_return co_await std::move(deleting);
}

Task<Status> Collector::delete_unowned(Item item, Facts live, ServedType type) {
  auto classifying = classify(item, live);
  auto classes = co_await std::move(classifying);
  if (!classes.ok()) co_return std::move(classes).status();
  if (classes->unresolvable) co_return Status();
  if (!classes->solid.empty()) {
    // Removes the references to the other owners. Otherwise, owners that wait for their dependants would wait for this object forever.
    std::vector<std::string> others = classes->dangling;
    others.insert(others.end(), classes->waiting.begin(), classes->waiting.end());
    if (others.empty()) co_return Status();
    auto dropping = drop_owners(type, live.ns, live.name, item.uid, std::move(others));
    co_return co_await std::move(dropping);
  }
  std::string policy = live.orphan ? "Orphan" : live.foreground ? "Foreground" : "Background";
  if (!classes->waiting.empty() && item.has_dependents) {
    policy = "Foreground";
    const auto dependents = graph_.dependents(item.uid);
    const bool cycle = std::any_of(dependents.begin(), dependents.end(), [&](const Uid& uid) {
      const auto dependent = graph_.find(uid);
      return dependent && dependent->foreground;
    });
    if (cycle) {
      auto unblocking = unblock_owners(type, item);
      Status unblocked = co_await std::move(unblocking);
      if (!unblocked.ok()) co_return unblocked;
      live.resource_version.clear();
    }
  }
  auto removing = remove_object(type, live, std::move(policy));
  Status removed = co_await std::move(removing);
  if (removed.code() == 404) {
    schedule(graph_.remove(item.uid));
    co_return Status();
  }
  co_return removed;
}

Task<Result<Collector::Classes>> Collector::classify(Item item, Facts live) {
  Classes out;
  for (const OwnerRef& owner : live.owners) {
    if (absent_.contains(absent_key("", owner)) || absent_.contains(absent_key(item.ns, owner))) {
      out.dangling.push_back(owner.uid);
      continue;
    }
    const Uid owner_uid = Uid::of(owner.uid);
    const auto known = graph_.find(owner_uid);
    if (known && known->observed && !known->ns.empty() && known->ns != item.ns) report_namespace(item, owner);
    const std::string text = type_text(owner.api_version, owner.kind);
    const ServedType* found = types_.find(text);
    if (found == nullptr) parked_.insert("d" + item.uid.hex());
    if (found == nullptr || (found->namespaced && item.ns.empty())) {
      out.unresolvable = true;
      co_return out;
    }
    const ServedType type = *found;
    if (is_failing(type)) co_return service_unavailable("the type of an owner does not respond: " + text);
    const std::string ns = type.namespaced ? item.ns : std::string();
    auto reading = read(type, ns, owner.name);
    auto read_owner = co_await std::move(reading);
    if (!read_owner.ok()) co_return std::move(read_owner).status();
    if (read_owner->uid != owner.uid) {
      note_absent(absent_key(ns, owner));
      out.dangling.push_back(owner.uid);
      continue;
    }
    const auto node = graph_.find(owner_uid);
    if (node && !node->observed) schedule(graph_.put(text, *read_owner));
    const bool waits = read_owner->deleted && read_owner->foreground;
    (waits ? out.waiting : out.solid).push_back(owner.uid);
  }
  co_return out;
}

Task<Status> Collector::finish_foreground(Item item, ServedType type) {
  const auto blocking = graph_.blocking_dependents(item.uid);
  if (blocking.empty()) {
    auto dropping = drop_finalizer(type, item, kForegroundFinalizer);
    co_return co_await std::move(dropping);
  }
  for (const Uid& uid : blocking) {
    const auto dependent = graph_.find(uid);
    if (dependent && !dependent->foreground) schedule(uid, 'd');
  }
  co_return Status();
}

void Collector::report_namespace(const Item& item, const OwnerRef& owner) {
  EventObject about;
  about.api_version = api_version_of(item.type);
  about.kind = kind_of(item.type);
  about.ns = item.ns;
  about.name = item.name;
  const std::string hex = item.uid.hex();
  about.uid = hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" + hex.substr(20);
  events_.write(std::move(about), "Warning", "OwnerRefInvalidNamespace",
                "ownerRef [" + owner.api_version + "/" + owner.kind + ", namespace: " + item.ns + ", name: " + owner.name +
                    ", uid: " + owner.uid + "] does not exist in namespace " + quoted(item.ns));
}

}  // namespace backplane::controllers::gc
