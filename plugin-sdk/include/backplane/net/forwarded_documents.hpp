// Discovery and OpenAPI of a group version that another server serves: ForwardedVersion::documents.
//
// Thread-safety: any thread; immutable once published. To publish new documents, forward the version again with them
//                (DynamicGroups::change).
// Lifetime:      the route table owns a reference as long as the version is forwarded.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct ForwardedDocuments {
  // `resources` of the version's APIVersionDiscovery (apidiscovery.k8s.io/v2). Unknown members are not filtered here: set valid ones only.
  Array resources;
  // Whether the last request to the other server succeeded.
  bool current = false;
  // Its OpenAPI v3 document in JSON; null if unknown.
  std::shared_ptr<const std::string> openapi_v3;
  // `paths`, `definitions` and `parameters` of its OpenAPI v2 document in JSON, limited to this group version and what it refers to; null
  // if unknown.
  std::shared_ptr<const std::string> openapi_v2;
};

}  // namespace BACKPLANE_API
