// The settings of a resource from its definition, parsed once: the facts and rules of every version.
//
// Thread-safety: immutable after read_resource().
// Lifetime:      shared by the storages and strategies made from it.
// Errors:        kInternalError for a definition without versions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/rest/conversion.hpp"
#include "backplane/rest/strategy.hpp"
#include "custom_schema.hpp"
#include "custom_table.hpp"
#include "rule_run.hpp"
#include "writes.hpp"

namespace backplane::apiextensions {

struct CustomVersion {
  GroupVersionKind kind;
  std::string api_version;  // "example.com/v1"
  CompiledSchema schema;
  std::shared_ptr<const LazyRules> rules;  // null: the schema has none
  bool served = false;
  bool stored = false;
  std::string deprecation_warning;  // empty: none
  bool has_status = false;          // status is a subresource
  std::optional<Host::ScalePaths> scale;
  std::shared_ptr<const CustomTable> table;
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
  std::vector<CustomVersion> versions;
  std::size_t stored_index = 0;
  // Stored objects may lack defaults: those of the stored version if they were written through another version, or the default status.
  bool may_lack_defaults = false;
  // spec.conversion.strategy is Webhook: only the webhook can convert between versions.
  bool by_webhook = false;
  std::shared_ptr<const Writes> writes;

  const CustomVersion& stored() const noexcept { return versions[stored_index]; }
  const CustomVersion* find(std::string_view version) const noexcept;
  // Field labels of all versions that are stored or served.
  std::vector<SelectableField> fields() const;

  // Objects up to this revision may have been stored by an earlier definition.
  Revision refresh_until() const noexcept;
  bool is_current(const Object& stored) const;
  // Completes an object for readers: removes unknown members and sets defaults, by the schema of the version in its apiVersion. An object
  // that violates the schema is unchanged.
  void complete(Object& stored) const;
  // Calls complete(), and then converts the object to the current stored version. With webhook conversion, the object keeps its version.
  void convert_to_stored_version(Object& stored) const;
  // Whether convert_to_stored_version() converts the object to the current stored version.
  bool can_be_brought(const Object& stored) const { return !by_webhook || get_string(stored, "apiVersion") == this->stored().api_version; }
};

// Uses status.acceptedNames. `source`: contains the same definition.
Result<std::shared_ptr<const CustomResource>> read_resource(const Object& crd, const std::shared_ptr<const SchemaSource>& source,
                                                            std::shared_ptr<const Writes> writes);

// ---- validation of one object by the schema, scale paths and validation rules of a version; the host's storage validates metadata. An
// update may retain violations of the old object (validation ratcheting); a failed validation rule is then a warning. `budget`: the cost
// limit of the validation rules.
void validate_custom(const CustomVersion& version, const Object& object, RuleFindings findings, cel::Budget budget = {});
void validate_custom_update(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget = {});
// Validates the status of `object`; all other members are those of `old`.
void validate_custom_status(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget = {});

}  // namespace backplane::apiextensions
