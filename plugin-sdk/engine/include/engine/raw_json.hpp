// Raw JSON: members of built-in kinds that are kept as the text that was sent (upstream's runtime.RawExtension): `data` of a
// ControllerRevision, the parameters of devices.  Blanks, ways to write a number, the order of members and repeated ones are part of what
// is kept: two such values are the same when their texts are.
//
// In a tree a raw value is one node that holds its text (is_raw); everything else takes it for a value without parts.  Answers in JSON show
// the text compact.  The stored value has it as it was sent: such an object is written with a blank before it, so that readers need not
// look for blanks in all others; an entry made of it has the compact text as its JSON, and the original one in addition.
//
// Thread-safety: pure functions; kept_json() of an entry from any thread, set_kept_json() before the entry is shared.
// Lifetime:      texts are copied into the tree; views are into it.
// Errors:        none: texts have been read before they are kept.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/object.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

bool is_raw(const Value& value) noexcept;
std::string_view raw_text(const Value& raw) noexcept;
// `text` is JSON, without blanks around it.
Value make_raw(std::string_view text, json::storage_ptr storage);

// The text as Go's encoding/json shows a json.RawMessage: without blanks, with <, >, & and U+2028/9 escaped.
void append_compact_json(std::string& out, std::string_view text);

// A raw value becomes the tree of its text, as Go reads it into an interface{}: the last of repeated members counts, numbers are int64 or
// float64.  Others stay as they are.
void read_raw(Value& value);
// A raw object or list becomes one whose members are raw if their text has more information than their value; of repeated members the last
// is used.
void open_raw(Value& value);
// Any other value becomes the raw one that Go would write: compact, the members of objects sorted.
void settle_raw(Value& value);

// The same for every raw value inside of a tree: what a strategic merge patch and server-side apply work on, and what other patches do.
void read_raw_within(Value& tree);
void compact_raw_within(Value& tree);

// Whether objects of the type can hold raw values.
bool holds_raw(const Schema* schema);
// Replaces the raw values of `tree`, which was parsed from `json`, by their text in `json`.
void keep_raw(const Schema* schema, Value& tree, std::string_view json);
// The same for the values of a JSON patch's operations, by where they go.
void keep_raw_operations(const Schema* schema, Value& operations, std::string_view json);

// The tree as JSON with its raw values as they were sent.  True when that is another text than to_json() gives.
bool append_kept_json(std::string& out, const Value& value);
bool append_kept_json(std::string& out, const Object& object);
// The same to be stored: with a blank in front when it is another.
std::string kept_json(const Value& value);

// The JSON of an entry with its raw values as they were sent.
SharedBytes kept_json(const ObjectEntry& entry);
void set_kept_json(ObjectEntry& entry, SharedBytes json);
// A tree of it; its raw values are kept.
Object decode_kept(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage);

}  // namespace BACKPLANE_API
