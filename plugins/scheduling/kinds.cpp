#include "kinds.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "pod_groups.hpp"
#include "scheduling_group_json.hpp"
#include "scheduling_v1_json.hpp"
#include "scheduling_v1alpha2_json.hpp"

namespace backplane::scheduling {
namespace {

using namespace kit;

// Returns the reason why a class with the name of a system class is not that class; empty: it is.
std::string system_problem(const Object& object) {
  const std::string name(meta_name(object));
  const auto* known =
      std::find_if(kSystemClasses.begin(), kSystemClasses.end(), [&](const SystemClass& each) { return each.name == name; });
  if (known == kSystemClasses.end()) return name + " is not a known system priority class";
  if (get_int(object, "value").value_or(0) != known->value) {
    return "value of " + name + " PriorityClass must be " + std::to_string(known->value);
  }
  return get_bool(object, "globalDefault").value_or(false) ? "globalDefault of " + name + " PriorityClass must be false" : "";
}

class PriorityClassStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    if (meta_name(object).starts_with("system-")) {
      const std::string problem = system_problem(object);
      if (problem.empty()) return;
      errors.forbidden("metadata.name", "priority class names with 'system-' prefix are reserved for system use only. error: " + problem);
    } else if (get_int(object, "value").value_or(0) > kHighestOwnPriority) {
      errors.forbidden("value", "maximum allowed value of a user defined priority is " + std::to_string(kHighestOwnPriority));
    }
  }
};

}  // namespace

Result<GroupDocument> scheduling_group() {
  GroupCode code{.kinds = {{"PriorityClass", {.make = made<PriorityClassStrategy>()}}}};
  add_pod_groups(code);
  return read_group(scheduling_group_json(), code);
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> scheduling_schemas() {
  return embedded_schemas({scheduling_v1_json(), scheduling_v1alpha2_json()});
}

}  // namespace backplane::scheduling
