// The names of time zones in the IANA database.
//
// They are in the program, so that no file has to be read, and every server takes the same.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace backplane::batch {

// What is wrong with the name of a time zone, in the words of Go's time.LoadLocation; empty: there is such a zone.
std::string time_zone_problem(std::string_view name);

}  // namespace backplane::batch
