// The values of variables for all policies of one write, made when a policy first needs them. A value may require waiting: a namespace that
// is not cached, an object in another version, or a check of an authorizer. Then the wait is recorded, and the caller drops its attempt,
// awaits wait(), and begins again.
//
// Thread-safety: one request.
// Lifetime:      borrows source, attributes and the objects of the attributes; values live as long as the PolicyRequest.
// Errors:        those of the look-ups; see each method.
// Source:        k8s.io/apiserver/pkg/admission/plugin/cel (activation.go, condition.go) and …/policy/matching.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "common/access_checks.hpp"
#include "common/versioned_objects.hpp"
#include "policies/policy_source.hpp"

namespace backplane::admission::policies {

// The objects of the write in the version that a rule names.
struct NamedObjects : VersionedObjects {
  const ServedAs* as = nullptr;  // null: the version of the request
};

class PolicyRequest {
 public:
  PolicyRequest(PolicySource& source, const AdmissionAttributes& attributes)
      : source_(source), attributes_(attributes), versions_(source.host(), attributes) {}

  const AdmissionAttributes& attributes() const noexcept { return attributes_; }
  bool waits() const noexcept {
    return waits_for_namespace_ || waits_for_params_ != nullptr || waits_for_version_ != nullptr || waits_for_access();
  }
  Task<void> wait();

  // ---- matching
  struct Matched {
    bool matches = false;
    const ServedAs* as = nullptr;  // the version that the rule names; null: that of the request
    std::string problem;           // not empty: an error of the match
  };
  Matched match(const ResolvedMatch& match);

  // ---- values
  // The namespace of the write, for namespaceObject; null for cluster-scoped objects and for namespaces. Errors: kNotFound.
  Result<ObjectRef> namespace_object();
  // The objects in the version of `as`. Errors: those of the conversion.
  Result<NamedObjects> versioned(const ServedAs* as);
  CollectedParams params(const Policy& policy, const Binding& binding, ParamStore* store);

  // ---- variables of one evaluation
  enum class Audience : unsigned char { kConditions, kExpressions, kMessages };
  struct Bindings {
    std::array<cel::ScopeBinding, 7> list;
    std::size_t size = 0;
    std::span<const cel::ScopeBinding> span() const noexcept { return {list.data(), size}; }
  };
  Bindings bindings(const Policy& policy, const NamedObjects& objects, const ObjectTreeRef& params, Audience audience);

 private:
  bool waits_for_access() const noexcept { return access_ != nullptr && access_->waits(); }
  bool namespace_matches(const LabelSelector& selector, std::string& problem);
  Result<ObjectRef> find_namespace();
  const Object* namespace_tree();
  const Value& request_value(const ServedAs* resource, const ServedAs* kind);
  AccessChecks& access();
  Task<void> read_namespace();
  Task<void> convert();
  Task<void> await_params();

  PolicySource& source_;
  const AdmissionAttributes& attributes_;
  // The namespace that was read from the store because the cache does not have it.
  std::optional<Result<ObjectRef>> stored_namespace_;
  ObjectTreeRef namespace_tree_;
  VersionedViews versions_;
  struct RequestTree {
    const ServedAs *resource = nullptr, *kind = nullptr;
    std::unique_ptr<Value> value;
  };
  std::vector<RequestTree> requests_;
  std::shared_ptr<AccessChecks> access_;
  std::shared_ptr<cel::RequestResource> request_resource_;
  std::vector<ParamStore*> timed_out_;
  bool waits_for_namespace_ = false;
  ParamStore* waits_for_params_ = nullptr;
  const ServedAs* waits_for_version_ = nullptr;
};

}  // namespace backplane::admission::policies
