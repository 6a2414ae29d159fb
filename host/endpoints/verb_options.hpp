// Reads option objects from the query string, validated as metav1's and metainternalversion's validation do it.
//
// Thread-safety: pure functions.
// Errors:        400 for values that cannot be read, 422 for values that contradict each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/options.hpp"
#include "backplane/core/query.hpp"
#include "backplane/points/http.hpp"

namespace backplane::endpoints {

// `name`: the object that the path names (a watch of one object); it becomes a field selector.  Empty: the collection.
Result<ListOptions> list_options(const Query& query, std::string_view name);

enum class WriteVerb : unsigned char { kCreate, kUpdate, kPatch, kApply };
Result<WriteOptions> write_options(const Query& query, WriteVerb verb);

// ---- shared with the options that come in bodies

// dryRun values → the flag.  Errors go to `errors` under "dryRun".
bool check_dry_run(const std::vector<std::string>& values, FieldErrors& errors);
// metav1 conversion: absent is nothing, anything but "false" and "0" is true.
std::optional<bool> query_bool(const Query& query, std::string_view key);
// strconv.ParseInt; absent is nothing.
Result<std::optional<std::int64_t>> query_int(const Query& query, std::string_view key);
std::vector<std::string> query_all(const Query& query, std::string_view key);

}  // namespace backplane::endpoints
