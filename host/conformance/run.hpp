// Conformance of API groups of a running server: every type of a group, by discovery, with objects of samples.
//
// Thread-safety: one thread, which must not belong to an executor.
// Errors:        kBadRequest for samples that cannot be read and groups without types; a server that cannot be reached is a failed check.
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
  std::vector<Object> samples;      // a valid object of each type; a type without one is checked by discovery and access alone
  bool verbose = false;             // prints checks that hold, too
};

// The objects of YAML documents.
Result<std::vector<Object>> read_samples(std::string_view yaml);

// Creates a namespace for its objects and deletes it at the end. Types of groups that `plan` does not name are not checked.
Result<Report> run_checks(const Plan& plan, std::ostream& out);

}  // namespace backplane::conformance
