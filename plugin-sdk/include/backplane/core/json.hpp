// JSON trees and what every folder does with them.
//
// An object in flight is a boost::json tree in a request-scoped arena; an object at rest is bytes (architecture §4).
// Thread-safety: a tree belongs to one request.
// Lifetime:      trees live in the storage they were made in: keep the arena longer than the tree.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

namespace json = boost::json;
using Value = json::value;
using Object = json::object;
using Array = json::array;

// The member, or null when it is absent.  `path` members are walked through objects only.
const Value* find(const Object& object, std::string_view key) noexcept;
Value* find(Object& object, std::string_view key) noexcept;
const Value* find_path(const Object& object, std::initializer_list<std::string_view> path) noexcept;
// The same for a dotted path ("spec.nodeName"); keys that hold dots cannot be named so.
const Value* find_path(const Object& object, std::string_view dotted) noexcept;

// Typed reads: empty / fallback when absent or of another type.
std::string_view get_string(const Object& object, std::string_view key) noexcept;
std::string_view get_string_path(const Object& object, std::string_view dotted) noexcept;
std::optional<std::int64_t> get_int(const Object& object, std::string_view key) noexcept;
std::optional<std::int64_t> get_int_path(const Object& object, std::string_view dotted) noexcept;
std::optional<bool> get_bool(const Object& object, std::string_view key) noexcept;
const Object* get_object(const Object& object, std::string_view key) noexcept;
const Array* get_array(const Object& object, std::string_view key) noexcept;

// The member as an object / array, made (in the parent's storage) when absent or of another type.
Object& ensure_object(Object& parent, std::string_view key);
Array& ensure_array(Object& parent, std::string_view key);
// Removes a member and keeps the order of the others (Object::erase moves the last one into the gap).  Returns whether it was there.
bool erase_member(Object& object, std::string_view key);

// Compact JSON as Go's encoding/json prints it: <, >, & and U+2028/9 escaped as \u003c…, integers without fraction, floats in Go's form.
void append_json(std::string& out, const Value& value);
void append_json(std::string& out, const Object& object);
void append_json(std::string& out, const Array& array);
std::string to_json(const Value& value);
std::string to_json(const Object& object);
std::string to_json(const Array& array);
void append_json_string(std::string& out, std::string_view text);
// Go's json.Indent with two spaces, and a trailing newline: what `?pretty=true` answers.
std::string pretty_json(std::string_view compact);

// Limits of every parse: nesting depth (boost's default is 32; upstream allows 10,000 and refuses deeper).
inline constexpr std::size_t kMaxJsonDepth = 1000;

}  // namespace BACKPLANE_API
