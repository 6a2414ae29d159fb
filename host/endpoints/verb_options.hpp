// Parses options from the query string, and validates them like upstream's packages metav1 and metainternalversion.
//
// Thread-safety: pure functions.
// Errors:        400 if a value cannot be parsed; 422 if values are invalid or contradict each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/options.hpp"
#include "backplane/core/query.hpp"
#include "backplane/points/http.hpp"

namespace backplane::endpoints {

// `name`: the object that the path names, in a watch of one object. It becomes a field selector. Empty: the collection.
Result<ListOptions> list_options(const Query& query, std::string_view name);

enum class WriteVerb : unsigned char { kCreate, kUpdate, kPatch, kApply };
Result<WriteOptions> write_options(const Query& query, WriteVerb verb);

// ---- also used for options in bodies

// Converts the values of dryRun to a flag. Adds errors about the field "dryRun" to `errors`.
bool check_dry_run(const std::vector<std::string>& values, FieldErrors& errors);
// Like metav1's conversion: nullopt if the parameter is absent; every value except "false" and "0" is true.
std::optional<bool> query_bool(const Query& query, std::string_view key);
// Like strconv.ParseInt; nullopt if the parameter is absent.
Result<std::optional<std::int64_t>> query_int(const Query& query, std::string_view key);
std::vector<std::string> query_all(const Query& query, std::string_view key);

}  // namespace backplane::endpoints
