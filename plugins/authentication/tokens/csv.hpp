// Comma-separated values as Go's encoding/csv reads them by default: fields in quotes may contain commas, line breaks and "" for a quote;
// empty lines are skipped; records may have any number of fields.
//
// Thread-safety: pure function.
// Errors:        kBadRequest, worded like Go's ParseError: line, column, and what is wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::authentication {

Result<std::vector<std::vector<std::string>>> read_csv(std::string_view text);

}  // namespace backplane::authentication
