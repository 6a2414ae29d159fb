// Assembles the group apps.
#include <array>
#include <charconv>
#include <stdexcept>

#include "apps_group_json.hpp"
#include "apps_v1_json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
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

constexpr std::string_view kRollbackTo = "deprecated.deployment.rollback.to";

// A change of a deployment's annotations increments the generation, like a change of the spec.
class DeploymentStrategy final : public WorkloadStrategy {
 public:
  using WorkloadStrategy::WorkloadStrategy;

  // Removes an empty rollback annotation: it names no revision, and older versions have no field for it.
  void apply_defaults(Object& object) const override {
    WorkloadStrategy::apply_defaults(object);
    const Value* text = find_path(object, {"metadata", "annotations", kRollbackTo});
    if (text == nullptr || !text_of(*text).empty()) return;
    Object& metadata = ensure_object(object, "metadata");
    Object& annotations = ensure_object(metadata, "annotations");
    erase_member(annotations, kRollbackTo);
    if (annotations.empty()) erase_member(metadata, "annotations");
  }

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    const ObjectMeta before(const_cast<Object&>(old));  // only read
    const bool changed = !same_member(object_or_empty(object, "metadata"), object_or_empty(old, "metadata"), "annotations");
    if (changed) ObjectMeta(object).set_generation(before.generation() + 1);
  }
  // The type guarantees that the rollback revision is a number. Older versions have it in the spec, so the error has this path.
  void check(const Object& object, FieldErrors& errors) const override {
    WorkloadStrategy::check(object, errors);
    const Value* text = find_path(object, {"metadata", "annotations", kRollbackTo});
    const std::string_view digits = text != nullptr ? text_of(*text) : std::string_view();
    std::int64_t revision = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), revision);
    if (revision < 0) errors.invalid("spec.rollback.version", revision, "must be greater than or equal to 0");
  }
};

// Facts of deployments, and of replica sets: upstream's error about a replica set's selector says "deployment", too.
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
