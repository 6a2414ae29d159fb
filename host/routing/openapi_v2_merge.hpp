// The OpenAPI v2 documents of other servers, merged as kube-aggregator merges them
// (MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters): a definition or parameter whose name another one has is renamed NAME_v2.
//
// A definition of Kubernetes' libraries (io.k8s.…) or a shared parameter is not renamed if this server has one with the same name: they are
// taken as equal although their descriptions may differ.
//
// Thread-safety: one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "routing/route_table.hpp"

namespace backplane {

// The document of a forwarded version's server: paths, definitions, parameters.  Null: it is not forwarded, or not known yet.
std::shared_ptr<const std::string> forwarded_document_v2(const VersionTable& version);

class OpenApiV2Merge {
 public:
  // `is_own`: whether this server has a definition of that name.
  explicit OpenApiV2Merge(std::function<bool(std::string_view name)> is_own) : is_own_(std::move(is_own)) {}

  // `part`: paths, definitions and parameters.  Returns the paths, with references to what the definitions are called now.
  Object add(Object part);
  const Object& definitions() const noexcept { return definitions_; }
  const Object& parameters() const noexcept { return parameters_; }

 private:
  const std::function<bool(std::string_view name)> is_own_;
  Object definitions_, parameters_;
};

}  // namespace backplane
