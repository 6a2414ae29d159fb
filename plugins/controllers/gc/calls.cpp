// The calls of the garbage collector.
#include <algorithm>

#include "backplane/core/task_set.hpp"
#include "frame/objects.hpp"
#include "gc/collector.hpp"

namespace backplane::controllers::gc {
namespace {

constexpr int kConflicts = 5;
constexpr std::size_t kReleasedAtOnce = 20;

// The media type of all responses: metadata only.
constexpr std::string_view kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

// Escapes the name, because the name in an owner reference may be any text.
HttpCall call_to(const ServedType& type, const std::string& ns, const std::string& name, std::string method) {
  HttpCall call;
  call.method = std::move(method);
  call.target = type.resource.group_version().path();
  if (!ns.empty()) call.target += "/namespaces/" + escaped_segment(ns);
  call.target += "/" + type.resource.resource + "/" + escaped_segment(name);
  call.headers.emplace_back("Accept", kMetadata);
  return call;
}

bool is_addressable(std::string_view name) { return !name.empty() && name != "." && name != ".."; }

bool is_server_error(const Status& status) { return !status.ok() && status.code() >= 500; }

}  // namespace

void Collector::note_call(const ServedType& type, const Status& status) {
  const GroupResource resource{type.resource.group, type.resource.resource};
  if (is_server_error(status)) {
    failing_until_[resource] = Clock::now() + kFailurePause;
  } else {
    failing_until_.erase(resource);
  }
}

bool Collector::is_failing(const ServedType& type) const {
  const auto found = failing_until_.find({type.resource.group, type.resource.resource});
  return found != failing_until_.end() && Clock::now() < found->second;
}

Task<Result<Object>> Collector::read_tree(ServedType type, std::string ns, std::string name) {
  if (!is_addressable(name)) co_return Object();
  auto found = co_await context_.api.request(call_to(type, ns, name, "GET"));
  note_call(type, found.status());
  if (!found.ok() && found.status().code() == 404) co_return Object();
  co_return std::move(found);
}

Task<Result<Facts>> Collector::read(ServedType type, std::string ns, std::string name) {
  auto reading = read_tree(std::move(type), std::move(ns), std::move(name));
  auto tree = co_await std::move(reading);
  if (!tree.ok()) co_return std::move(tree).status();
  co_return facts_of(*tree);
}

// Deletes the object. After a conflict, reads the object again, and retries unless its owners have changed.
Task<Status> Collector::remove_object(ServedType type, Facts live, std::string policy) {
  while (true) {
    HttpCall call = call_to(type, live.ns, live.name, "DELETE");
    Object preconditions{{"uid", live.uid}};
    if (!live.resource_version.empty()) preconditions["resourceVersion"] = live.resource_version;
    call.body = to_json(Object{
        {"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"preconditions", std::move(preconditions)}, {"propagationPolicy", policy}});
    call.headers.emplace_back("Content-Type", "application/json");
    auto deleted = co_await context_.api.request(std::move(call));
    note_call(type, deleted.status());
    if (deleted.ok()) co_return Status();
    if (deleted.status().reason() != Reason::kConflict || live.resource_version.empty()) co_return std::move(deleted).status();
    auto reading = read(type, live.ns, live.name);
    auto again = co_await std::move(reading);
    if (!again.ok()) co_return std::move(again).status();
    if (again->uid.empty()) co_return not_found(type.resource.group, type.resource.resource, live.name);
    const bool same = again->uid == live.uid && again->resource_version != live.resource_version && again->owners == live.owners;
    if (!same) co_return std::move(deleted).status();
    live.resource_version.clear();
  }
}

Task<Status> Collector::patch(ServedType type, std::string ns, std::string name, Object metadata) {
  HttpCall call = call_to(type, ns, name, "PATCH");
  call.headers.emplace_back("Content-Type", "application/merge-patch+json");
  call.body = to_json(Object{{"metadata", std::move(metadata)}});
  auto patched = co_await context_.api.request(std::move(call));
  note_call(type, patched.status());
  if (patched.ok() || patched.status().code() == 404) co_return Status();
  co_return std::move(patched).status();
}

Task<Status> Collector::drop_owners(ServedType type, std::string ns, std::string name, Uid uid, std::vector<std::string> owners) {
  Status last;
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto reading = read_tree(type, ns, name);
    auto tree = co_await std::move(reading);
    if (!tree.ok()) co_return std::move(tree).status();
    if (Uid::of(meta_text(*tree, "uid")) != uid) co_return Status();
    Array kept;
    each(object_or_empty(*tree, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
      if (std::find(owners.begin(), owners.end(), get_string(owner, "uid")) == owners.end()) kept.push_back(owner);
    });
    if (kept.size() == count_of(object_or_empty(*tree, "metadata"), "ownerReferences")) co_return Status();
    Object metadata{{"resourceVersion", meta_text(*tree, "resourceVersion")}};
    metadata["ownerReferences"] = kept.empty() ? Value(nullptr) : Value(std::move(kept));
    auto patching = patch(type, ns, name, std::move(metadata));
    last = co_await std::move(patching);
    if (last.ok() || last.reason() != Reason::kConflict) co_return last;
  }
  co_return last;
}

Task<Status> Collector::unblock_owners(ServedType type, Item item) {
  auto reading = read_tree(type, type.namespaced ? item.ns : std::string(), item.name);
  auto tree = co_await std::move(reading);
  if (!tree.ok()) co_return std::move(tree).status();
  if (Uid::of(meta_text(*tree, "uid")) != item.uid) co_return Status();
  Array owners;
  each(object_or_empty(*tree, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    Object changed = owner;
    if (get_bool(owner, "blockOwnerDeletion").value_or(false)) changed["blockOwnerDeletion"] = false;
    owners.push_back(std::move(changed));
  });
  Object metadata{{"resourceVersion", meta_text(*tree, "resourceVersion")}, {"ownerReferences", std::move(owners)}};
  auto patching = patch(type, type.namespaced ? item.ns : std::string(), item.name, std::move(metadata));
  co_return co_await std::move(patching);
}

Task<Status> Collector::drop_finalizer(ServedType type, Item item, std::string_view finalizer) {
  const std::string ns = type.namespaced ? item.ns : std::string();
  Status last;
  for (int attempt = 0; attempt < kConflicts; ++attempt) {
    auto reading = read_tree(type, ns, item.name);
    auto tree = co_await std::move(reading);
    if (!tree.ok()) co_return std::move(tree).status();
    if (Uid::of(meta_text(*tree, "uid")) != item.uid) co_return Status();
    Array kept;
    bool found = false;
    each_text(object_or_empty(*tree, "metadata"), "finalizers", [&](std::string_view text, std::size_t) {
      found |= text == finalizer;
      if (text != finalizer) kept.emplace_back(text);
    });
    if (!found) co_return Status();
    Object metadata{{"resourceVersion", meta_text(*tree, "resourceVersion")}};
    metadata["finalizers"] = kept.empty() ? Value(nullptr) : Value(std::move(kept));
    auto patching = patch(type, ns, item.name, std::move(metadata));
    last = co_await std::move(patching);
    if (last.ok() || last.reason() != Reason::kConflict) co_return last;
  }
  co_return last;
}

Task<Status> Collector::release_dependents(Item item, ServedType type) {
  if (!item.orphan) co_return Status();
  auto reading = read(type, type.namespaced ? item.ns : std::string(), item.name);
  auto owner = co_await std::move(reading);
  if (!owner.ok()) co_return std::move(owner).status();
  if (Uid::of(owner->uid) != item.uid) co_return Status();
  const std::vector<std::string> owners{owner->uid};
  const auto dependents = graph_.dependents(item.uid);
  Status failed;
  for (std::size_t begin = 0; begin < dependents.size(); begin += kReleasedAtOnce) {
    std::vector<Task<Status>> tasks;
    for (std::size_t i = begin; i < std::min(dependents.size(), begin + kReleasedAtOnce); ++i) {
      const auto dependent = graph_.find(dependents[i]);
      if (!dependent) continue;
      const ServedType* found = types_.find(dependent->type);
      if (found == nullptr) co_return service_unavailable("the type of a dependant is not served: " + dependent->type);
      tasks.push_back(drop_owners(*found, found->namespaced ? dependent->ns : std::string(), dependent->name, dependent->uid, owners));
    }
    auto running = when_all(std::move(tasks));
    const std::vector<Status> results = co_await std::move(running);
    for (const Status& result : results) {
      if (!result.ok()) failed = result;
    }
  }
  if (!failed.ok()) co_return failed;
  auto dropping = drop_finalizer(type, item, kOrphanFinalizer);
  co_return co_await std::move(dropping);
}

}  // namespace backplane::controllers::gc
