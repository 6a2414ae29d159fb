// The Scheme: the registered kinds, their types, conversions between versions, field labels, and the order of versions. Defaults are part
// of schemas and strategies.
//
// Thread-safety: filled during provision on one thread; immutable after commit.
// Errors:        kAlreadyExists if a kind or a conversion is registered twice. For a kind, the message names the plugin that registered it
//                first.
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

// GroupInstaller (kit) registers the kinds of groups that have a document. Plugins add the conversions between the versions:
//
//   Status added = host.scheme().add_conversion({"tickets.example.com", "v1", "Ticket"}, {"tickets.example.com", "v2", "Ticket"},
//   v1_to_v2);
class Scheme {
 public:
  // Converts an object in place from one version to another. Scheme::convert() sets kind and apiVersion afterwards. Called from any thread.
  using Conversion = std::function<Status(Object& object)>;

  Scheme();
  ~Scheme();
  Scheme(Scheme&&) noexcept;
  Scheme& operator=(Scheme&&) noexcept;

  // Registers every definition of `schemas` whose group-version-kind belongs to `gv`. `registrant`: the plugin's name, for messages.
  Status add_known_types(const GroupVersion& gv, std::shared_ptr<const SchemaSet> schemas, std::string_view registrant);
  // Registers one kind; `keep` owns `schema`.
  Status add_known_type(const GroupVersionKind& gvk, const Schema* schema, std::shared_ptr<const SchemaSet> keep,
                        std::string_view registrant);
  // Adds the conversion in one direction.
  Status add_conversion(const GroupVersionKind& from, const GroupVersionKind& to, Conversion function);
  // Adds field labels for the selectors of a kind, and their names in the stored version. metadata.name and metadata.namespace always
  // exist.
  struct FieldLabel {
    std::string label;
    std::string stored;  // empty: equal to `label`
  };
  Status add_field_labels(const GroupVersionKind& gvk, std::vector<FieldLabel> labels);
  // Sets the order of a group's versions in discovery. It applies to groups without APIGroupInfo::prioritized_versions.
  Status set_version_priority(std::string group, std::vector<std::string> versions);

  // True if the kind is registered.
  bool recognizes(const GroupVersionKind& gvk) const noexcept;
  // The schema of the kind; null if the kind is not registered or has no schema.
  const Schema* type_of(const GroupVersionKind& gvk) const noexcept;
  std::vector<std::string> prioritized_versions(std::string_view group) const;
  bool is_group_version_registered(const GroupVersion& gv) const noexcept;
  std::vector<GroupVersionKind> known_types() const;
  // True if convert() supports the pair.
  bool converts(const GroupVersionKind& from, const GroupVersionKind& to) const noexcept;
  // Converts `object` in place, with the function registered for the pair of versions, or through one intermediate version (usually the
  // stored one).
  // Errors: those of the function; kInternalError `converting (a) to (b): unknown conversion`.
  Status convert(const GroupVersionKind& from, const GroupVersionKind& to, Object& object) const;
  // Returns the name of a field label in the stored version. Errors: kBadRequest if the label is unknown, such as `field label not
  // supported: x`.
  Result<std::string> stored_field_label(const GroupVersionKind& gvk, std::string_view label) const;
  // Copies all contents of `other` into this Scheme. Errors: kAlreadyExists if both have the same kind or conversion; this Scheme is then
  // unchanged.
  Status merge(const Scheme& other);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace BACKPLANE_API
