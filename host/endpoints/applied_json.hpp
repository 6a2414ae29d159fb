// Reads apply configurations that are JSON, several times as fast as the YAML reader, which accepts them too.
//
// Thread-safety: pure functions; any thread.
// Lifetime:      results are in the storage that is given.
// Errors:        none: text that cannot be read is left to the YAML reader, which reports the error.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::endpoints {

// Returns the value if a YAML parser is certain to read the same value: compact ASCII JSON with integers only, short names without
// duplicates, and no escape that JSON and YAML read differently.
std::optional<Value> read_json_of_yaml(std::string_view text, const json::storage_ptr& storage);

}  // namespace backplane::endpoints
