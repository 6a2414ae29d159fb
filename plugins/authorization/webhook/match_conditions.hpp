// The match conditions of an authorization webhook: CEL expressions over the variable `request`, the spec of a SubjectAccessReview v1.
//
// Thread-safety: immutable; any thread.
// Source:        k8s.io/apiserver/pkg/authorization/cel/{compile,matcher}.go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/cel.hpp"

namespace backplane::authorization {

class MatchConditions {
 public:
  static constexpr std::size_t kMost = 64;

  // Compiles the expressions, and adds their problems to `errors`, below `path`. Returns null if there are no expressions, or if none
  // compiles.
  static std::shared_ptr<const MatchConditions> compile(const std::vector<std::string>& expressions, const std::string& path,
                                                        FieldErrors& errors);

  struct Verdict {
    bool matches = false;
    Status error;  // of expressions that could not be evaluated; none if another expression is false
  };
  // `request`: condition_request() of the request.
  Verdict evaluate(const Value& request) const;
  // True if an expression may use the selectors of the request.
  bool uses_selectors() const noexcept { return uses_selectors_; }

 private:
  std::vector<std::shared_ptr<const cel::Program>> programs_;
  bool uses_selectors_ = false;
};

}  // namespace backplane::authorization
