// The settings of a resource from its definition, read once and kept: the facts and rules of every version.
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
  // Objects written through another version lack the defaults of the stored one; created objects, those of the status.
  bool may_lack_defaults = false;
  // Versions differ in more than their names: only the webhook makes one of another.
  bool by_webhook = false;
  std::shared_ptr<const Writes> writes;

  const CustomVersion& stored() const noexcept { return versions[stored_index]; }
  const CustomVersion* find(std::string_view version) const noexcept;
  // Field labels of all versions that are stored or served.
  std::vector<SelectableField> fields() const;

  // ---- objects as they are stored
  // Objects up to this revision may be otherwise than the definition has it now.
  Revision refresh_until() const noexcept;
  bool is_current(const Object& stored) const;
  // The object as it is to be read: with the defaults of the version that it was stored in, and without what that does not know.  One that
  // is beyond its schema stays as it is.
  void complete(Object& stored) const;
  // The same in the version that is stored now; by webhook, in the version that it is in.
  void bring_up_to_date(Object& stored) const;
  // Whether bring_up_to_date() makes of it an object of the version that is stored now.
  bool can_be_brought(const Object& stored) const { return !by_webhook || get_string(stored, "apiVersion") == this->stored().api_version; }
};

// Names are the accepted ones.
// `source` holds the same definition.
Result<std::shared_ptr<const CustomResource>> read_resource(const Object& crd, const std::shared_ptr<const SchemaSource>& source,
                                                            std::shared_ptr<const Writes> writes);

// ---- the rules of a version on one object; the store checks metadata.  Violations that the old object had in the same way are allowed
// (validation ratcheting); a validation rule's failure becomes a warning then.  `budget`: of its validation rules.
void validate_custom(const CustomVersion& version, const Object& object, RuleFindings findings, cel::Budget budget = {});
void validate_custom_update(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget = {});
// Validates the status of `object`; all other members are those of `old`.
void validate_custom_status(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget = {});

}  // namespace backplane::apiextensions
