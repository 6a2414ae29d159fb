// Checks the API groups of a running server: each type that discovery lists, with objects made from samples.
//
// Thread-safety: one thread, which must not belong to an executor.
// Errors:        kBadRequest: the samples cannot be read, a group has no types, or the server does not create the namespace.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "conformance/api.hpp"
#include "conformance/report.hpp"

namespace backplane::conformance {

struct Plan {
  ClientConfig server;              // with an administrator's credentials
  std::vector<std::string> groups;  // "widgets.example.com"; "" is the core group
  std::vector<Object> samples;      // a valid object of each type; types without a sample are checked for discovery and access only
  bool verbose = false;             // also prints the checks that hold
};

// Returns the objects of the YAML documents.
Result<std::vector<Object>> read_samples(std::string_view yaml);

// Creates a namespace for the objects of the checks, and deletes it at the end. Only types of the groups in `plan` are checked.
Result<Report> run_checks(const Plan& plan, std::ostream& out);

}  // namespace backplane::conformance
