// Raw JSON: members of built-in kinds that keep the text that the client sent (upstream's runtime.RawExtension): `data` of a
// ControllerRevision, the parameters of devices. The text keeps white space, the notation of numbers, and the order and repetition of
// members: two raw values are equal if their texts are.
//
// In a tree a raw value is one node that holds its text (is_raw); other code treats it as a value without parts. JSON responses contain the
// compact text. The stored object contains the original text: a blank before the stored JSON marks this, so that readers need not search
// other objects for white space. An entry of such an object has the compact text as its JSON, and the original text in addition.
//
// Thread-safety: pure functions; kept_json() of an entry from any thread, set_kept_json() before the entry is shared.
// Lifetime:      texts are copied into the tree; views refer to the tree.
// Errors:        none: texts are parsed before they are stored.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/object.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

bool is_raw(const Value& value) noexcept;
std::string_view raw_text(const Value& raw) noexcept;
// `text` is JSON without surrounding white space.
Value make_raw(std::string_view text, json::storage_ptr storage);

// The text as Go's encoding/json prints a json.RawMessage: without white space, with <, >, & and U+2028/9 escaped.
void append_compact_json(std::string& out, std::string_view text);

// Replaces a raw value by the tree of its text, as Go decodes it into an interface{}: the last of repeated members counts, numbers are
// int64 or float64. Other values are unchanged.
void read_raw(Value& value);
// Replaces a raw object or list by an ordinary one, whose members stay raw if their text has more information than their value. The last of
// repeated members counts.
void open_raw(Value& value);
// Replaces a value that is not raw by the raw value that Go would write: compact, with sorted members.
void normalize_raw(Value& value);

// Changes every raw value inside a tree: read_raw_within() replaces it like read_raw(), for strategic merge patches and server-side apply;
// compact_raw_within() makes its text compact, for other patches.
void read_raw_within(Value& tree);
void compact_raw_within(Value& tree);

// Whether objects of the type can hold raw values.
bool holds_raw(const Schema* schema);
// `tree` was parsed from `json`: replaces its raw values by their text in `json`.
void keep_raw(const Schema* schema, Value& tree, std::string_view json);
// Like keep_raw(), for the values in a JSON patch, according to the paths of the operations.
void keep_raw_operations(const Schema* schema, Value& operations, std::string_view json);

// Appends the tree as JSON, with its raw values unchanged. Returns true if the text differs from to_json().
bool append_kept_json(std::string& out, const Value& value);
bool append_kept_json(std::string& out, const Object& object);
// The JSON of a value for storage, with its raw values unchanged: a blank precedes the text if it differs from to_json().
std::string kept_json(const Value& value);

// The JSON of an entry, with its raw values unchanged.
SharedBytes kept_json(const ObjectEntry& entry);
void set_kept_json(ObjectEntry& entry, SharedBytes json);
// The tree of an entry, with its raw values.
Object decode_kept(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage);

}  // namespace BACKPLANE_API
