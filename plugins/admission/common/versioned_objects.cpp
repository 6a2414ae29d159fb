#include "common/versioned_objects.hpp"

namespace backplane::admission {
namespace {

// Returns the object in version `to`. The host reads the present version from the object, so apiVersion and kind are set if they are
// missing.
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

Task<Status> convert_both(Host& host, const AdmissionAttributes& from, GroupVersionKind to, std::optional<Object>& object,
                          std::optional<Object>& old_object) {
  auto converting = convert_into(host, from.kind, to, from.object, object);
  Status converted = co_await std::move(converting);
  if (!converted.ok()) co_return converted;
  auto old_converting = convert_into(host, from.kind, std::move(to), from.old_object, old_object);
  converted = co_await std::move(old_converting);
  co_return converted;
}

const Object* address_or_null(const std::optional<Object>& object) noexcept { return object ? &*object : nullptr; }

}  // namespace

const Result<VersionedObjects>* VersionedViews::find(const GroupVersionKind& kind) const noexcept {
  if (kind == attributes_.kind) return &own_;
  for (const View& view : views_) {
    if (view.kind == kind) return &view.shown;
  }
  return nullptr;
}

Task<Result<VersionedObjects>> VersionedViews::in(GroupVersionKind kind) {
  if (const auto* known = find(kind)) co_return *known;
  View view{kind, {}, {}, {}};
  auto converting = convert_both(host_, attributes_, std::move(kind), view.object, view.old_object);
  Status converted = co_await std::move(converting);
  View& kept = views_.emplace_back(std::move(view));
  kept.shown = converted.ok() ? Result<VersionedObjects>({address_or_null(kept.object), address_or_null(kept.old_object)})
                              : Result<VersionedObjects>(std::move(converted));
  co_return kept.shown;
}

VersionedObjects VersionedWrite::objects() const noexcept {
  if (!converted()) return {attributes_.object, attributes_.old_object};
  return {address_or_null(object_), address_or_null(old_object_)};
}

Task<Status> VersionedWrite::flush() {
  if (!changed_ || attributes_.object == nullptr) co_return Status();
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
  auto converting = convert_both(host_, attributes_, kind, object_, old_object_);
  Status converted = co_await std::move(converting);
  if (converted.ok()) kind_ = std::move(kind);
  co_return converted;
}

}  // namespace backplane::admission
