// `backplane plugin test --fuzz` and `--replay`: altered bodies for the kinds of a plugin, and files with the findings.
//
// Thread-safety: the main thread.
// Errors:        the exit code: 0 nothing was found, 1 otherwise; a line in `err` for what cannot be done.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "conformance/fuzz.hpp"

namespace backplane {

// "60s", "500ms", "2m"; nullopt if the text is not such a time.
std::optional<std::chrono::milliseconds> fuzz_time(std::string_view text);

// Writes each finding to `folder`/NUMBER.json.
int run_fuzz(const conformance::FuzzPlan& plan, const std::string& folder, std::ostream& out, std::ostream& err);
// Sends the requests of such files.
int run_replay(const ClientConfig& server, const std::vector<std::string>& files, std::ostream& out, std::ostream& err);

}  // namespace backplane
