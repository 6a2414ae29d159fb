// Resolves a kind to its resource with the discovery documents (upstream: RESTMapper, resolver.ResourceResolver).
//
// Thread-safety: resolve() may be called from any executor.
// Lifetime:      shares ownership of its client.
// Errors:        kNotFound if no group version lists the kind; those of the call.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/net/client.hpp"

namespace backplane::kit {

struct ResolvedResource {
  GroupVersionResource resource;
  bool namespaced = false;
};

// Parses "apps/v1" or "v1". Errors: kBadRequest with apimachinery's text ("unexpected GroupVersion string: a/b/c").
Result<GroupVersion> parse_group_version(std::string_view api_version);

class ResourceResolver {
 public:
  explicit ResourceResolver(std::shared_ptr<HttpClient> client) : api_(std::move(client)) {}
  Task<Result<ResolvedResource>> resolve(std::string api_version, std::string kind);

 private:
  ApiClient api_;
};

}  // namespace backplane::kit
