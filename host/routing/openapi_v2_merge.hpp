// Merges the OpenAPI v2 documents of other servers, like kube-aggregator's function
// MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters. If two definitions or parameters have the same name and differ, the second
// is renamed NAME_v2.
//
// Two exceptions: a definition of Kubernetes' libraries (io.k8s.…) and a shared parameter are not renamed if this server has one of the
// same name. They are assumed to be equal, although their descriptions may differ.
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

// Returns the v2 document of a forwarded version: its paths, definitions and parameters. Null: the version is not forwarded, or the
// document is not known.
std::shared_ptr<const std::string> forwarded_document_v2(const VersionTable& version);

class OpenApiV2Merge {
 public:
  // `is_own`: returns true if this server has a definition of that name.
  explicit OpenApiV2Merge(std::function<bool(std::string_view name)> is_own) : is_own_(std::move(is_own)) {}

  // Adds a document with the members paths, definitions and parameters. Returns the paths, in which the references use the new names of the
  // definitions and parameters.
  Object add(Object part);
  const Object& definitions() const noexcept { return definitions_; }
  const Object& parameters() const noexcept { return parameters_; }

 private:
  const std::function<bool(std::string_view name)> is_own_;
  Object definitions_, parameters_;
};

}  // namespace backplane
