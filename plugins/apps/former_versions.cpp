#include "former_versions.hpp"

#include <limits>

#include "apps_former_json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/rest/former_versions.hpp"
#include "daemon_set.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

using namespace kit;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kRollbackTo = "deprecated.deployment.rollback.to";

// Sets a missing selector and missing labels to the labels of the template. This was the default before apps/v1beta2.
void labels_from_template(Object& object) {
  const Value* found = find_path(object, {"spec", "template", "metadata", "labels"});
  if (found == nullptr || !found->is_object()) return;
  const Object labels(found->get_object());
  fill_missing(ensure_object(object, "spec"), "selector", Object{{"matchLabels", labels}});
  Object& metadata = ensure_object(object, "metadata");
  if (object_or_empty(metadata, "labels").empty()) metadata["labels"] = labels;
}

// Moves spec.rollbackTo to the annotation that apps/v1 has instead.
void rollback_to_annotation(Object& deployment) {
  Object& spec = ensure_object(deployment, "spec");
  ObjectMeta meta(deployment);
  if (const Object* rollback = get_object(spec, "rollbackTo")) {
    meta.mutable_annotations()[kRollbackTo] = std::to_string(get_int(*rollback, "revision").value_or(0));
  } else if (Object* annotations = mutable_object(ensure_object(deployment, "metadata"), "annotations")) {
    erase_member(*annotations, kRollbackTo);
  }
  erase_member(spec, "rollbackTo");
}

Status deployment_of_apps(Object& deployment) {
  labels_from_template(deployment);
  fill_missing(ensure_object(deployment, "spec"), "revisionHistoryLimit", 2);
  rollback_to_annotation(deployment);
  return {};
}

Status deployment_of_extensions(Object& deployment) {
  labels_from_template(deployment);
  Object& spec = ensure_object(deployment, "spec");
  fill_missing(spec, "progressDeadlineSeconds", kUnlimited);
  fill_missing(spec, "revisionHistoryLimit", kUnlimited);
  Object& strategy = ensure_object(spec, "strategy");
  fill(strategy, "type", "RollingUpdate");
  if (get_string(strategy, "type") == "RollingUpdate" || has(strategy, "rollingUpdate")) {
    Object& update = ensure_object(strategy, "rollingUpdate");
    fill_missing(update, "maxUnavailable", 1);
    fill_missing(update, "maxSurge", 1);
  }
  rollback_to_annotation(deployment);
  return {};
}

Status daemon_set_of_extensions(Object& set) {
  labels_from_template(set);
  Object& spec = ensure_object(set, "spec");
  fill(ensure_object(spec, "updateStrategy"), "type", "OnDelete");
  set_template_generation(set, get_int(spec, "templateGeneration").value_or(0));
  erase_member(spec, "templateGeneration");
  return {};
}

Status replica_set_of_extensions(Object& set) {
  labels_from_template(set);
  return {};
}

Status stateful_set_of_v1beta1(Object& set) {
  labels_from_template(set);
  fill(ensure_object(ensure_object(set, "spec"), "updateStrategy"), "type", "OnDelete");
  return {};
}

}  // namespace

Status add_former_versions(Scheme& scheme) {
  return add_former_versions(scheme, "apps", apps_former_json(), apps_schemas(),
                             {{{"DaemonSet", "extensions/v1beta1"}, daemon_set_of_extensions},
                              {{"Deployment", "apps/v1beta1"}, deployment_of_apps},
                              {{"Deployment", "extensions/v1beta1"}, deployment_of_extensions},
                              {{"ReplicaSet", "extensions/v1beta1"}, replica_set_of_extensions},
                              {{"StatefulSet", "apps/v1beta1"}, stateful_set_of_v1beta1}});
}

}  // namespace backplane::apps
