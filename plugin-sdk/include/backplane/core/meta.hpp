// Group, version, kind and resource names, and access to ObjectMeta.
//
// Thread-safety: values. An ObjectMeta refers to the object that it was constructed from: the object must outlive it, and both belong to
//                one thread.
// Errors:        none; a member that is absent or has another JSON type reads as empty.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// metav1.GroupVersion. The comparison operators compare group, then version, as texts; version_precedes() compares by preference.
struct GroupVersion {
  std::string group;  // empty: the core group
  std::string version;
  auto operator<=>(const GroupVersion&) const = default;
  // "v1" or "apps/v1".
  std::string to_string() const { return group.empty() ? version : group + "/" + version; }
  // "/api/v1" or "/apis/apps/v1".
  std::string path() const { return group.empty() ? "/api/" + version : "/apis/" + group + "/" + version; }
  // Parses "v1" or "apps/v1": the group is the text before the first '/'; without '/', the group is empty.
  static GroupVersion parse(std::string_view api_version);
};

// True if API version `a` is preferred to `b` (version.CompareKubeAwareVersionStrings): v2 before v1, v1 before v1beta1, v1beta1 before
// v1alpha1; texts that are not such versions follow in alphabetical order.
bool version_precedes(std::string_view a, std::string_view b);

// metav1.GroupVersionKind: the type of an object. `kind` is the singular name in PascalCase, such as "Deployment".
struct GroupVersionKind {
  std::string group, version, kind;
  auto operator<=>(const GroupVersionKind&) const = default;
  GroupVersion group_version() const { return {group, version}; }
};

// metav1.GroupVersionResource: a collection of objects. `resource` is the plural name in lower case, such as "deployments". It has
// constructors because g++ 12 miscompiles the braces of an aggregate inside a co_await expression.
struct GroupVersionResource {
  GroupVersionResource() = default;
  GroupVersionResource(std::string in_group, std::string in_version, std::string in_resource)
      : group(std::move(in_group)), version(std::move(in_version)), resource(std::move(in_resource)) {}
  std::string group, version, resource;
  auto operator<=>(const GroupVersionResource&) const = default;
  GroupVersion group_version() const { return {group, version}; }
};

// metav1.GroupResource: a resource without a version, as errors and metrics name it.
struct GroupResource {
  std::string group, resource;
  auto operator<=>(const GroupResource&) const = default;
  // "deployments.apps"; "pods" for the core group.
  std::string to_string() const { return group.empty() ? resource : resource + "." + group; }
};

// Reads and changes metadata of an object tree in place. Reads of an absent metadata object return empty values; the first change creates
// it.
class ObjectMeta {
 public:
  explicit ObjectMeta(Object& object) noexcept : object_(object) {}

  // These return a view into the tree, valid until any member of metadata changes; empty if the member is absent.
  std::string_view name() const noexcept { return text("name"); }
  std::string_view generate_name() const noexcept { return text("generateName"); }
  std::string_view ns() const noexcept { return text("namespace"); }
  std::string_view uid() const noexcept { return text("uid"); }
  std::string_view resource_version() const noexcept { return text("resourceVersion"); }
  std::string_view creation_timestamp() const noexcept { return text("creationTimestamp"); }
  std::string_view deletion_timestamp() const noexcept { return text("deletionTimestamp"); }
  // 0 if absent.
  std::int64_t generation() const noexcept;
  // nullopt if absent.
  std::optional<std::int64_t> deletion_grace_period_seconds() const noexcept;
  // Returns copies; empty if absent.
  std::vector<std::string> finalizers() const;
  // Return the members as JSON objects whose values are strings; null if absent.
  const Object* labels() const noexcept;
  const Object* annotations() const noexcept;

  // Sets metadata.`key`. An empty text or nullopt erases the member.
  //
  //   ObjectMeta(object).set("name", prefix + random_suffix());
  void set(std::string_view key, std::string_view text);
  void set_generation(std::int64_t generation);
  void set_deletion_grace_period_seconds(std::optional<std::int64_t> seconds);
  void set_finalizers(const std::vector<std::string>& finalizers);
  // Return the member object. If it is absent or has another JSON type, they first create an empty one.
  Object& mutable_labels();
  Object& mutable_annotations();
  Object& mutable_metadata();

 private:
  std::string_view text(std::string_view key) const noexcept;
  Object& object_;
};

// String members of metadata, for an object that is only read; empty if absent. The views point into `object`.
std::string_view meta_name(const Object& object) noexcept;
std::string_view meta_namespace(const Object& object) noexcept;
std::string_view meta_text(const Object& object, std::string_view key) noexcept;

// The current time in RFC 3339, UTC. now_rfc3339(): whole seconds (metav1.Time); now_micro_rfc3339(): six fraction digits
// (metav1.MicroTime).
std::string now_rfc3339();
std::string now_micro_rfc3339();
// `unix_seconds`: seconds since 1970-01-01 UTC.
std::string format_rfc3339(std::int64_t unix_seconds);
std::optional<std::int64_t> parse_rfc3339(std::string_view text) noexcept;  // seconds since 1970; nullopt if malformed

// A random UUID (RFC 4122, version 4) in lower case.
std::string new_uid();
// Returns the five characters that the server appends to generateName (rand.String of apimachinery: alphabet
// "bcdfghjklmnpqrstvwxz2456789").
std::string random_suffix();

}  // namespace BACKPLANE_API
