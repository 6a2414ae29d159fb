// Sends requests with altered bodies to the types of some groups, on several connections at once, for a given time.
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
  std::vector<Object> samples;      // a valid object of each type; types without a sample receive no requests
  std::chrono::milliseconds duration{60'000};
  std::size_t connections = 4;
  std::uint32_t seed = 1;
  bool odd = true;  // false: only valid bodies are sent, so that sanitizers check concurrent requests that succeed
};

struct FuzzReport {
  std::size_t requests = 0;
  std::vector<FuzzFinding> findings;  // a few more than kMostFindings at most
};
inline constexpr std::size_t kMostFindings = 20;

// Sends requests until the time is over or there are kMostFindings findings. A connection also ends when the server does not answer
// GET /livez. The objects are in the namespace "fuzz", which fuzz() creates and does not delete.
Result<FuzzReport> fuzz(const FuzzPlan& plan);

}  // namespace backplane::conformance
