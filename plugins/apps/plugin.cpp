// The plugin `apps`: the group apps/v1.
#include "backplane/plugin.hpp"

#include <array>

#include "apps_v1_json.hpp"
#include "backplane/kit/group.hpp"
#include "strategies.hpp"

namespace backplane::apps {
namespace {

using kit::GroupInstaller;
using kit::KindRow;
using workload::PodValidationOptions;

constexpr int kGroupPriority = 17800;
constexpr int kVersionPriority = 15;

struct Row {
  const char* resource;
  const char* kind;
  const char* short_name;  // null: none
  bool in_all;             // kubectl get all
  bool scaled;
  std::shared_ptr<const Strategy> (*strategy)(PodValidationOptions options);
  std::shared_ptr<const Strategy> (*status)();  // null: no status
};
// Revisions hold no pods that anybody looks into.
std::shared_ptr<const Strategy> revisions(PodValidationOptions) { return controller_revision_strategy(); }

constexpr Row kRows[] = {
    {"controllerrevisions", "ControllerRevision", nullptr, false, false, revisions, nullptr},
    {"daemonsets", "DaemonSet", "ds", true, false, daemon_set_strategy, daemon_set_status_strategy},
    {"deployments", "Deployment", "deploy", true, true, deployment_strategy, deployment_status_strategy},
    {"replicasets", "ReplicaSet", "rs", true, true, replica_set_strategy, replica_set_status_strategy},
    {"statefulsets", "StatefulSet", "sts", true, true, stateful_set_strategy, stateful_set_status_strategy},
};

KindRow kind_row(const Row& row, PodValidationOptions options) {
  KindRow out;
  out.resource = row.resource;
  out.kind = row.kind;
  if (row.short_name != nullptr) out.short_names = {row.short_name};
  if (row.in_all) out.categories = {"all"};
  if (row.scaled) out.scale = Host::ScalePaths{};
  out.strategy = row.strategy(options);
  if (row.status != nullptr) out.status = row.status();
  // Keys are those of the time when these kinds had another group: the plural alone.
  out.storage_prefix = row.resource;
  return out;
}

class AppsPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto schemas = compile_schemas();
    if (!schemas.ok()) return std::move(schemas).status();
    const PodValidationOptions options = workload::pod_validation_options(host);
    GroupInstaller group(host, {"apps", "v1"}, *schemas);
    for (const Row& row : kRows) {
      if (Status status = group.add(kind_row(row, options)); !status.ok()) return status;
    }
    return group.install("apps", kGroupPriority, kVersionPriority);
  }

 private:
  // Pod templates are types of the core group.
  static Result<std::shared_ptr<const SchemaSet>> compile_schemas() {
    const std::array<std::string_view, 1> documents = {apps_v1_json()};
    return SchemaSet::embedded(documents, {core_schemas(), meta_schemas()});
  }
};

}  // namespace
}  // namespace backplane::apps

BACKPLANE_PLUGIN(backplane::apps::AppsPlugin)
