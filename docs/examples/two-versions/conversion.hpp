// The conversions of tickets between v1 and v2.
#pragma once

#include <backplane/core/json.hpp>
#include <backplane/core/status.hpp>

#include <string>
#include <string_view>

using namespace backplane;

Status v1_to_v2(Object& ticket);
Status v2_to_v1(Object& ticket);
// "12C": a row, and a letter in `letter`. 0: the text is no seat.
std::int64_t read_seat(std::string_view text, std::string& letter);
