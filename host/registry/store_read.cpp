// get, list and watch: read from the cache. The store converts names and field labels to keys and selectors of the cache.
#include <algorithm>

#include "backplane/points/http.hpp"
#include "base/spent_time.hpp"
#include "registry/object_store.hpp"
#include "registry/store_span.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kServerItself = "system:apiserver";  // the user of the server's own requests
constexpr std::string_view kNameLabel = "metadata.name";
constexpr std::string_view kNamespaceLabel = "metadata.namespace";

Status unknown_label(std::string_view label, bool kind_has_labels) {
  if (kind_has_labels) return bad_request("field label not supported: " + std::string(label));
  return bad_request(quoted(label) + " is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

// The value of a requirement "label=value" of the selector; empty: there is none.
std::string_view demanded(const FieldSelector& selector, std::string_view label) {
  for (const FieldSelector::Requirement& requirement : selector.requirements()) {
    if (requirement.equals && requirement.field == label) return requirement.value;
  }
  return {};
}

// A flag that is set when the client disconnects, for CacheScope::abandoned; null: the list cannot be one of an old revision.  Lists of old
// revisions are read from the store page by page and take long.
std::shared_ptr<const std::atomic<bool>> abandonment(const RequestContext& context, const ListOptions& options) {
  const bool may_be_old = !options.continue_token.empty() || options.match == ResourceVersionMatch::kExact ||
                          (options.limit > 0 && !options.resource_version.empty());
  if (context.exchange == nullptr || !may_be_old) return nullptr;
  struct Abandonment {
    std::atomic<bool> gone;
    CloseSubscription closed;
  };
  auto out = std::make_shared<Abandonment>();
  out->gone = context.exchange->closed();
  out->closed = context.exchange->on_close([gone = std::weak_ptr(out)] {
    if (const auto still = gone.lock()) still->gone.store(true, std::memory_order_relaxed);
  });
  return {out, &out->gone};
}

// Adds a warning about unreadable objects that the list omits. Errors: the error of a list that must not omit them.
Status report_unreadable(const ObjectStorage& storage, const ResourceCache& cache, const CacheScope& scope, RequestContext& context) {
  constexpr std::size_t kMostKeys = 3;
  if (Status refused = cache.list_refusal(scope); !refused.ok()) return refused;
  const Unreadable left_out = cache.unreadable(scope);
  if (left_out.empty()) return {};
  std::string text = std::to_string(left_out.size()) + (left_out.size() == 1 ? " object is" : " objects are") +
                     " left out because the stored value cannot be read:";
  std::size_t named = 0;
  for (const auto& [key, why] : left_out) {
    if (++named <= kMostKeys) text += " " + storage.backend_key(key);
  }
  context.warn(named > kMostKeys ? text + " ..." : text);
  return {};
}

}  // namespace

std::optional<std::string_view> ObjectStore::field(const ObjectEntry& object, std::string_view label) const {
  if (label == kNameLabel) return object.name();
  if (label == kNamespaceLabel) return object.ns();
  auto field = fields_.begin();
  for (const std::string_view value : object.fields()) {
    if (field == fields_.end()) break;
    if (field++->label == label) return value;
  }
  return std::nullopt;
}

Result<CacheScope> ObjectStore::scope_of(const RequestContext& context, const ListOptions& options) const {
  const bool has_labels = sorted_keys() || !fields_.empty();
  for (const FieldSelector::Requirement& requirement : options.fields.requirements()) {
    const std::string& label = requirement.field;
    if (label == kNameLabel || (label == kNamespaceLabel && (keys_.namespaced() || !has_labels))) continue;
    const bool known = std::any_of(fields_.begin(), fields_.end(), [&](const SelectableField& field) { return field.label == label; });
    if (!known) return unknown_label(label, has_labels);
  }

  CacheScope scope;
  if (keys_.namespaced()) {
    scope.ns = context.info.ns;
    if (scope.ns.empty()) scope.ns = demanded(options.fields, kNamespaceLabel);
  }
  // A required metadata.name selects a single key, so no other entries are read.
  if (!keys_.namespaced() || !scope.ns.empty()) scope.name = demanded(options.fields, kNameLabel);
  return scope;
}

Task<Result<ObjectRef>> ObjectStore::get(RequestContext& context, std::string name, GetOptions options) {
  return get_as(default_mode(), context, std::move(name), std::move(options));
}

Task<Result<ObjectRef>> ObjectStore::get_as(WriteMode mode, RequestContext& context, std::string name, GetOptions options) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  auto key = keys_.key(context.info.ns, name);
  if (!key.ok()) co_return std::move(key.status());
  TraceSpan span(&context, "cacher.Get", SpanKind::kInternal, TraceSpan::Use::kExported);
  if (span.recorded()) {
    span.set("audit-id", tracing::shown_audit_id(context));
    span.set("key", std::string_view(*key));
    span.set("resource-version", std::string_view(options.resource_version));
    span.step("About to fetch object from cache");
  }
  const SpentTime spent(context, &RequestLatencies::storage);
  auto found = co_await backing->cache->get(std::move(*key), std::move(options.resource_version));
  if (found.ok() && *found == nullptr) co_return not_found_error(*mode.served_names, name);
  co_return found;
}

Task<Result<ListResult>> ObjectStore::list(RequestContext& context, ListOptions options) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  auto scope = scope_of(context, options);
  if (!scope.ok()) co_return std::move(scope.status());
  scope->abandoned = abandonment(context, options);
  TraceSpan span(&context, "cacher.GetList", SpanKind::kInternal, TraceSpan::Use::kExported);
  describe_read(span, context, config_);
  const SpentTime spent(context, &RequestLatencies::storage);
  auto listing = backing->cache->list(*scope, std::move(options));
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return listed;
  // Lists of this server's own components get no error or warning: they continue without the unreadable objects.
  const bool own = context.exchange == nullptr || context.user->name == kServerItself;
  Status refused = !own ? report_unreadable(*backing->storage, *backing->cache, *scope, context) : Status();
  if (!refused.ok()) co_return refused;
  co_return listed;
}

Task<Result<std::unique_ptr<WatchStream>>> ObjectStore::watch(RequestContext& context, ListOptions options) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  auto scope = scope_of(context, options);
  if (!scope.ok()) co_return std::move(scope.status());
  TraceSpan span(&context, "cacher.Watch", SpanKind::kInternal, TraceSpan::Use::kExported);
  describe_read(span, context, config_);
  co_return co_await backing->cache->watch(std::move(*scope), std::move(options));
}

}  // namespace backplane::registry
