// What the variables `authorizer` and `authorizer.requestResource` of expressions stand for: somebody who answers at once.
//
// An expression is run without waiting: whoever binds an authorizer brings one that can answer from memory.  Where checks need other
// servers, answer them before the run (the questions that an expression can ask of constants are in its text), or refuse them with an
// error.
//
// Thread-safety: check() may be called from any thread that runs a program.
// Lifetime:      shared with the binding.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/types/cel.hpp"

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

// One question, as SubjectAccessReview asks it.
struct AccessQuestion {
  // Not empty: asked for this service account and not for the user that the authorizer was made for.
  std::string_view account_namespace, account;
  std::string_view verb;
  bool resource_request = false;
  std::string_view path;  // of other requests
  std::string_view group, resource, subresource, namespace_name, name;
  // As the expression gives them; empty: none.  What does not parse counts as none.
  std::string_view field_selector, label_selector;
};

struct AccessAnswer {
  bool allowed = false;
  std::string reason;
  std::string error;  // not empty: the check has failed
};

class Authorizer : public HostValue {
 public:
  ~Authorizer() override;
  virtual AccessAnswer check(const AccessQuestion& question) const = 0;
};

// `authorizer.requestResource`: a check with the request's own resource filled in.
class RequestResource : public HostValue {
 public:
  RequestResource(std::shared_ptr<const Authorizer> authorizer, std::string group, std::string resource, std::string subresource,
                  std::string namespace_name, std::string name);
  ~RequestResource() override;
  const Authorizer& authorizer() const noexcept { return *authorizer_; }
  AccessQuestion question() const noexcept;

 private:
  std::shared_ptr<const Authorizer> authorizer_;
  std::string group_, resource_, subresource_, namespace_, name_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
