// Accessors of a CustomResourceDefinition's tree.
//
// Thread-safety: pure functions; no other thread may change the tree during a call.
// Lifetime:      results borrow the tree from which they were read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::apiextensions {

inline constexpr std::string_view kGroup = "apiextensions.k8s.io";
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// The member object, or an empty one that lives as long as the process.
const Object& object_or_empty(const Object& parent, std::string_view key) noexcept;
std::string_view text_of(const Value& value) noexcept;
std::vector<std::string> texts(const Object& parent, std::string_view key);

// The objects of a list member, in order.
std::vector<const Object*> objects(const Object& parent, std::string_view key);

inline const Object& spec_of(const Object& crd) noexcept { return object_or_empty(crd, "spec"); }
inline const Object& names_of(const Object& crd) noexcept { return object_or_empty(spec_of(crd), "names"); }
inline const Object& accepted_names_of(const Object& crd) noexcept {
  return object_or_empty(object_or_empty(crd, "status"), "acceptedNames");
}
inline std::vector<const Object*> versions_of(const Object& crd) { return objects(spec_of(crd), "versions"); }
// The storage version; null if the definition has none.
const Object* storage_version_of(const Object& crd);
// openAPIV3Schema of a version; null if it has none.
const Object* schema_of(const Object& version) noexcept;

struct Condition {
  std::string type;
  std::string status;  // True, False or Unknown
  std::string reason;
  std::string message;
};

// The condition of that type in status.conditions; null: there is none.
const Object* find_condition(const Object& crd, std::string_view type) noexcept;
bool condition_is_true(const Object& crd, std::string_view type) noexcept;
// Sets or adds the condition; lastTransitionTime changes only if the status changes.
void set_condition(Object& crd, const Condition& condition);
// True if the condition exists with equal content.
bool has_condition(const Object& crd, const Condition& condition) noexcept;

bool has_finalizer(const Object& crd, std::string_view finalizer);

}  // namespace backplane::apiextensions
