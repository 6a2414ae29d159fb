// The Scheme: which kinds exist, their types, conversions between versions, field labels and version order.
//
// Defaults are not here: what a version fills in is said by its schema and by its Strategy.
//
// Thread-safety: filled during provision on one thread; read-only and free to share after commit.
// Errors:        registering a kind twice is kAlreadyExists and names the first registrant.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

class Scheme {
 public:
  // In place, from one version's form to another's; kind and apiVersion are set for it.  Called from any thread.
  using Conversion = std::function<Status(Object& object)>;

  Scheme();
  ~Scheme();
  Scheme(Scheme&&) noexcept;
  Scheme& operator=(Scheme&&) noexcept;

  // Makes kinds known: every definition of `schemas` that carries a group-version-kind of `gv`.
  Status add_known_types(const GroupVersion& gv, std::shared_ptr<const SchemaSet> schemas, std::string_view registrant);
  Status add_known_type(const GroupVersionKind& gvk, const Schema* schema, std::shared_ptr<const SchemaSet> keep,
                        std::string_view registrant);
  Status add_conversion(const GroupVersionKind& from, const GroupVersionKind& to, Conversion function);
  // Field labels selectors may name for a kind, beyond metadata.name and metadata.namespace, and what the stored version calls each.
  struct FieldLabel {
    std::string label;
    std::string stored;  // empty: the same
  };
  Status add_field_labels(const GroupVersionKind& gvk, std::vector<FieldLabel> labels);
  // The order in which discovery names the versions of a group that says no order itself (APIGroupInfo::prioritized_versions).
  Status set_version_priority(std::string group, std::vector<std::string> versions);

  bool recognizes(const GroupVersionKind& gvk) const noexcept;
  const Schema* type_of(const GroupVersionKind& gvk) const noexcept;
  std::vector<std::string> prioritized_versions(std::string_view group) const;
  bool is_group_version_registered(const GroupVersion& gv) const noexcept;
  std::vector<GroupVersionKind> known_types() const;
  // convert() knows the way.
  bool converts(const GroupVersionKind& from, const GroupVersionKind& to) const noexcept;
  // By the function registered for the two, or over one version in between (the stored one, as a rule).
  // Errors: the function's; kInternalError `converting (a) to (b): unknown conversion`.
  Status convert(const GroupVersionKind& from, const GroupVersionKind& to, Object& object) const;
  // What the stored version calls a field label.  Errors: kBadRequest `field label not supported: x`.
  Result<std::string> stored_field_label(const GroupVersionKind& gvk, std::string_view label) const;
  // Moves everything of `other` in, or changes nothing.  Errors: kAlreadyExists.
  Status merge(Scheme&& other);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace BACKPLANE_API
