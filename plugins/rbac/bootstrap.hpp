// The roles and bindings that every server has.
//
// Thread-safety: a policy belongs to one thread.
// Errors:        none; unreadable data is an error of the build and throws an exception.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::rbac {

inline constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
inline constexpr std::string_view kClusterRoles = "clusterroles";
inline constexpr std::string_view kClusterRoleBindings = "clusterrolebindings";
inline constexpr std::string_view kRoles = "roles";
inline constexpr std::string_view kRoleBindings = "rolebindings";
// The annotation that disables changes by the server if its value is "false".
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

inline GroupVersionResource resource_of(std::string_view resource) { return {std::string(kGroup), "v1", std::string(resource)}; }

struct Delivered {
  std::string_view resource;
  std::string ns;  // empty: a cluster-scoped object
  std::string name;
  Object object;  // with its defaults
  // The name of another object. If that object exists when `object` is created, `object` takes over its rules or subjects.
  std::string successor_of;
};

// The objects of schema/rbac_bootstrap.json, in upstream's order. An object or a rule that names feature gates is included only if all of
// these gates are on.
class BootstrapPolicy {
 public:
  using IsOn = std::function<bool(std::string_view gate)>;

  explicit BootstrapPolicy(IsOn is_on);
  // Returns the label selector that matches the labels of all objects of this policy.
  std::string selector() const;
  std::size_t size() const { return rows_.size(); }
  std::string_view ns(std::size_t index) const { return get_string(*rows_[index].row, "namespace"); }
  // Builds one object. They are not built in advance, because most existing objects need no change, and all objects together are large.
  Delivered at(std::size_t index) const;

 private:
  struct Row {
    std::string_view resource, kind;
    const Object* row;
  };

  IsOn is_on_;
  std::shared_ptr<const SchemaSet> schemas_;
  Value document_;
  std::vector<Row> rows_;
};

}  // namespace backplane::rbac
