#include "backplane/core/json_access.hpp"
#include "conformance/checks.hpp"

namespace backplane::conformance {

void check_status(Subject& subject, Report& report) {
  const std::string name = subject.created(), path = subject.part(name, "status");
  const Answer got = subject.api.get(path);
  report.holds("the status is read as the whole object",
               got.code == 200 && got.text("kind") == subject.type.kind && got.text("metadata.name") == name, shown(got));
  Object changed = got.object;
  ensure_object(ensure_object(changed, "metadata"), "labels")["status"] = "changed";
  const Answer put = subject.api.put(subject.part(name, "status", "fieldManager=observer"), changed);
  report.code("updates the status", put, 200);
  report.holds("the generation stays", get_int_path(put.object, "metadata.generation") == get_int_path(got.object, "metadata.generation"));
  report.holds("the spec stays",
               to_json(Value(object_or_empty(put.object, "spec"))) == to_json(Value(object_or_empty(got.object, "spec"))));
  const Answer patched = subject.api.patch(path, "merge-patch+json", "{}");
  report.code("patches the status", patched, 200);
  report.error("an old version is a conflict", subject.api.patch(path, "merge-patch+json", R"({"metadata":{"resourceVersion":"1"}})"), 409,
               "Conflict");
  report.error("the status of a missing object is not found", subject.api.get(subject.part("conformance-none", "status")), 404, "NotFound");
  const Answer main = subject.api.put(subject.item(name), subject.api.get(subject.item(name)).object);
  report.code("the object itself can be updated, too", main, 200);
  const Answer deletion = subject.api.remove(path);
  report.error("the status cannot be deleted", deletion, 405, "MethodNotAllowed");
  const Answer creation = subject.api.post(path, got.object);
  report.error("the status cannot be created", creation, 405, "MethodNotAllowed");
}

void check_scale(Subject& subject, Report& report) {
  const std::string name = subject.created(), path = subject.part(name, "scale");
  const Answer got = subject.api.get(path);
  report.holds("the scale is a Scale of autoscaling/v1", got.text("kind") == "Scale" && got.text("apiVersion") == "autoscaling/v1",
               shown(got));
  report.holds("with the object's name and version",
               got.text("metadata.name") == name && got.text("metadata.resourceVersion") == subject.version_of(name), shown(got));
  Object scale = got.object;
  ensure_object(scale, "spec")["replicas"] = 3;
  const Answer put = subject.api.put(path, scale);
  report.holds("replicas can be set", put.code == 200 && get_int_path(put.object, "spec.replicas") == 3, shown(put));
  report.holds("the new replicas can be read", get_int_path(subject.api.get(path).object, "spec.replicas") == 3);
  report.error("an old version is a conflict", subject.api.put(path, scale), 409, "Conflict");
  const Answer negative = subject.api.patch(path, "merge-patch+json", R"({"spec":{"replicas":-1}})");
  report.error("a negative number is refused", negative, 422, "Invalid");
  const Answer patched = subject.api.patch(path, "merge-patch+json", R"({"spec":{"replicas":2}})");
  report.holds("replicas can be patched", patched.code == 200 && get_int_path(patched.object, "spec.replicas") == 2, shown(patched));
  report.error("the scale of a missing object is not found", subject.api.get(subject.part("conformance-none", "scale")), 404, "NotFound");
}

}  // namespace backplane::conformance
