// Administrative access to devices requires a label of the namespace.
//
// Thread-safety: const; any thread.
// Lifetime:      the host outlives the hooks.
#pragma once

#include "backplane/host.hpp"
#include "backplane/rest/store_hooks.hpp"

namespace backplane::resource {

// Refuses administrative access in a namespace without the label; the error is reported for `path`.
Task<void> check_admin_namespace(Host& host, RequestContext& context, std::string ns, std::string path, FieldErrors& errors);

// Checks claims and their templates on create.  Errors: kInvalid, like the other rules of the kind.
class AdminAccessHooks final : public StoreHooks {
 public:
  explicit AdminAccessHooks(Host& host) : host_(host) {}
  Task<Result<Begun>> begin_create(RequestContext& context, Object& object, bool dry_run) const override;

 private:
  Host& host_;
};

}  // namespace backplane::resource
