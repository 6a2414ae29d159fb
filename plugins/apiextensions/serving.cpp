#include "serving.hpp"

#include <algorithm>

#include "backplane/core/metrics.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// An awaitable that resumes after all work that is ready to run.
struct NextTurn {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) const { current_executor()->post(frame); }
  void await_resume() const noexcept {}
};

// Each change of a definition's settings changes the OpenAPI documents, which are built at the next request.
void count_regeneration(const std::string& name, const InstalledDefinition& installed, std::string_view reason) {
  static Metric& v2 =
      Metric::counter("apiextensions_openapi_v2_regeneration_count",
                      "[ALPHA] Number of changes of the OpenAPI v2 document by a definition, by definition and reason.", {"crd", "reason"});
  static Metric& v3 = Metric::counter("apiextensions_openapi_v3_regeneration_count",
                                      "[ALPHA] Number of changes of the OpenAPI v3 document of a group version by a definition.",
                                      {"crd", "group", "reason", "version"});
  v2.add({name, reason});
  for (const auto& [version, paths] : installed.paths) v3.add({name, installed.resource->group, reason, version});
}

}  // namespace

void Serving::serve(const std::string& name, const Object& crd, const ObjectRef& stored, Revision newest) {
  if (!condition_is_true(crd, "Established")) return retire(name);
  const InstalledDefinitionRef known = find(name);
  if (known == nullptr || known->identity != identity_of(crd)) {
    // A definition with another uid is a new one with the same name.
    const bool same = known != nullptr && known->identity.starts_with(std::string(meta_text(crd, "uid")) + "/");
    if (known != nullptr) known->stores->close(true);
    auto installed = install_resource(host_, services_, crd, stored, same ? known.get() : nullptr, std::max(newest, stored->revision));
    if (!installed.ok()) {
      if (known != nullptr) known->stores->close(false);
      host_.logger().error("serving a custom resource failed name=" + quoted(name) + " reason=" + quoted(installed.status().message()));
      return;
    }
    withdraw(name);
    count_regeneration(name, **installed, known != nullptr ? "update" : "add");
    installed_[name] = *installed;
    change_.put.push_back(published(**installed));
  } else {
    known->source->renew(stored);
    if (again_.erase(name) > 0) change_.put.push_back(published(*known));
  }
  installed_[name]->writes->set_terminating(!meta_text(crd, "deletionTimestamp").empty());
}

void Serving::renew(const std::string& name, const ObjectRef& stored) {
  if (const InstalledDefinitionRef known = find(name)) known->source->renew(stored);
}

void Serving::retire(const std::string& name) {
  if (const InstalledDefinitionRef known = find(name)) {
    known->writes->set_terminating(true);
    count_regeneration(name, *known, "remove");
  }
  withdraw(name);
}

void Serving::withdraw(const std::string& name) {
  const auto found = installed_.find(name);
  if (found == installed_.end()) return;
  found->second->stores->close(true);
  change_.removed.push_back({found->second->resource->group, found->second->resource->plural});
  retired_.push_back(std::move(found->second));
  unpublished_.erase(name);
  again_.erase(name);
  installed_.erase(found);
}

void Serving::try_again(const std::string& name) {
  if (unpublished_.erase(name) > 0) again_.insert(name);
}

InstalledDefinitionRef Serving::find(const std::string& name) const {
  const auto found = installed_.find(name);
  return found == installed_.end() ? nullptr : found->second;
}

void Serving::publish() {
  const std::vector<InstalledDefinitionRef> retired = std::exchange(retired_, {});
  GroupsChange change = std::exchange(change_, {});
  if (!published_ || !change.put.empty() || !change.removed.empty()) {
    Status status = groups_->change(change);
    published_ = true;
    // Publishes one by one, because a definition whose group version belongs to another plugin must not prevent the others.
    if (!status.ok()) publish_each(std::move(change));
  }
  // Only after publication, so that a client that watches again finds the new definition.
  for (const InstalledDefinitionRef& old : retired) old->watches->end();
}

Task<void> Serving::publish_together() {
  co_await NextTurn{};
  publish();
}

void Serving::publish_each(GroupsChange change) {
  GroupsChange removals;
  removals.removed = std::move(change.removed);
  Status removed = groups_->change(std::move(removals));
  if (!removed.ok()) host_.logger().error("withdrawing custom resources failed reason=" + quoted(removed.message()));
  for (PublishedResource& resource : change.put) {
    const std::string name = GroupResource{resource.group, resource.resource}.to_string();
    GroupsChange one;
    one.put.push_back(std::move(resource));
    Status status = groups_->change(std::move(one));
    if (status.ok()) continue;
    unpublished_.insert(name);
    host_.logger().error("publishing a custom resource failed name=" + quoted(name) + " reason=" + quoted(status.message()));
  }
}

}  // namespace backplane::apiextensions
