// JSON trees (boost::json) and the operations on them that all parts of the server share.
//
// A request uses trees in the request's memory resource (RequestContext::arena). A stored or cached object is bytes (core/object.hpp).
//
// Thread-safety: a tree belongs to one request and one thread at a time.
// Lifetime:      a tree lives in the memory resource that it was created with, which must outlive the tree.
// Errors:        none; a member that is absent or has another type reads as null, nullopt or empty.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json_fwd.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Aliases used throughout the SDK.
namespace json = boost::json;
using Value = json::value;
using Object = json::object;
using Array = json::array;

// Returns the member `key`, or null if it is absent. The pointer is valid until the object changes.
//
//   if (const Value* replicas = find_path(object, "spec.replicas")) …
//   const std::string_view phase = get_string_path(object, "status.phase");  // empty if absent
const Value* find(const Object& object, std::string_view key) noexcept;
Value* find(Object& object, std::string_view key) noexcept;
// Returns the member at the end of `path`. Null if it is absent, or if a value before the end of the path is not an object.
const Value* find_path(const Object& object, std::initializer_list<std::string_view> path) noexcept;
// The same for a dotted path ("spec.nodeName"). A key that contains a dot cannot be addressed this way.
const Value* find_path(const Object& object, std::string_view dotted) noexcept;

// Typed reads: return empty, nullopt or null if the member is absent or has another type.
std::string_view get_string(const Object& object, std::string_view key) noexcept;
std::string_view get_string_path(const Object& object, std::string_view dotted) noexcept;
std::optional<std::int64_t> get_int(const Object& object, std::string_view key) noexcept;
std::optional<std::int64_t> get_int_path(const Object& object, std::string_view dotted) noexcept;
std::optional<bool> get_bool(const Object& object, std::string_view key) noexcept;
const Object* get_object(const Object& object, std::string_view key) noexcept;
const Array* get_array(const Object& object, std::string_view key) noexcept;

// Return the member as an object or array. If it is absent or has another type, they first replace it by an empty one in the parent's
// memory resource.
Object& ensure_object(Object& parent, std::string_view key);
Array& ensure_array(Object& parent, std::string_view key);
// Removes a member and keeps the order of the other members (json::object::erase moves the last member into the gap). Returns true if the
// object had the member.
bool erase_member(Object& object, std::string_view key);

// Append or return compact JSON exactly as Go's encoding/json prints it: <, >, &, U+2028 and U+2029 are escaped, integers have no fraction,
// and floats have Go's format.
void append_json(std::string& out, const Value& value);
void append_json(std::string& out, const Object& object);
void append_json(std::string& out, const Array& array);
std::string to_json(const Value& value);
std::string to_json(const Object& object);
std::string to_json(const Array& array);
// Appends `text` as a quoted and escaped JSON string.
void append_json_string(std::string& out, std::string_view text);
// Returns `compact` indented by two spaces as Go's json.Indent does, with a trailing newline: the response to `?pretty=true`.
std::string pretty_json(std::string_view compact);

// Limit of the nesting depth of every JSON text that is parsed. Deeper texts are refused. Upstream's limit is 10,000; Boost's default is
// 32.
inline constexpr std::size_t kMaxJsonDepth = 1000;

}  // namespace BACKPLANE_API
