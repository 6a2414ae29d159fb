// What a definition says of its resource, read once and kept: the facts and rules of every version.
//
// Thread-safety: immutable after read_resource().
// Lifetime:      shared by the storages and strategies made from it.
// Errors:        kInternalError for a definition without a version to store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "custom_schema.hpp"
#include "custom_table.hpp"

namespace backplane::apiextensions {

struct CustomVersion {
  GroupVersionKind kind;
  std::string api_version;  // "example.com/v1"
  CompiledSchema schema;
  bool served = false;
  bool stored = false;
  std::string deprecation_warning;  // empty: none
  bool has_status = false;          // status is a subresource
  std::optional<Host::ScalePaths> scale;
  std::shared_ptr<const ColumnTable> table;
  std::vector<SelectableField> fields;
};

struct CustomResource {
  std::string group;
  std::string plural;
  std::string singular;
  std::string kind;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  std::vector<CustomVersion> versions;  // the stored one and the served ones
  std::size_t stored_index = 0;

  const CustomVersion& stored() const noexcept { return versions[stored_index]; }
  const CustomVersion* find(std::string_view version) const noexcept;
  // Field labels of all versions.
  std::vector<SelectableField> fields() const;
};

// Names are the accepted ones.  Versions that would need a conversion webhook are left out.
// `source` holds the same definition.
Result<std::shared_ptr<const CustomResource>> read_resource(const Object& crd, const std::shared_ptr<const SchemaSource>& source);

// ---- the rules of a version on one object; metadata is the store's business
void validate_custom(const CustomVersion& version, const Object& object, FieldErrors& errors);
// What was wrong before in the same way is let through (validation ratcheting).
void validate_custom_update(const CustomVersion& version, const Object& object, const Object& old, FieldErrors& errors);
void validate_custom_status(const CustomVersion& version, const Object& object, const Object& old, FieldErrors& errors);

}  // namespace backplane::apiextensions
