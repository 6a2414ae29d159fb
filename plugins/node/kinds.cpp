#include "kinds.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/workload/resources.hpp"
#include "backplane/workload/warnings.hpp"
#include "node_group_json.hpp"
#include "node_v1_json.hpp"

namespace backplane::node {
namespace {

using namespace kit;

class RuntimeClassStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  // The overhead of pods is validated like a container's limits.
  void check(const Object& object, FieldErrors& errors) const override {
    const Object* amounts = get_object(object_or_empty(object, "overhead"), "podFixed");
    if (amounts != nullptr) workload::validate_resource_requirements(Object{{"limits", *amounts}}, "overhead", errors);
  }
};

void warn_of_labels(const Value& selector, const std::string& path, std::vector<std::string>& warnings) {
  if (!selector.is_object()) return;
  for (const auto& label : selector.get_object()) workload::warn_of_node_label(label.key(), path, warnings);
}

}  // namespace

Result<GroupDocument> node_group() {
  return read_group(node_group_json(),
                    {.warnings = {{"nodeLabels", warn_of_labels}}, .kinds = {{"RuntimeClass", {.make = made<RuntimeClassStrategy>()}}}});
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> node_schemas() { return embedded_schemas({node_v1_json()}); }

}  // namespace backplane::node
