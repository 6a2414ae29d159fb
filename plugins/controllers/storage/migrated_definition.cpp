#include "storage/migrated_definition.hpp"

#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kMigrating = "StorageMigrating";

GroupVersionResource definitions() { return {"apiextensions.k8s.io", "v1", "customresourcedefinitions"}; }

// Returns the definition; an empty object: the resource has none.
Task<Result<Object>> find_definition(ApiClient api, GroupResource resource) {
  if (resource.group.empty()) co_return Object();
  auto found = co_await api.get(definitions(), "", resource.resource + "." + resource.group);
  if (!found.ok() && found.status().code() == 404) co_return Object();
  co_return std::move(found);
}

// The resourceVersion makes the write fail if the definition has changed since the read.
Task<Status> apply_status(ApiClient api, Object definition, Object condition, std::string stored_version) {
  condition["type"] = kMigrating;
  condition["lastTransitionTime"] = now_rfc3339();
  if (const auto generation = get_int_path(definition, "metadata.generation")) condition["observedGeneration"] = *generation;
  Object status{{"conditions", Array{std::move(condition)}}};
  if (!stored_version.empty()) status["storedVersions"] = Array{Value(stored_version)};
  Object applied;
  applied["apiVersion"] = "apiextensions.k8s.io/v1";
  applied["kind"] = "CustomResourceDefinition";
  applied["metadata"] = Object{{"name", meta_name(definition)}, {"resourceVersion", meta_text(definition, "resourceVersion")}};
  applied["status"] = std::move(status);
  HttpCall call;
  call.method = "PATCH";
  call.target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + escaped_segment(meta_name(definition)) +
                "/status?fieldManager=migration-runner-controller&force=true";
  call.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
  call.headers.emplace_back("Accept", "application/json");
  call.body = to_json(applied);
  auto done = co_await api.request(std::move(call));
  co_return done.ok() ? Status() : std::move(done).status();
}

std::string stored_version_of(const Object& definition) {
  std::string out;
  each(object_or_empty(definition, "spec"), "versions", [&](const Object& version, std::size_t) {
    if (get_bool(version, "storage").value_or(false)) out = get_string(version, "name");
  });
  return out;
}

}  // namespace

Task<Status> mark_definition(ApiClient api, GroupResource resource, std::string migration) {
  auto finding = find_definition(api, std::move(resource));
  auto definition = co_await std::move(finding);
  if (!definition.ok()) co_return std::move(definition).status();
  if (definition->empty()) co_return Status();
  Object condition{{"status", "True"}, {"reason", "MigrationRunning"}, {"message", "Migration " + migration + " is running"}};
  auto applying = apply_status(api, std::move(*definition), std::move(condition), "");
  co_return co_await std::move(applying);
}

Task<Status> release_definition(ApiClient api, GroupResource resource, bool succeeded) {
  auto finding = find_definition(api, std::move(resource));
  auto definition = co_await std::move(finding);
  if (!definition.ok()) co_return std::move(definition).status();
  if (definition->empty()) co_return Status();
  const Object* marked = find_condition(*definition, kMigrating);
  const bool same = marked != nullptr &&
                    get_int(*marked, "observedGeneration").value_or(0) == get_int_path(*definition, "metadata.generation").value_or(0);
  std::string message = succeeded ? "The migration has succeeded" : "The migration has failed";
  if (succeeded) {
    message +=
        same ? " and the stored versions have been updated" : " but the stored versions have not been updated due to a generation mismatch";
  }
  Object condition{{"status", "False"}, {"reason", succeeded ? "MigrationSucceeded" : "MigrationFailed"}, {"message", message}};
  const std::string stored = succeeded && same ? stored_version_of(*definition) : std::string();
  auto applying = apply_status(api, std::move(*definition), std::move(condition), stored);
  co_return co_await std::move(applying);
}

}  // namespace backplane::controllers
