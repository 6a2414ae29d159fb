// Discovery and OpenAPI of a group version that another server serves: a role of ForwardedVersion::handler. Without it, discovery lists
// the version as stale and without resources.
//
// Thread-safety: any thread; the returned values never change. To publish new documents, forward the version again with a new handler
//                (DynamicGroups::change).
// Lifetime:      retained by the route table as long as the handler.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Implemented by the aggregator's handlers.
class ForwardedDocuments {
 public:
  virtual ~ForwardedDocuments();
  // `resources` of the version's APIVersionDiscovery (apidiscovery.k8s.io/v2). Unknown members are not filtered here: return valid ones
  // only.
  virtual const Array& resources() const = 0;
  // Whether the last request to the other server succeeded.
  virtual bool current() const = 0;
  // Its OpenAPI v3 document in JSON; null if unknown.
  virtual std::shared_ptr<const std::string> openapi_v3() const = 0;
  // `paths`, `definitions` and `parameters` of its OpenAPI v2 document in JSON, limited to this group version and what it refers to; null
  // if unknown.
  virtual std::shared_ptr<const std::string> openapi_v2() const = 0;
};

}  // namespace BACKPLANE_API
