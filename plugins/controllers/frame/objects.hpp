// Helpers for several controllers.
//
// Thread-safety: pure functions; handlers as in net/informer.hpp.
// Errors:        see each function.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "frame/context.hpp"

namespace backplane::controllers {

// Decodes a cached object.
inline Object tree_of(const ObjectEntry& entry) { return decode(entry, json::storage_ptr()); }
// Decodes the informer's object of that key; nullopt if there is none.
std::optional<Object> cached(const SharedInformer& informer, std::string_view key);

// Calls `visit` with each object of the resource in `ns` (empty: in all namespaces). Reads the watch cache without authorization, and does
// not keep the objects in memory (ListOptions::transient_objects). Errors: kNotFound if this server does not serve the resource.
Task<Status> visit_stored(Host& host, GroupVersionResource resource, std::string ns, std::function<void(const ObjectEntry& object)> visit);

// Returns a handler that adds the key of each added or changed object to `queue` if `wanted` returns true for the object.
ResourceEventHandler enqueue_wanted(std::shared_ptr<WorkQueue> queue, std::function<bool(const Object& object)> wanted);

inline bool is_being_deleted(const Object& object) { return !meta_text(object, "deletionTimestamp").empty(); }
bool has_finalizer(const Object& object, std::string_view finalizer);
void add_finalizer(Object& object, std::string_view finalizer);
void remove_finalizer(Object& object, std::string_view finalizer);

// The condition of that type in status.conditions; null if there is none.
const Object* find_condition(const Object& object, std::string_view type);

// Escapes a name for a segment of a URL's path.
std::string escaped_segment(std::string_view name);

// Success if `status` has the code 404; otherwise `status`.
Status unless_gone(Status status);

}  // namespace backplane::controllers
