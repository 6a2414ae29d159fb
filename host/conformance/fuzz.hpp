// Sends requests with odd bodies to the types of some groups, on several connections at once, for a given time.
//
// Thread-safety: one thread, which must not belong to an executor.
// Errors:        kBadRequest if there is no type with a sample; faults of the server are findings.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "conformance/fuzz_finding.hpp"

namespace backplane::conformance {

struct FuzzPlan {
  ClientConfig server;              // with an administrator's credentials
  std::vector<std::string> groups;  // "widgets.example.com"
  std::vector<Object> samples;      // a valid object of each type; types without one are left out
  std::chrono::milliseconds duration{60'000};
  std::size_t connections = 4;
  std::uint32_t seed = 1;
  bool odd = true;  // false: valid bodies only, so that sanitizers see the code of concurrent requests
};

struct FuzzReport {
  std::size_t requests = 0;
  std::vector<FuzzFinding> findings;  // at most kMostFindings; the first fault of a connection ends it if the server is gone
};
inline constexpr std::size_t kMostFindings = 20;

// The objects are in the namespace "fuzz", which is created and stays.
Result<FuzzReport> fuzz(const FuzzPlan& plan);

}  // namespace backplane::conformance
