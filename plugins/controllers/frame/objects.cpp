#include "frame/objects.hpp"

#include <algorithm>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane::controllers {

std::optional<Object> cached(const SharedInformer& informer, std::string_view key) {
  const ObjectRef entry = informer.indexer().get(key);
  if (entry == nullptr) return std::nullopt;
  return tree_of(*entry);
}

Task<Status> visit_stored(Host& host, GroupVersionResource resource, std::string ns, std::function<void(const ObjectEntry& object)> visit) {
  const std::shared_ptr<RestStorage> storage = host.find_storage(resource);
  auto* lister = role_of<Lister>(storage);
  if (lister == nullptr) co_return not_found(resource.group, resource.resource, "");
  RequestContext own;
  own.info.ns = std::move(ns);
  ListOptions options;
  options.resource_version = "0";
  options.transient_objects = true;
  auto listing = lister->list(own, std::move(options));
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return std::move(listed).status();
  auto visiting = for_each(*listed->items, std::move(visit));
  co_return co_await std::move(visiting);
}

ResourceEventHandler enqueue_wanted(std::shared_ptr<WorkQueue> queue, std::function<bool(const Object& object)> wanted) {
  const auto note = [queue = std::move(queue), wanted = std::move(wanted)](const ObjectRef& object) {
    if (wanted(tree_of(*object))) queue->add(object_key(*object));
  };
  ResourceEventHandler handler;
  handler.on_add = [note](const ObjectRef& object, bool) { note(object); };
  handler.on_update = [note](const ObjectRef&, const ObjectRef& object) { note(object); };
  return handler;
}

bool has_finalizer(const Object& object, std::string_view finalizer) {
  const auto all = texts_of(object_or_empty(object, "metadata"), "finalizers");
  return std::find(all.begin(), all.end(), finalizer) != all.end();
}

void add_finalizer(Object& object, std::string_view finalizer) {
  std::vector<std::string> all = ObjectMeta(object).finalizers();
  all.emplace_back(finalizer);
  ObjectMeta(object).set_finalizers(all);
}

void remove_finalizer(Object& object, std::string_view finalizer) {
  std::vector<std::string> all = ObjectMeta(object).finalizers();
  std::erase(all, finalizer);
  ObjectMeta(object).set_finalizers(all);
}

const Object* find_condition(const Object& object, std::string_view type) {
  return find_item(object_or_empty(object, "status"), "conditions", "type", type);
}

std::string escaped_segment(std::string_view name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
                       c == '~' || c == ':';
    if (plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

Status unless_gone(Status status) { return !status.ok() && status.code() == 404 ? Status() : std::move(status); }

}  // namespace backplane::controllers
