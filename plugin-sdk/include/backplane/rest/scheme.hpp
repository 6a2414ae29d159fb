// The Scheme: the known kinds, their types, conversions between versions, field labels, and the order of versions. Defaults are in
// schemas and strategies.
//
// Thread-safety: filled during provision on one thread; immutable after commit.
// Errors:        kAlreadyExists if a kind is registered twice; the message names the first registrant.
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

//
// Filled by GroupInstaller (kit) for groups with a document; plugins add the conversions between their versions:
//
//   host.scheme().add_conversion({"tickets.example.com", "v1", "Ticket"}, {"tickets.example.com", "v2", "Ticket"}, v1_to_v2);
class Scheme {
 public:
  // Converts an object in place from one version to another. The host sets kind and apiVersion. Called from any thread.
  using Conversion = std::function<Status(Object& object)>;

  Scheme();
  ~Scheme();
  Scheme(Scheme&&) noexcept;
  Scheme& operator=(Scheme&&) noexcept;

  // Registers every definition of `schemas` that has a group-version-kind of `gv`. `registrant`: the plugin's name, for messages.
  Status add_known_types(const GroupVersion& gv, std::shared_ptr<const SchemaSet> schemas, std::string_view registrant);
  // Registers one kind; `keep` owns `schema`.
  Status add_known_type(const GroupVersionKind& gvk, const Schema* schema, std::shared_ptr<const SchemaSet> keep,
                        std::string_view registrant);
  // Adds the conversion of one direction.
  Status add_conversion(const GroupVersionKind& from, const GroupVersionKind& to, Conversion function);
  // Additional field labels for the selectors of a kind (metadata.name and metadata.namespace always exist), and their names in the
  // stored version.
  struct FieldLabel {
    std::string label;
    std::string stored;  // empty: the same
  };
  Status add_field_labels(const GroupVersionKind& gvk, std::vector<FieldLabel> labels);
  // The order of a group's versions in discovery, for groups without APIGroupInfo::prioritized_versions.
  Status set_version_priority(std::string group, std::vector<std::string> versions);

  // True if the kind is registered.
  bool recognizes(const GroupVersionKind& gvk) const noexcept;
  // The kind's type; null if it is not registered or has none.
  const Schema* type_of(const GroupVersionKind& gvk) const noexcept;
  std::vector<std::string> prioritized_versions(std::string_view group) const;
  bool is_group_version_registered(const GroupVersion& gv) const noexcept;
  std::vector<GroupVersionKind> known_types() const;
  // True if convert() supports the pair.
  bool converts(const GroupVersionKind& from, const GroupVersionKind& to) const noexcept;
  // Converts in place with the function registered for the pair, or through one intermediate version (usually the stored one).
  // Errors: the function's; kInternalError `converting (a) to (b): unknown conversion`.
  Status convert(const GroupVersionKind& from, const GroupVersionKind& to, Object& object) const;
  // The name of a field label in the stored version. Errors: kBadRequest `field label not supported: x`.
  Result<std::string> stored_field_label(const GroupVersionKind& gvk, std::string_view label) const;
  // Copies everything of `other` into this Scheme, or changes nothing. Errors: kAlreadyExists for a kind or a conversion that both have.
  Status merge(const Scheme& other);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace BACKPLANE_API
