// Reads an audit policy file (--audit-policy-file): YAML or JSON, strictly decoded and validated.
//
// As upstream, unknown and duplicate fields are not errors. They are ignored, and the caller logs them (LoadedPolicy::problems).
// Thread-safety: pure functions; load_policy() blocks for a small file.
// Errors:        kBadRequest worded as upstream's, with the name of the file.
// Source:        k8s.io/apiserver/pkg/audit/policy/reader.go, pkg/apis/audit/validation.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "policy.hpp"

namespace backplane::audit {

struct LoadedPolicy {
  std::shared_ptr<const CompiledPolicy> policy;
  std::string problems;  // fields that have been ignored
};

Result<LoadedPolicy> load_policy(const std::string& file);
// Reads the text of a file.
Result<LoadedPolicy> parse_policy(std::string_view text);

}  // namespace backplane::audit
