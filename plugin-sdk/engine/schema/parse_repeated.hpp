// Reads a JSON text whose objects may repeat keys.
#pragma once

#include "backplane/types/schema.hpp"

namespace backplane::schema {

// `text` is valid JSON.  A repeated member is reported, merged or replaced as the report says (merged without one), and is placed where its
// last occurrence is.
Value parse_repeated(std::string_view text, json::storage_ptr storage, DecodeReport* report);

}  // namespace backplane::schema
