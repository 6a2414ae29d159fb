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

// The value, where it is certain that YAML reads the text as the same: compact JSON of ASCII, with whole numbers, short names, each once
// in its object, and no escapes of which the two think differently.
std::optional<Value> read_json_of_yaml(std::string_view text, const json::storage_ptr& storage);

}  // namespace backplane::endpoints
