// Determines the mutating policies that run again in the second pass of a write: those with reinvocationPolicy IfNeeded, if the object has
// changed after the call of the policy.
//
// Thread-safety: one request.
// Lifetime:      stored in AdmissionReinvocation, for all passes of a write.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/mutating/reinvocationcontext.go.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission::policies {

// One call of a policy: with a binding and a parameter.
struct InvocationKey {
  std::string policy, binding, param_namespace, param;
  auto operator<=>(const InvocationKey&) const = default;
};

class PolicyReinvocation {
 public:
  // The state of the write.
  static PolicyReinvocation& of(AdmissionReinvocation& write);

  bool runs_again(const InvocationKey& key) const { return again_.count(key) > 0; }
  // Whether `object` differs from the object after the last pass.
  bool has_changed(const Object& object) const { return last_ && *last_ != object; }
  void keep_last(const Object& object);
  void add(InvocationKey key) { invoked_.insert(std::move(key)); }
  // Call it when the object has changed: the policies that were called so far run again.
  void require_again();

 private:
  std::set<InvocationKey> invoked_, again_;
  std::optional<Object> last_;
};

}  // namespace backplane::admission::policies
