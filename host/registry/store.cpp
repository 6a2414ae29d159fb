#include "registry/store.hpp"

#include <array>
#include <cctype>

#include "engine/raw_json.hpp"
#include "registry/completed_config.hpp"
#include "registry/converting_store.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"
#include "registry/store_commit.hpp"

namespace backplane {
namespace registry {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

CacheConfig cache_config(const ResourceConfig& config, const StoreKeys& keys) {
  CacheConfig cache;
  cache.prefix = keys.root();
  cache.namespaced = keys.namespaced();
  cache.kind = config.kind.kind;
  cache.resource = {config.kind.group, config.resource};
  cache.api_version = config.kind.group_version().to_string();
  cache.sorted_keys = config.schema != nullptr && config.schema->structural();
  cache.fields = config.strategy->facts().selectable;
  return cache;
}

// Custom resources (a structural schema) are stored as JSON, so their StoredKind has no schema.
StoredKind stored_kind(const ResourceConfig& config, const Hold& hold) {
  const bool typed = config.schema != nullptr && !config.schema->structural();
  return {config.kind,
          typed ? config.schema : nullptr,
          config.encoded_as,
          config.stored_as_json,
          typed ? config.strategy.get() : nullptr,
          {config.kind.group, config.resource},
          hold};
}

Status check(const ResourceConfig& config) {
  const std::string where = "resource " + quoted(config.resource) + ": ";
  if (config.resource.empty() || config.resource != lower(config.resource))
    return internal_error(where + "the plural name must be lower case");
  if (config.kind.kind.empty() || config.kind.version.empty()) return internal_error(where + "kind and version must be given");
  const bool view = !config.stored_kind.kind.empty();
  if (config.strategy == nullptr && !view) return internal_error(where + "a strategy must be given");
  if (view && config.schema == nullptr) return internal_error(where + "a version that is not stored needs a schema");
  return {};
}

GroupVersionResource version_of(const ResourceConfig& config) { return {config.kind.group, config.kind.version, config.resource}; }

std::string print(const GroupVersionKind& kind) { return kind.group_version().to_string() + ", Kind=" + kind.kind; }

Result<std::shared_ptr<StandardStorage>> make_view(StoreEnvironment& environment, ResourceConfig config) {
  config = completed(std::move(config));
  const std::string root = StoreKeys(config.storage_prefix, true).root();
  auto below = environment.state()->find(root);
  if (below == nullptr || below->kind() != config.stored_kind) {
    return internal_error("resource " + quoted(config.resource) + ": " + print(config.kind) + " is to be stored as " +
                          print(config.stored_kind) + ", but " +
                          (below == nullptr ? "nothing is" : "it is " + print(below->kind()) + " that is") + " stored under " + root);
  }
  environment.state()->note_version(root, version_of(config));
  return make_converting_store(std::move(below), std::move(config), environment.state());
}

}  // namespace

ResourceConfig completed(ResourceConfig config) {
  if (config.singular.empty()) config.singular = lower(config.kind.kind);
  if (config.list_kind.empty()) config.list_kind = config.kind.kind + "List";
  if (config.storage_prefix.empty()) {
    const bool custom = config.schema != nullptr && config.schema->structural();
    config.storage_prefix = custom ? config.kind.group + "/" + config.resource : config.resource;
  }
  return config;
}

ObjectStore::ObjectStore(std::shared_ptr<StoreEnvironment::State> environment, ResourceConfig config, const Hold& hold)
    : environment_(std::move(environment)),
      config_(completed(std::move(config))),
      // BlockingCalls is an interface of the host and no part of the SDK's Strategy.
      blocking_calls_(dynamic_cast<const BlockingCalls*>(config_.strategy.get())),
      served_names_{config_.kind, config_.resource},
      versions_(std::make_shared<StoredVersions>(config_.kind, config_.schema)),
      manager_(config_.kind, config_.schema, versions_, written_fields_of(config_.strategy.get())),
      fields_(config_.strategy->facts().selectable),
      keys_(config_.storage_prefix, config_.strategy->facts().namespaced),
      hold_(hold),
      slot_(cache_config(config_, keys_), stored_kind(config_, hold)) {
  environment_->attach(slot_, hold);
}

ObjectStore::~ObjectStore() { environment_->detach(slot_); }

StoredKind ObjectStore::kept_kind() const { return stored_kind(config_, hold_.lock()); }

WriteMode ObjectStore::default_mode() const {
  WriteMode mode;
  mode.strategy = config_.strategy.get();
  mode.served_names = &served_names_;
  mode.fields = &manager_;
  return mode;
}

AdmissionAttributes ObjectStore::attributes(const WriteMode& mode, RequestContext& context, AdmissionOperation operation,
                                            std::string_view name) const {
  const ServedNames& served_names = mode.served_names != nullptr ? *mode.served_names : served_names_;
  AdmissionAttributes attributes = admission_attributes(
      context, operation, {served_names.kind.group, served_names.kind.version, served_names.resource}, served_names.kind);
  // As upstream, the namespace attribute of a namespace is its name.
  const bool is_namespace = served_names.kind.group.empty() && served_names.resource == "namespaces";
  if (!keys_.namespaced()) attributes.ns = is_namespace ? name : std::string_view();
  attributes.name = name;
  return attributes;
}

Status not_found_error(const ServedNames& served_names, std::string_view name) {
  return not_found(served_names.kind.group, served_names.resource, name);
}

Status conflict_error(const ServedNames& served_names, std::string_view name, std::string_view why) {
  return conflict(served_names.kind.group, served_names.resource, name, why);
}

Status exists_error(const ServedNames& served_names, const Object& object, bool being_deleted) {
  Status exists = already_exists(served_names.kind.group, served_names.resource, meta_name(object));
  if (!meta_text(object, "generateName").empty()) {
    exists.set_message(exists.message() + ", the server was not able to generate a unique name for the object");
    StatusDetails details = exists.details() ? *exists.details() : StatusDetails{};
    details.retry_after_seconds = 1;
    exists.with_details(std::move(details));
  }
  if (being_deleted) exists.set_message("object is being deleted: " + exists.message());
  return exists;
}

Task<Result<ObjectRef>> ObjectStore::read_stored(const Backing& backing, std::string key) {
  RangeRequest request;
  request.start = std::move(key);
  auto found = co_await backing.storage->range(std::move(request));
  if (!found.ok()) co_return std::move(found.status());
  if (found->items.empty()) co_return ObjectRef();
  if (found->items.front().unreadable) co_return *found->items.front().unreadable;
  co_return backing.cache->make_entry(found->items.front());
}

Task<Result<LeaseId>> ObjectStore::lease(const Backing& backing) const {
  if (config_.time_to_live.count() == 0) co_return LeaseId{0};
  co_return co_await backing.leases->lease_for(config_.time_to_live);
}

const GatedFields* ObjectStore::gated(const Backing& backing) const {
  std::call_once(gates_asked_, [&] {
    if (config_.schema != nullptr && backing.settings->gates) gated_ = GatedFields::of(*config_.schema, backing.settings->gates);
  });
  return gated_.get();
}

Task<Result<bool>> ObjectStore::transact(RequestContext& context, BegunWrite& write) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  co_return co_await commit_joined(*backing, context, write);
}

Status not_started() { return service_unavailable("the storage of this server is not ready yet"); }

bool expired(const RequestContext& context) noexcept {
  return context.deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() >= context.deadline;
}

Status deadline_error() { return timeout("request did not complete within the allotted timeout", 0); }

SharedBytes encode_for_storage(Object& object) {
  for (std::string_view member : {"resourceVersion", "selfLink"}) erase_metadata_member(object, member);
  std::string bytes;
  bytes.reserve(2048);  // enough for most objects
  if (append_kept_json(bytes, object)) bytes.insert(0, 1, ' ');
  // Copied without spare capacity, because the caches hold the value until the watch of the store has returned it.
  const std::array<std::string_view, 1> parts = {bytes};
  return SharedBytes::concat(parts);
}

ObjectRef unstored(const std::string& key, const Object& object) {
  const ObjectRef made = make_object(object);
  auto entry = std::make_shared<ObjectEntry>(*made);
  entry->set_identity(key, made->ns(), made->name());
  if (const SharedBytes kept = kept_json(*made); kept.view() != made->json().view()) set_kept_json(*entry, kept);
  return entry;
}

}  // namespace registry

Result<std::shared_ptr<StandardStorage>> make_store(StoreEnvironment& environment, ResourceConfig config, const Hold& hold) {
  Status checked = registry::check(config);
  if (!checked.ok()) return checked;
  if (!config.stored_kind.kind.empty()) return registry::make_view(environment, std::move(config));
  auto store = std::make_shared<registry::ObjectStore>(environment.state(), std::move(config), hold);
  Status claimed = environment.state()->claim(store);
  if (!claimed.ok()) return claimed;
  environment.state()->note_version(store->keys().root(), registry::version_of(store->config()));
  return std::shared_ptr<StandardStorage>(std::move(store));
}

}  // namespace backplane
