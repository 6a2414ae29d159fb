// The policy of the mode ABAC (--authorization-policy-file): one object per line, in JSON or YAML, of the kind Policy of
// abac.authorization.kubernetes.io/v1beta1, or in the older form (v0), which needs no version.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest `error reading policy file FILE, line N: LINE: …`.
// Source:        kubernetes pkg/auth/authorizer/abac/abac.go, pkg/apis/abac/{v0,v1beta1}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::authorization {

// "*" matches everything; an empty member matches only an empty value.
struct AbacRule {
  std::string user, group;  // a rule that sets neither matches no user
  bool readonly = false;    // get, list and watch only
  std::string api_group, resource, ns, path;
};

struct AbacPolicy {
  std::vector<AbacRule> rules;
  std::size_t unversioned = 0;  // number of lines without a version
};

Result<AbacPolicy> parse_abac_policy(std::string_view text, const std::string& file);
// Errors: also that of a file that cannot be opened.
Result<AbacPolicy> read_abac_policy(const std::string& file);

}  // namespace backplane::authorization
