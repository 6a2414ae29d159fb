// The settings of a resource from its definition, parsed once: the facts and rules of every version.
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
  // Objects that were written through another version lack the defaults of the stored one; created objects lack those of the status.
  bool may_lack_defaults = false;
  // True: versions differ in more than their names, and only the webhook can convert them.
  bool by_webhook = false;
  std::shared_ptr<const Writes> writes;

  const CustomVersion& stored() const noexcept { return versions[stored_index]; }
  const CustomVersion* find(std::string_view version) const noexcept;
  // Field labels of all versions that are stored or served.
  std::vector<SelectableField> fields() const;

  // Objects up to this revision may have been stored by an earlier definition.
  Revision refresh_until() const noexcept;
  bool is_current(const Object& stored) const;
  // Completes an object for readers: sets the defaults of its stored version, and removes unknown members. An object that violates its
  // schema is unchanged.
  void complete(Object& stored) const;
  // The same, after conversion to the current stored version; with webhook conversion, in its version.
  void bring_up_to_date(Object& stored) const;
  // Whether bring_up_to_date() converts the object to the current stored version.
  bool can_be_brought(const Object& stored) const { return !by_webhook || get_string(stored, "apiVersion") == this->stored().api_version; }
};

// Uses the accepted names. `source` holds the same definition.
Result<std::shared_ptr<const CustomResource>> read_resource(const Object& crd, const std::shared_ptr<const SchemaSource>& source,
                                                            std::shared_ptr<const Writes> writes);

// ---- validation of one object by the rules of a version; the store checks metadata. Violations that the old object has, too, are allowed
// (validation ratcheting); a failed validation rule then becomes a warning. `budget`: of its validation rules.
void validate_custom(const CustomVersion& version, const Object& object, RuleFindings findings, cel::Budget budget = {});
void validate_custom_update(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget = {});
// Validates the status of `object`; all other members are those of `old`.
void validate_custom_status(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget = {});

}  // namespace backplane::apiextensions
