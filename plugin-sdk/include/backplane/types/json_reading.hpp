// Parses JSON texts. The nesting depth is limited (kMaxJsonDepth), so that recursive functions are safe for every tree that the server
// parses.
//
// Thread-safety: pure functions.
// Errors:        read_json() returns nullopt for malformed or too deeply nested text.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Parses one JSON text into a tree in `storage`.
std::optional<Value> read_json(std::string_view text, json::storage_ptr storage = {});

// Appends the decoded content of a JSON string. `content` is the text between the quotes. The result of malformed escapes is unspecified.
void append_json_unescaped(std::string& out, std::string_view content);

// True if objects and arrays are nested more than `levels` deep ({} is one level, a string none). Does not descend further than that depth.
bool nests_deeper(const Value& value, std::size_t levels) noexcept;
bool nests_deeper(const Object& object, std::size_t levels) noexcept;

// Thrown by decode() for an entry whose bytes are not a JSON object. The request ends with 500, so that no caller treats the object as one
// without finalizers or owners.
class UnreadableObject : public std::runtime_error {
 public:
  // `key`: the storage key; what() contains it in quotes.
  explicit UnreadableObject(std::string_view key);
  ~UnreadableObject() override;
};

}  // namespace BACKPLANE_API
