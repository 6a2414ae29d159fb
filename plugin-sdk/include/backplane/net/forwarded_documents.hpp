// Discovery and OpenAPI of a group version that another server serves: ForwardedVersion::documents.
//
// Thread-safety: any thread; immutable once published. To publish new documents, forward the version again with them
//                (DynamicGroups::change).
// Lifetime:      the route table shares ownership as long as the version is forwarded.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct ForwardedDocuments {
  // The member `resources` of the version's APIVersionDiscovery (apidiscovery.k8s.io/v2). Set only valid members: unknown members are not
  // removed.
  Array resources;
  // Whether the last request to the other server succeeded.
  bool current = false;
  // OpenAPI v3 document of the other server in JSON; null if unknown.
  std::shared_ptr<const std::string> openapi_v3;
  // `paths`, `definitions` and `parameters` of the other server's OpenAPI v2 document, in JSON. It contains only this group version and the
  // definitions to which the version refers. Null if unknown.
  std::shared_ptr<const std::string> openapi_v2;
};

}  // namespace BACKPLANE_API
