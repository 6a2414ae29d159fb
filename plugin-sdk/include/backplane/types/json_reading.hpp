// JSON texts into trees, and the depth that no tree of the server passes: whatever walks one may recurse.
//
// Thread-safety: pure functions.
// Errors:        read_json() gives nothing for what is malformed or nested too deeply; UnreadableObject ends the request that met it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The tree of one text.  Boost's own limit of 32 levels is less than stored objects have; this one is kMaxJsonDepth.
std::optional<Value> read_json(std::string_view text, json::storage_ptr storage = {});

// Appends what stands between the quotes of a JSON string, with its escapes taken out.  What is malformed in it gives some text or other.
void append_json_unescaped(std::string& out, std::string_view content);

// Whether more than `levels` containers stand within each other ({} is one level, a text none).  Looks no deeper than that.
bool nests_deeper(const Value& value, std::size_t levels) noexcept;
bool nests_deeper(const Object& object, std::size_t levels) noexcept;

// What decode() throws of an entry whose bytes are no object: it must not pass for one without finalizers, owners or content.
class UnreadableObject : public std::runtime_error {
 public:
  explicit UnreadableObject(std::string_view key);
  ~UnreadableObject() override;
};

}  // namespace BACKPLANE_API
