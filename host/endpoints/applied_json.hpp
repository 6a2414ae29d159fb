// Configurations that are JSON, which are read several times as fast as the YAML that they are, too.
//
// Thread-safety: pure functions; any thread.
// Lifetime:      results are in the storage that is given.
// Errors:        none: what cannot be read here is for the reader of YAML, who tells what is wrong with it.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::endpoints {

// The value, where it is certain that YAML reads the text as the same: compact JSON of ASCII, with whole numbers, short names, each once
// in its object, and no escapes of which the two think differently.
std::optional<Value> read_json_of_yaml(std::string_view text, const json::storage_ptr& storage);

}  // namespace backplane::endpoints
