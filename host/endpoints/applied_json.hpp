// Parses apply configurations that are JSON. This is several times as fast as the YAML parser, which also accepts them.
//
// Thread-safety: pure functions; any thread.
// Lifetime:      the result uses the given storage.
// Errors:        none. If the result is nullopt, the caller uses the YAML parser, which also reports errors.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::endpoints {

// Returns the value only if a YAML parser certainly returns the same value. The text must be compact ASCII JSON that has only integers,
// short names, no duplicate names, and no escapes that JSON and YAML interpret differently.
std::optional<Value> read_json_of_yaml(std::string_view text, const json::storage_ptr& storage);

}  // namespace backplane::endpoints
