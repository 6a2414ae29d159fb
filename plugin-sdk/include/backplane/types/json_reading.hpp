// Parses JSON texts, with the limit of the nesting depth (kMaxJsonDepth) that makes recursive walks over any tree of the server safe.
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

// Appends the decoded content of a JSON string, given without its quotes. Malformed escapes give unspecified text.
void append_json_unescaped(std::string& out, std::string_view content);

// True if containers are nested more than `levels` deep ({} is one level, a string none). The walk stops at that depth.
bool nests_deeper(const Value& value, std::size_t levels) noexcept;
bool nests_deeper(const Object& object, std::size_t levels) noexcept;

// Thrown by decode() for an entry whose bytes are not a JSON object. It ends the request with 500, so that no caller takes the object for
// one without finalizers or owners.
class UnreadableObject : public std::runtime_error {
 public:
  // `key`: the storage key, which what() quotes.
  explicit UnreadableObject(std::string_view key);
  ~UnreadableObject() override;
};

}  // namespace BACKPLANE_API
