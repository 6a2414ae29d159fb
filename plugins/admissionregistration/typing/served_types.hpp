// The kinds of resources, and the schemas of kinds, as discovery and /openapi/v3 of a server publish them. An OpenAPI document is cached
// until the server publishes another version of it.
//
// Thread-safety: one executor; several calls may wait at the same time.
// Lifetime:      owns its client.
// Errors:        none: a resource or schema that does not exist or cannot be fetched is treated as absent, as by upstream's type checker.
// Source:        k8s.io/apiserver/pkg/cel/openapi/resolver, k8s.io/client-go/restmapper.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/net/client.hpp"

namespace backplane::admissionregistration {

// Reads the kinds and schemas of the server's state at the last refresh().
class ServedTypes {
 public:
  explicit ServedTypes(ApiClient api) : api_(std::move(api)) {}

  // Reads the list of the OpenAPI documents that the server publishes now. Call it before a series of calls of the other methods.
  Task<void> refresh();
  // The kinds of the resource; the singular name is accepted too. As in a RESTMapper, an empty group means every group that has the
  // version.
  Task<std::vector<GroupVersionKind>> kinds_of(GroupVersionResource resource);
  // The schema of the kind without references (populated_schema.hpp); nullopt if the server publishes none.
  Task<std::optional<Object>> schema_of(GroupVersionKind kind);

 private:
  struct Document {
    std::string url;  // with a hash of the content
    std::shared_ptr<const Object> content;
  };
  Task<std::shared_ptr<const Object>> fetch(std::string target);
  Task<std::shared_ptr<const Object>> openapi_of(GroupVersion version);
  Task<void> add_kind(GroupVersionResource resource, std::vector<GroupVersionKind>& out);

  ApiClient api_;
  std::map<std::string, std::string, std::less<>> urls_;                          // of OpenAPI documents, by path
  std::map<std::string, Document, std::less<>> documents_;                        // by path
  std::map<std::string, std::shared_ptr<const Object>, std::less<>> discovered_;  // since refresh(), by path
};

}  // namespace backplane::admissionregistration
