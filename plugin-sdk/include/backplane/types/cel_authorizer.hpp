// The authorizer that the variables `authorizer` and `authorizer.requestResource` of expressions call. An expression is evaluated without
// waiting, so the authorizer must decide from memory. If a check needs another server, make the check before the run (the arguments of
// checks are constants in the expression), or return an error.
//
// Thread-safety: check() may be called from any thread that runs a program.
// Lifetime:      shared with the binding.
// Errors:        AccessAnswer::error makes the expression fail.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/types/cel.hpp"

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

// One check, as in a SubjectAccessReview. The texts are views that are valid during the call of check().
struct AccessQuestion {
  // If not empty: the check is for this service account instead of the authorizer's user.
  std::string_view account_namespace, account;
  std::string_view verb;
  bool resource_request = false;  // true: group, resource, subresource, namespace_name, name and the selectors apply; false: `path` applies
  std::string_view path;          // the path of a non-resource request
  std::string_view group, resource, subresource, namespace_name, name;
  // The texts of the expression; empty: no selector. A selector that cannot be parsed is ignored.
  std::string_view field_selector, label_selector;
};

// The result of a check.
struct AccessAnswer {
  bool allowed = false;
  std::string reason;
  std::string error;  // not empty: the check failed
};

// Derive from it to implement checks.
class Authorizer : public HostValue {
 public:
  ~Authorizer() override;
  // Decides without waiting. Called during the evaluation of an expression, once for each check in the expression.
  virtual AccessAnswer check(const AccessQuestion& question) const = 0;
};

// `authorizer.requestResource`: a check for the request's resource.
class RequestResource : public HostValue {
 public:
  RequestResource(std::shared_ptr<const Authorizer> authorizer, std::string group, std::string resource, std::string subresource,
                  std::string namespace_name, std::string name);
  ~RequestResource() override;
  const Authorizer& authorizer() const noexcept { return *authorizer_; }
  // Returns the check without a verb and without an account. Its texts are views into this object.
  AccessQuestion question() const noexcept;

 private:
  std::shared_ptr<const Authorizer> authorizer_;
  std::string group_, resource_, subresource_, namespace_, name_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
