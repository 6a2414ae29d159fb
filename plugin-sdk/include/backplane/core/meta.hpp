// Names of kinds and resources, and ObjectMeta.
//
// Thread-safety: values.  ObjectMeta borrows the object it was made from: keep the object longer, use it from one thread.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct GroupVersion {
  std::string group;  // empty: the core group
  std::string version;
  auto operator<=>(const GroupVersion&) const = default;
  // "v1" or "apps/v1".
  std::string to_string() const { return group.empty() ? version : group + "/" + version; }
  // "/api/v1" or "/apis/apps/v1".
  std::string path() const { return group.empty() ? "/api/" + version : "/apis/" + group + "/" + version; }
  static GroupVersion parse(std::string_view api_version);
};

// Kubernetes' order of API versions: v2 before v1, v1 before v1beta1 before v1alpha1, other words last, by name.
bool version_precedes(std::string_view a, std::string_view b);

struct GroupVersionKind {
  std::string group, version, kind;
  auto operator<=>(const GroupVersionKind&) const = default;
  GroupVersion group_version() const { return {group, version}; }
};

// No aggregates: g++ 12 makes a mess of an aggregate's braces inside a co_await expression, where these are written most.
struct GroupVersionResource {
  GroupVersionResource() = default;
  GroupVersionResource(std::string in_group, std::string in_version, std::string in_resource)
      : group(std::move(in_group)), version(std::move(in_version)), resource(std::move(in_resource)) {}
  std::string group, version, resource;
  auto operator<=>(const GroupVersionResource&) const = default;
  GroupVersion group_version() const { return {group, version}; }
};

struct GroupResource {
  std::string group, resource;
  auto operator<=>(const GroupResource&) const = default;
  // "deployments.apps"; the core group adds nothing.
  std::string to_string() const { return group.empty() ? resource : resource + "." + group; }
};

// metadata of an object tree, read and changed in place.  A missing metadata object is made by the first change.
class ObjectMeta {
 public:
  explicit ObjectMeta(Object& object) noexcept : object_(object) {}

  std::string_view name() const noexcept { return text("name"); }
  std::string_view generate_name() const noexcept { return text("generateName"); }
  std::string_view ns() const noexcept { return text("namespace"); }
  std::string_view uid() const noexcept { return text("uid"); }
  std::string_view resource_version() const noexcept { return text("resourceVersion"); }
  std::string_view creation_timestamp() const noexcept { return text("creationTimestamp"); }
  std::string_view deletion_timestamp() const noexcept { return text("deletionTimestamp"); }
  std::int64_t generation() const noexcept;
  std::optional<std::int64_t> deletion_grace_period_seconds() const noexcept;
  std::vector<std::string> finalizers() const;
  const Object* labels() const noexcept;
  const Object* annotations() const noexcept;

  // Setting an empty text or nullopt erases the member.
  void set(std::string_view key, std::string_view text);
  void set_generation(std::int64_t generation);
  void set_deletion_grace_period_seconds(std::optional<std::int64_t> seconds);
  void set_finalizers(const std::vector<std::string>& finalizers);
  Object& mutable_labels();
  Object& mutable_annotations();
  Object& mutable_metadata();

 private:
  std::string_view text(std::string_view key) const noexcept;
  Object& object_;
};

// The text members of metadata for an object that is only read.
std::string_view meta_name(const Object& object) noexcept;
std::string_view meta_namespace(const Object& object) noexcept;
std::string_view meta_text(const Object& object, std::string_view key) noexcept;

// RFC 3339 UTC, whole seconds, as metav1.Time prints it; now_micro() has six fraction digits (metav1.MicroTime).
std::string now_rfc3339();
std::string now_micro_rfc3339();
std::string format_rfc3339(std::int64_t unix_seconds);
std::optional<std::int64_t> parse_rfc3339(std::string_view text) noexcept;  // unix seconds

// A random (version 4) UUID in lower case.
std::string new_uid();
// The five characters generateName adds (apimachinery rand.String alphabet "bcdfghjklmnpqrstvwxz2456789").
std::string random_suffix();

}  // namespace BACKPLANE_API
