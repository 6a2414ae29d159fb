// Reads a JSON text whose objects may repeat keys.
#pragma once

#include "backplane/types/schema.hpp"

namespace backplane::schema {

// `text` is valid JSON.  `report` selects whether a repeated member is reported, merged or replaced (null: merged). The member is at the
// position of its last occurrence.
Value parse_repeated(std::string_view text, json::storage_ptr storage, DecodeReport* report);

}  // namespace backplane::schema
