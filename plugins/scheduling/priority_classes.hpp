// The storage of PriorityClasses: a DELETE of a system class is refused; a DELETE of the collection is permitted, as upstream.
//
// Thread-safety: that of the store.
// Errors:        kForbidden from remove().
// Source:        k8s.io/kubernetes/pkg/registry/scheduling/priorityclass/storage.
#pragma once

#include "backplane/kit/forwarding_storage.hpp"

namespace backplane::scheduling {

class PriorityClasses final : public kit::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override;
};

}  // namespace backplane::scheduling
