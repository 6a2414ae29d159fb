// What is known of a group version that another server answers for: a role of ForwardedVersion::handler.  A handler without it is listed in
// discovery as stale, without resources.
//
// Thread-safety: any thread; what it gives does not change.  When something else is known, the version is forwarded anew by another handler
//                (DynamicGroups::change).
// Lifetime:      kept by the route table as long as the handler.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class ForwardedDocuments {
 public:
  virtual ~ForwardedDocuments();
  // The `resources` of its APIVersionDiscovery (apidiscovery.k8s.io/v2), each with the members that kind has and no others.
  virtual const Array& resources() const = 0;
  // Whether the other server could be asked the last time.
  virtual bool current() const = 0;
  // Its OpenAPI v3 document, JSON; null: none is known.
  virtual std::shared_ptr<const std::string> openapi_v3() const = 0;
  // `paths`, `definitions` and `parameters` of its OpenAPI v2 document, JSON: the paths of this group version alone, and what they refer
  // to. Null: none is known.
  virtual std::shared_ptr<const std::string> openapi_v2() const = 0;
};

}  // namespace BACKPLANE_API
