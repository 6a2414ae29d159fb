// The group apps, put together.
#include <array>
#include <stdexcept>

#include "apps_group_json.hpp"
#include "apps_v1_json.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/strategy.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

// "kind.group/name" of the owner that controls the object.
std::string print_controller(const Object& object) {
  std::string out;
  each(object_or_empty(object, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    if (!out.empty() || !get_bool(owner, "controller").value_or(false)) return;
    std::string kind(get_string(owner, "kind"));
    for (char& letter : kind) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
    const GroupVersion gv = GroupVersion::parse(get_string(owner, "apiVersion"));
    out = GroupResource{gv.group, kind}.to_string() + "/" + std::string(get_string(owner, "name"));
  });
  return out.empty() ? "<none>" : out;
}

void print_controller_cell(const Object& object, std::int64_t, Array& cells) { cells.emplace_back(print_controller(object)); }

// A change of its annotations is one of what is wanted.
class DeploymentStrategy final : public WorkloadStrategy {
 public:
  using WorkloadStrategy::WorkloadStrategy;

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    const ObjectMeta before(const_cast<Object&>(old));  // only read
    const bool changed = !same_member(object_or_empty(object, "metadata"), object_or_empty(old, "metadata"), "annotations");
    if (changed) ObjectMeta(object).set_generation(before.generation() + 1);
  }
};

// Deployments, and replica sets with the word for the selector that upstream has copied from them.
constexpr WorkloadFacts kWorkload{.selector_kind = "deployment", .bad_selector = "invalid label selector", .names_hosts = true};
KindCode deployment_code(PodValidationOptions options) { return {.make = made<DeploymentStrategy>(kWorkload, options)}; }
KindCode replica_set_code(PodValidationOptions options) { return {.make = made<WorkloadStrategy>(kWorkload, options)}; }

}  // namespace

std::shared_ptr<const SchemaSet> apps_schemas() {
  static const auto schemas = [] {
    const std::array<std::string_view, 1> documents = {apps_v1_json()};
    auto made = SchemaSet::embedded(documents, {core_schemas(), meta_schemas()});
    if (!made.ok()) throw std::logic_error(made.status().message());
    return std::move(*made);
  }();
  return schemas;
}

Result<GroupDocument> apps_group(PodValidationOptions options) {
  GroupCode code{.printers = printers(),
                 .kinds = {{"DaemonSet", daemon_set_code(options)},
                           {"Deployment", deployment_code(options)},
                           {"ReplicaSet", replica_set_code(options)},
                           {"StatefulSet", stateful_set_code(options)}}};
  code.printers.emplace("controller", print_controller_cell);
  return read_group(apps_group_json(), code);
}

}  // namespace backplane::apps
