// The names of time zones in the IANA database.
//
// They are compiled in, so that no file is read and every server accepts the same names.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::batch {

// The error of a time zone's name, with the text of Go's time.LoadLocation; empty: valid.
std::string time_zone_problem(std::string_view name);

}  // namespace backplane::batch
