// Evaluates a pod against the checks of a level and a policy version.
//
// Thread-safety: pure functions.
// Source:        k8s.io/pod-security-admission/policy (registry.go, checks.go).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podsecurity/checks.hpp"
#include "podsecurity/levels.hpp"

namespace backplane::admission::podsecurity {

// One revision of a check. The rows are in the order of the findings: baseline before restricted, each sorted by id; revisions ascending.
struct CheckRow {
  std::string_view id;
  Level level;
  std::int64_t since;  // v1.`since`
  Check check;
  std::string_view overrides = {};  // the baseline check that is skipped if this one runs
};
std::span<const CheckRow> check_table() noexcept;

// The findings of the checks that forbid the pod.
class Verdict {
 public:
  explicit Verdict(std::vector<Finding> findings) : findings_(std::move(findings)) {}
  bool allowed() const noexcept { return findings_.empty(); }
  // "host ports, privileged"
  std::string reasons() const;
  // "host ports (8080, 9090), privileged"
  std::string details() const;

 private:
  std::vector<Finding> findings_;
};

Verdict evaluate(const LevelVersion& policy, const Object& metadata, const Object& spec);

}  // namespace backplane::admission::podsecurity
