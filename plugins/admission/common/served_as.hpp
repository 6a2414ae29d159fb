// A resource under which the objects of a write are served: the resource of the request, or an equivalent resource that a rule names. Also
// its type.
//
// Thread-safety: values; any thread.
// Lifetime:      a ServedType keeps the storage that its schema belongs to.
// Errors:        none.
// Source:        Interfaces of k8s.io/apiserver/pkg/admission (defaulter, equivalent resource mapper).
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission {

struct ServedAs {
  GroupVersionResource resource;
  GroupVersionKind kind;  // empty: not known
  auto operator<=>(const ServedAs&) const = default;
};

// The type of the objects, which may be a kind that only subresources have (Scale, Binding).
struct ServedType {
  GroupVersionKind kind;
  const Schema* schema = nullptr;  // null: unknown, objects are not changed
  std::shared_ptr<RestStorage> storage;
  // Sets the defaults of the kind.
  void set_defaults(Value& object) const;
};
ServedType served_type(const Host& host, const GroupVersionResource& resource, const GroupVersionKind& kind);

}  // namespace backplane::admission
