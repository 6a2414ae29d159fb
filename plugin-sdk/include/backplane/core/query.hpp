// Query strings of URLs, parsed as Go's net/url parses them.
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

// key=value pairs in the order of the query string, percent-decoded. A key may occur more than once.
//
//   "limit=5&watch&labelSelector=a%3Db"  →  {"limit", "5"}, {"watch", ""}, {"labelSelector", "a=b"}
using Query = std::vector<std::pair<std::string, std::string>>;
// `raw`: the query string without the question mark.
// Errors: kBadRequest, with a text such as `invalid URL escape "%zz"`, for the first malformed pair.
Result<Query> parse_query(std::string_view raw);
// All well-formed pairs, as Go's Request.URL.Query() returns them. `error` is set to the error of parse_query(), or to ok.
Query parse_query_leniently(std::string_view raw, Status& error);
// The first value of `key`; empty if the key is absent. The view is valid as long as `query`.
std::string_view query_get(const Query& query, std::string_view key) noexcept;
// True if `key` occurs, with or without a value.
bool query_has(const Query& query, std::string_view key) noexcept;
// Decodes %XX; decodes '+' as a space if `plus_is_space`. If an escape is malformed, it is copied unchanged, and *ok is set to false unless
// `ok` is null.
std::string percent_decode(std::string_view text, bool plus_is_space, bool* ok = nullptr);

}  // namespace BACKPLANE_API
