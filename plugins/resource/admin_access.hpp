// Who asks for administrative access to devices needs a namespace that is labelled for it.
//
// Thread-safety: const; any thread.
// Lifetime:      needs the Host.
#pragma once

#include "backplane/host.hpp"
#include "backplane/rest/store_hooks.hpp"

namespace backplane::resource {

// Refuses administrative access in a namespace that has no label for it; `path` is blamed.
Task<void> check_admin_namespace(Host& host, RequestContext& context, std::string ns, std::string path, FieldErrors& errors);

// Looks at claims and their templates when they are made.  Errors: kInvalid, as other rules of the kind give it.
class AdminAccessHooks final : public StoreHooks {
 public:
  explicit AdminAccessHooks(Host& host) : host_(host) {}
  Task<Result<Begun>> begin_create(RequestContext& context, Object& object, bool dry_run) const override;

 private:
  Host& host_;
};

}  // namespace backplane::resource
