#include "routing/route_composer.hpp"

#include <algorithm>

#include "routing/groups_editor.hpp"
#include "routing/log.hpp"

namespace backplane {
namespace {

Storages enabled_storages(const ApiEnablement& enablement, const GroupVersion& version, const Storages& storages) {
  Storages enabled;
  for (const auto& [path, storage] : storages) {
    if (enablement.resource_enabled({version.group, version.version, path})) enabled.emplace(path, storage);
  }
  return enabled;
}

Status served_twice(const GroupVersion& version, const std::string& first, const std::string& second) {
  return Status(Reason::kAlreadyExists, "group version " + version.group + "/" + version.version + " is served by plugin " + quoted(first) +
                                            " already; plugin " + quoted(second) + " cannot serve it too");
}

// Returns the version as this server serves it, even if the version is forwarded to another server.
const VersionRef& local_of(const VersionRef& version) { return version->forward ? version->local : version; }

VersionRef find_ref(const GroupEntry& entry, std::string_view version) {
  const auto found =
      std::find_if(entry.versions.begin(), entry.versions.end(), [&](const auto& each) { return each->version.version == version; });
  return found == entry.versions.end() ? nullptr : *found;
}

// Returns a copy of `forwarding` that has another `local` table.
VersionRef in_front_of(const VersionRef& forwarding, VersionRef local) {
  if (forwarding->local == local) return forwarding;
  auto table = std::make_shared<VersionTable>();
  table->version = forwarding->version;
  table->delegate = forwarding->delegate;
  table->group_priority = forwarding->group_priority;
  table->version_priority = forwarding->version_priority;
  table->dynamic = true;
  table->forward = forwarding->forward;
  table->local = std::move(local);
  return table;
}

}  // namespace

Status RouteComposer::add_paths(const std::vector<PathRoute>& routes, const std::string& registrant) {
  for (const auto& route : routes) {
    Status status = paths_->add(route, registrant);
    if (!status.ok()) return status;
  }
  return {};
}

// Returns the enabled versions of a group, in the order of their priorities. --runtime-config applies to built-in versions only; versions
// that are published at run time are always enabled.
std::vector<VersionRef> RouteComposer::versions_of(const APIGroupInfo& group, const DelegationTarget& target, bool stays,
                                                   const HandlerFactory& handler_of) const {
  std::vector<VersionRef> out;
  int rank = static_cast<int>(group.prioritized_versions.size());
  for (const auto& name : group.prioritized_versions) {
    --rank;
    const GroupVersion version{group.group, name};
    const auto storages = group.storages.find(name);
    if (storages == group.storages.end()) continue;
    const Storages enabled = enabled_storages(config_.enablement, version, storages->second);
    if (enabled.empty()) {
      routing_details().info("skipping API {}/{}: no resource of it is enabled", group.group, name);
      continue;
    }
    if (const VersionRef before = stays ? before_.find_shared(group.group, name) : nullptr) {
      if (const VersionRef& local = local_of(before); local && local->delegate == target.name && !local->dynamic) {
        out.push_back(local);
        continue;
      }
    }
    const auto schemas = group.schemas.find(name);
    auto table = std::make_shared<VersionTable>();
    table->version = version;
    table->openapi_enums = config_.openapi_enums;
    table->openapi_cbor = config_.openapi_cbor;
    table->emulation = config_.version.effective.emulation;
    table->delegate = target.name;
    table->group_priority = group.group_priority_minimum;
    const auto priority = group.version_priorities.find(name);
    table->version_priority = priority != group.version_priorities.end() ? priority->second : group.version_priority + rank;
    table->rows = with_rows({}, version, enabled, schemas == group.schemas.end() ? nullptr : schemas->second, {}, handler_of, false);
    out.push_back(std::move(table));
  }
  return out;
}

Status RouteComposer::add(const DelegationTarget& target, bool stays, const HandlerFactory& handler_of) {
  if (front_.empty()) front_ = target.name;
  Status status = add_paths(target.paths, target.name);
  if (!status.ok()) return status;
  for (const auto& group : target.groups) {
    auto& entry = groups_[group.group];
    if (!entry) entry = std::make_shared<GroupEntry>();
    entry->name = group.group;
    entry->answers_for_all_delegates = target.name == front_;
    for (auto& version : versions_of(group, target, stays, handler_of)) {
      if (const VersionTable* other = entry->find(version->version.version)) {
        return served_twice(version->version, other->delegate, target.name);
      }
      entry->versions.push_back(std::move(version));
    }
  }
  return {};
}

Status RouteComposer::take_over(GroupEntry& entry, const VersionRef& version) {
  const VersionRef now = find_ref(entry, version->version.version);
  const VersionRef& local = local_of(version);
  const VersionRef published = local && local->dynamic ? local : nullptr;
  if (now && published) return served_twice(version->version, published->delegate, now->delegate);
  VersionRef next = now ? now : published;
  if (version->forward) next = in_front_of(version, std::move(next));
  if (!next || next == now) return {};
  std::erase(entry.versions, now);
  entry.versions.push_back(std::move(next));
  return {};
}

Status RouteComposer::take_over_published() {
  Status status;
  before_.groups.each([&](const std::string& name, const GroupRef& before) {
    for (const VersionRef& version : before->versions) {
      if (!version->dynamic || !status.ok()) continue;
      auto& entry = groups_[name];
      if (!entry) entry = std::make_shared<GroupEntry>();
      entry->name = name;
      status = take_over(*entry, version);
    }
  });
  return status;
}

// Returns the former entry, with its generated documents, if nothing has changed.
GroupRef RouteComposer::finished(const std::string& name, std::shared_ptr<GroupEntry> entry) const {
  update_group(*entry);
  const GroupRef* before = before_.groups.find(name);
  const bool same = before != nullptr && (*before)->versions == entry->versions &&
                    (*before)->answers_for_all_delegates == entry->answers_for_all_delegates;
  return same ? *before : GroupRef(std::move(entry));
}

std::shared_ptr<RouteTable> RouteComposer::finish(GroupVersionsChange& change) {
  auto table = std::make_shared<RouteTable>();
  table->openapi_enums = config_.openapi_enums;
  table->openapi_cbor = config_.openapi_cbor;
  table->emulation = config_.version.effective.emulation;
  table->paths = std::move(paths_);
  for (auto& [name, entry] : groups_) {
    if (!entry->versions.empty()) table->groups = table->groups.with(name, finished(name, std::move(entry)));
  }
  for (const VersionTable* version : table->versions()) {
    if (before_.find(version->version.group, version->version.version) != version) change.served.push_back(info_of(*version));
  }
  for (const VersionTable* version : before_.versions()) {
    if (table->find(version->version.group, version->version.version) == nullptr) change.gone.push_back(version->version);
  }
  return table;
}

}  // namespace backplane
