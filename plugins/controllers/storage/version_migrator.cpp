// A migration goes through four states, each of which is a separate reconcile: waiting for other migrations of its resource, running
// without a revision, running, and ended.
#include <algorithm>
#include <ctime>
#include <tuple>

#include "frame/objects.hpp"
#include "gc/types.hpp"
#include "storage/controllers.hpp"
#include "storage/migrated_definition.hpp"

namespace backplane::controllers {
namespace {

constexpr std::int64_t kDiscoverySeconds = 60;  // seconds after which a migration of an unknown resource fails
constexpr std::int64_t kMigrationPage = 500;
constexpr std::string_view kRunning = "Running", kSucceeded = "Succeeded", kFailed = "Failed";

GroupVersionResource migrations() { return {"storagemigration.k8s.io", "v1beta1", "storageversionmigrations"}; }

bool is_true(const Object& migration, std::string_view type) {
  const Object* condition = find_condition(migration, type);
  return condition != nullptr && get_string(*condition, "status") == "True";
}
bool has_ended(const Object& migration) { return is_true(migration, kSucceeded) || is_true(migration, kFailed); }

GroupResource resource_of(const Object& migration) {
  return {std::string(get_string_path(migration, "spec.resource.group")),
          std::string(get_string_path(migration, "spec.resource.resource"))};
}

auto age_of(const Object& migration) {
  return std::make_tuple(std::string(meta_text(migration, "creationTimestamp")), std::string(meta_name(migration)));
}

void set_condition(Object& migration, std::string_view type, std::string_view status, std::string_view reason, std::string_view message) {
  Array& all = ensure_array(ensure_object(migration, "status"), "conditions");
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const Value& value) { return value.is_object() && get_string(value.get_object(), "type") == type; });
  Object condition{{"type", type}, {"status", status}, {"lastTransitionTime", now_rfc3339()}, {"reason", reason}, {"message", message}};
  if (known == all.end()) {
    all.push_back(std::move(condition));
  } else {
    *known = std::move(condition);
  }
}

bool may_be_retried(const Status& status) { return status.code() == 429 || status.code() >= 500; }

struct VersionMigrator {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;

  Task<Status> reconcile(std::string name) {
    auto migration = cached(*informer, name);
    if (!migration) co_return Status();
    Task<Status> step;
    if (has_ended(*migration)) {
      if (!is_true(*migration, kRunning)) co_return Status();
      step = finish(std::move(*migration));
    } else if (!is_true(*migration, kRunning)) {
      if (!is_next(*migration)) co_return Status();
      step = begin(std::move(*migration));
    } else if (get_string_path(*migration, "status.resourceVersion").empty()) {
      step = set_revision(std::move(*migration));
    } else {
      step = migrate(std::move(*migration));
    }
    co_return co_await std::move(step);
  }

  // One migration of a resource runs at a time, the oldest first.
  bool is_next(const Object& migration) const {
    const auto all = informer->indexer().list();
    return std::none_of(all.begin(), all.end(), [&](const ObjectRef& entry) {
      const Object other = tree_of(*entry);
      if (resource_of(other) != resource_of(migration) || has_ended(other)) return false;
      return is_true(other, kRunning) || age_of(other) < age_of(migration);
    });
  }

  Task<Status> begin(Object migration) {
    auto marking = mark_definition(api, resource_of(migration), std::string(meta_name(migration)));
    Status marked = co_await std::move(marking);
    if (!marked.ok()) co_return marked;
    set_condition(migration, kRunning, "True", "MigrationRunning", "The migration is running");
    auto writing = write(std::move(migration));
    co_return co_await std::move(writing);
  }

  Task<Status> finish(Object migration) {
    auto releasing = release_definition(api, resource_of(migration), is_true(migration, kSucceeded));
    Status released = co_await std::move(releasing);
    if (!released.ok()) co_return released;
    set_condition(migration, kRunning, "False", "MigrationCompleted", "Migration completed");
    auto writing = write(std::move(migration));
    co_return co_await std::move(writing);
  }

  Task<Status> fail(Object migration, std::string why) {
    set_condition(migration, kFailed, "True", "StorageVersionMigrationFailed", why);
    auto writing = write(std::move(migration));
    co_return co_await std::move(writing);
  }

  Task<Status> write(Object migration) {
    auto written = co_await api.update(migrations(), "", std::move(migration), "status");
    co_return written.ok() ? Status() : unless_gone(std::move(written).status());
  }

  // Returns the type that is migrated; an empty kind: it is not served.
  Task<Result<ServedType>> find_type(GroupResource resource) {
    auto discovering = discover_types(api);
    auto types = co_await std::move(discovering);
    if (!types.ok()) co_return std::move(types).status();
    const auto found = types->collectable.find(resource);
    co_return found == types->collectable.end() ? ServedType() : found->second.versions.front();
  }

  Task<Status> set_revision(Object migration) {
    auto finding = find_type(resource_of(migration));
    auto type = co_await std::move(finding);
    if (!type.ok()) co_return std::move(type).status();
    if (type->kind.empty()) {
      const auto created = parse_rfc3339(meta_text(migration, "creationTimestamp")).value_or(0);
      if (created + kDiscoverySeconds > std::time(nullptr)) co_return internal_error("resource does not exist in discovery yet");
      auto failing = fail(std::move(migration), "resource does not exist in discovery");
      co_return co_await std::move(failing);
    }
    ListOptions options;
    options.limit = 1;
    auto listed = co_await api.list(type->resource, "", std::move(options));
    if (!listed.ok()) co_return std::move(listed).status();
    ensure_object(migration, "status")["resourceVersion"] = meta_text(*listed, "resourceVersion");
    auto writing = write(std::move(migration));
    co_return co_await std::move(writing);
  }

  Task<Status> migrate(Object migration) {
    auto finding = find_type(resource_of(migration));
    auto type = co_await std::move(finding);
    if (!type.ok()) co_return std::move(type).status();
    if (type->kind.empty()) {
      auto failing = fail(std::move(migration), "migration encountered unhandled error: unable to obtain GVR from discovery");
      co_return co_await std::move(failing);
    }
    auto touching = touch_all(*type);
    Status touched = co_await std::move(touching);
    if (!touched.ok() && may_be_retried(touched)) co_return touched;
    if (!touched.ok()) {
      auto failing = fail(std::move(migration), "migration encountered unhandled error: " + touched.message());
      co_return co_await std::move(failing);
    }
    set_condition(migration, kSucceeded, "True", "StorageVersionMigrationSucceeded", "");
    auto writing = write(std::move(migration));
    co_return co_await std::move(writing);
  }

  Task<Status> touch_all(ServedType type) {
    std::string token;
    do {
      HttpCall call;
      call.target = type.resource.group_version().path() + "/" + type.resource.resource + "?limit=" + std::to_string(kMigrationPage) +
                    (token.empty() ? "" : "&continue=" + token);
      call.headers.emplace_back("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
      auto page = co_await api.request(std::move(call));
      if (!page.ok()) co_return std::move(page).status();
      const Array* items = get_array(*page, "items");
      for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        auto touching = touch(type, (*items)[i].as_object());
        Status touched = co_await std::move(touching);
        if (!touched.ok()) co_return touched;
      }
      token = meta_text(*page, "continue");
    } while (!token.empty());
    co_return Status();
  }

  // An apply without fields writes the unchanged object. A conflict means that it has been written or deleted since.
  Task<Status> touch(ServedType type, const Object& object) {
    Object applied;
    applied["kind"] = type.kind;
    applied["apiVersion"] = type.resource.group_version().to_string();
    applied["metadata"] = Object{{"uid", meta_text(object, "uid")}, {"resourceVersion", meta_text(object, "resourceVersion")}};
    HttpCall call;
    call.method = "PATCH";
    call.target = type.resource.group_version().path();
    if (type.namespaced) call.target += "/namespaces/" + escaped_segment(meta_namespace(object));
    call.target +=
        "/" + type.resource.resource + "/" + escaped_segment(meta_name(object)) + "?fieldManager=storage-version-migrator-controller";
    call.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
    call.headers.emplace_back("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    call.body = to_json(applied);
    auto done = co_await api.request(std::move(call));
    if (done.ok() || done.status().reason() == Reason::kConflict) co_return Status();
    co_return unless_gone(std::move(done).status());
  }
};

}  // namespace

Status start_storage_version_migrator(const Context& context) {
  const auto informer = context.term->informer(migrations());
  const auto queue = context.term->queue();
  const std::weak_ptr<SharedInformer> weak = informer;
  // The end of a migration starts the next one of its resource.
  const auto note_all = [queue, weak] {
    const auto known = weak.lock();
    for (const std::string& name : known ? known->indexer().list_keys() : std::vector<std::string>()) queue->add(name);
  };
  ResourceEventHandler handler;
  handler.on_add = [queue](const ObjectRef& migration, bool) { queue->add(std::string(migration->name())); };
  handler.on_update = [note_all](const ObjectRef&, const ObjectRef&) { note_all(); };
  handler.on_delete = [note_all](const ObjectRef&, bool) { note_all(); };
  context.term->handle(informer, std::move(handler));
  const auto controller = std::make_shared<VersionMigrator>(VersionMigrator{context.api, informer});
  context.work(queue, 1, [controller](std::string name) { return controller->reconcile(std::move(name)); }, {informer});
  return {};
}

}  // namespace backplane::controllers
