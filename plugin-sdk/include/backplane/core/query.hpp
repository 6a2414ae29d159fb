// Query strings of URLs.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// key=value pairs in the order of the query, percent-decoded as Go's net/url does.
using Query = std::vector<std::pair<std::string, std::string>>;
// `raw`: without the question mark.  Errors: kBadRequest `invalid URL escape "%zz"`.
Result<Query> parse_query(std::string_view raw);
// The pairs that can be parsed, as Go's Request.URL.Query() returns them; `error`: that of parse_query(), or ok.
Query parse_query_leniently(std::string_view raw, Status& error);
// The first value of `key`; empty if there is none.
std::string_view query_get(const Query& query, std::string_view key) noexcept;
bool query_has(const Query& query, std::string_view key) noexcept;
// `ok`, if it is not null, is set to false for an escape that is not two hexadecimal digits; such an escape is copied.
std::string percent_decode(std::string_view text, bool plus_is_space, bool* ok = nullptr);

}  // namespace BACKPLANE_API
