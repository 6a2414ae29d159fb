#include "webhooks/versioned_write.hpp"

namespace backplane::admission::webhooks {
namespace {

// The object in version `to`. The host reads the present version from the object.
Task<Result<Object>> convert_copy(Host& host, const GroupVersionKind& from, GroupVersionKind to, const Object* object) {
  Object copy(*object, object->storage());
  if (get_string(copy, "kind").empty()) copy["kind"] = from.kind;
  if (get_string(copy, "apiVersion").empty()) copy["apiVersion"] = from.group_version().to_string();
  return host.convert(std::move(to), std::move(copy));
}

Task<Status> convert_into(Host& host, const GroupVersionKind& from, GroupVersionKind to, const Object* object, std::optional<Object>& out) {
  out.reset();
  if (object == nullptr) co_return Status();
  auto converting = convert_copy(host, from, std::move(to), object);
  auto converted = co_await std::move(converting);
  if (!converted.ok()) co_return std::move(converted.status());
  out.emplace(std::move(*converted));
  co_return Status();
}

const Object* address_or_null(const std::optional<Object>& object) noexcept { return object ? &*object : nullptr; }

}  // namespace

Task<Result<VersionedObjects>> VersionedViews::in(GroupVersionKind kind) {
  if (kind == attributes_.kind) co_return VersionedObjects{attributes_.object, attributes_.old_object};
  for (const View& view : views_) {
    if (view.kind == kind) co_return VersionedObjects{address_or_null(view.object), address_or_null(view.old_object)};
  }
  View& view = views_.emplace_back();
  view.kind = kind;
  auto converting = convert_into(host_, attributes_.kind, kind, attributes_.object, view.object);
  Status converted = co_await std::move(converting);
  if (converted.ok()) {
    auto old_converting = convert_into(host_, attributes_.kind, kind, attributes_.old_object, view.old_object);
    converted = co_await std::move(old_converting);
  }
  if (converted.ok()) co_return VersionedObjects{address_or_null(view.object), address_or_null(view.old_object)};
  views_.pop_back();
  co_return converted;
}

VersionedObjects VersionedWrite::objects() const noexcept {
  if (!converted()) return {attributes_.object, attributes_.old_object};
  return {address_or_null(object_), address_or_null(old_object_)};
}

void VersionedWrite::set(Object object) {
  if (converted()) {
    object_.emplace(std::move(object));
    changed_ = true;
  } else {
    *attributes_.object = std::move(object);
  }
}

Task<Status> VersionedWrite::flush() {
  if (!changed_ || !converted() || attributes_.object == nullptr) co_return Status();
  std::optional<Object> back;
  auto converting = convert_into(host_, kind_, attributes_.kind, address_or_null(object_), back);
  Status converted = co_await std::move(converting);
  if (!converted.ok()) co_return converted;
  *attributes_.object = std::move(*back);
  changed_ = false;
  co_return Status();
}

Task<Result<VersionedObjects>> VersionedWrite::in(GroupVersionKind kind) {
  auto switching = switch_to(std::move(kind));
  const Status switched = co_await std::move(switching);
  if (!switched.ok()) co_return internal_error(switched.message());
  co_return objects();
}

Task<Status> VersionedWrite::switch_to(GroupVersionKind kind) {
  if (kind == this->kind()) co_return Status();
  auto flushing = flush();
  Status flushed = co_await std::move(flushing);
  if (!flushed.ok()) co_return flushed;
  kind_ = GroupVersionKind();
  if (kind == attributes_.kind) co_return Status();
  auto converting = convert_into(host_, attributes_.kind, kind, attributes_.object, object_);
  Status converted = co_await std::move(converting);
  if (!converted.ok()) co_return converted;
  auto old_converting = convert_into(host_, attributes_.kind, kind, attributes_.old_object, old_object_);
  converted = co_await std::move(old_converting);
  if (!converted.ok()) co_return converted;
  kind_ = std::move(kind);
  co_return Status();
}

}  // namespace backplane::admission::webhooks
