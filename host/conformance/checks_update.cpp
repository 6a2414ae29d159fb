#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

// Returns the stored object with a label added.
Object with_label(Subject& subject, const std::string& name, std::string_view value) {
  Object object = subject.api.get(subject.item(name)).object;
  ensure_object(ensure_object(object, "metadata"), "labels")["changed"] = value;
  return object;
}

Object with_metadata(Object object, std::string_view key, Value value) {
  ensure_object(object, "metadata")[key] = std::move(value);
  return object;
}

bool has_manager(const Answer& answer, std::string_view manager, std::string_view operation) {
  const Value* entries = find_path(answer.object, "metadata.managedFields");
  if (entries == nullptr || !entries->is_array()) return false;
  for (const Value& entry : entries->get_array()) {
    if (entry.is_object() && get_string(entry.get_object(), "manager") == manager &&
        get_string(entry.get_object(), "operation") == operation)
      return true;
  }
  return false;
}

void check_changes(Subject& subject, Report& report) {
  const std::string name = subject.created(), path = subject.item(name);
  const Answer before = subject.api.get(path);
  const std::string old(before.text("metadata.resourceVersion"));
  const Answer same = subject.api.put(path, before.object);
  report.holds("an update that changes nothing keeps the version", same.code == 200 && same.text("metadata.resourceVersion") == old,
               shown(same));
  const Answer changed = subject.api.put(subject.item(name, "fieldManager=updater"), with_label(subject, name, "first"));
  report.code("updates an object", changed, 200);
  report.holds("with a new version", changed.text("metadata.resourceVersion") != old);
  report.holds("with the same uid", changed.text("metadata.uid") == before.text("metadata.uid"));
  report.holds("with the same generation, for metadata alone",
               get_int_path(changed.object, "metadata.generation") == get_int_path(before.object, "metadata.generation"));
  report.holds("with managed fields of the manager", has_manager(changed, "updater", "Update"), shown(changed));
  report.holds("the change is stored", subject.api.get(path).text("metadata.labels.changed") == "first");
  const Answer conflict = subject.api.put(path, before.object);
  report.error("an old version is a conflict", conflict, 409, "Conflict");
  report.holds("the error names the object", conflict.text("details.name") == name, shown(conflict));
  report.code("a dry run answers as an update", subject.api.put(subject.item(name, "dryRun=All"), with_label(subject, name, "dry")), 200);
  report.holds("nothing is stored", subject.api.get(path).text("metadata.labels.changed") == "first");
}

}  // namespace

void check_update(Subject& subject, Report& report) {
  check_changes(subject, report);
  const std::string name = subject.created(), path = subject.item(name);
  const Object stored = subject.api.get(path).object;
  report.error("another name than the path's is refused", subject.api.put(path, with_metadata(stored, "name", "other")), 400, "BadRequest");
  report.error("another uid is a conflict", subject.api.put(path, with_metadata(stored, "uid", "11111111-1111-1111-1111-111111111111")),
               409, "Conflict");
  const Answer old = subject.api.put(path, with_metadata(stored, "creationTimestamp", "2001-01-01T00:00:00Z"));
  report.holds("the time of creation stays",
               old.text("metadata.creationTimestamp") == get_string_path(stored, "metadata.creationTimestamp"), shown(old));
  Object other = stored;
  other["kind"] = "ConformanceOther";
  const Answer kind = subject.api.put(path, other);
  report.holds("another kind is refused", kind.code == 400 || kind.code == 422, shown(kind));
  report.error("labels are checked", subject.api.put(path, with_metadata(stored, "labels", Object{{"a", "b c"}})), 422, "Invalid");
  Object anywhere = stored;
  ensure_object(anywhere, "metadata").erase("resourceVersion");
  const Answer unconditional = subject.api.put(path, anywhere);
  report.holds("without a resourceVersion the object is updated, or the version is required",
               unconditional.code == 200 || unconditional.code == 422, shown(unconditional));
  const Answer missing = subject.api.put(subject.item("conformance-none"), subject.object("conformance-none"));
  report.holds("a missing object is not found, or is created", missing.code == 404 || missing.code == 201, shown(missing));
  subject.api.remove(subject.item("conformance-none"));
}

void check_patch(Subject& subject, Report& report) {
  const std::string name = subject.created(), path = subject.item(name);
  const auto merge = [&](std::string body, std::string_view query = "") {
    return subject.api.patch(subject.item(name, query), "merge-patch+json", std::move(body));
  };
  const auto steps = [&](std::string body) { return subject.api.patch(path, "json-patch+json", std::move(body)); };
  const Answer merged = merge(label_patch("a", "b"));
  report.holds("a merge patch sets a member", merged.code == 200 && merged.text("metadata.labels.a") == "b", shown(merged));
  const Answer removed = merge(label_patch("a", ""));
  report.holds("null removes it", removed.code == 200 && removed.text("metadata.labels.a").empty(), shown(removed));
  const Answer empty = merge("{}");
  report.holds("an empty patch keeps the version",
               empty.code == 200 && empty.text("metadata.resourceVersion") == removed.text("metadata.resourceVersion"), shown(empty));
  report.error("a merge patch that is not an object is refused", merge("[]"), 400, "BadRequest");
  report.error("a truncated patch is refused", merge("{\"metadata\":"), 400, "BadRequest");
  report.error("a patch with an old version is a conflict", merge(R"({"metadata":{"resourceVersion":"1","labels":{"a":"c"}}})"), 409,
               "Conflict");
  const Answer renamed = merge(R"({"metadata":{"name":"other"}})");
  report.holds("the name cannot be patched", renamed.code == 400 || renamed.code == 422, shown(renamed));
  report.error("labels are checked", merge(label_patch("a", "b c")), 422, "Invalid");
  report.holds("a dry run stores nothing",
               merge(label_patch("dry", "run"), "dryRun=All").code == 200 && subject.api.get(path).text("metadata.labels.dry").empty());
  const Answer added = steps(R"([{"op":"add","path":"/metadata/labels","value":{"x":"y"}}])");
  report.holds("a JSON patch adds a member", added.code == 200 && added.text("metadata.labels.x") == "y", shown(added));
  report.code("a test that succeeds",
              steps(R"([{"op":"test","path":"/metadata/labels/x","value":"y"},{"op":"remove","path":"/metadata/labels/x"}])"), 200);
  report.error("a test that fails", steps(R"([{"op":"test","path":"/metadata/name","value":"other"}])"), 422, "Invalid");
  report.error("a missing path", steps(R"([{"op":"remove","path":"/metadata/none/none"}])"), 422, "Invalid");
  report.error("a JSON patch that is not a list is refused", steps("{}"), 400, "BadRequest");
  const Answer strategic = subject.api.patch(path, "strategic-merge-patch+json", label_patch("s", "t"));
  report.holds("a strategic merge patch, or another media type", strategic.code == 200 || strategic.code == 415, shown(strategic));
  report.error("a patch of another media type is refused", subject.api.patch(path, "json", "{}"), 415, "UnsupportedMediaType");
  report.error("a missing object is not found",
               subject.api.patch(subject.item("conformance-none"), "merge-patch+json", label_patch("a", "b")), 404, "NotFound");
}

namespace {

Answer apply(Subject& subject, const Object& object, const std::string& query) {
  const std::string name(get_string_path(object, "metadata.name"));
  return subject.api.patch(subject.item(name, query), "apply-patch+yaml", to_json(object));
}

bool has_conflict(const Answer& answer) {
  const Value* causes = find_path(answer.object, "details.causes");
  if (causes == nullptr || !causes->is_array() || causes->get_array().empty()) return false;
  const Object* cause = causes->get_array()[0].if_object();
  return cause != nullptr && get_string(*cause, "reason") == "FieldManagerConflict";
}

}  // namespace

void check_apply(Subject& subject, Report& report) {
  const std::string name = subject.fresh();
  const Object first = subject.labelled(name, "applied", "one");
  const Answer made = apply(subject, first, "fieldManager=one");
  if (!report.code("apply creates an object", made, 201)) return;
  report.holds("with managed fields of the operation Apply", has_manager(made, "one", "Apply"), shown(made));
  const Answer again = apply(subject, first, "fieldManager=one");
  report.holds("an equal apply keeps the resource version",
               again.code == 200 && again.text("metadata.resourceVersion") == made.text("metadata.resourceVersion"), shown(again));
  const Object second = subject.labelled(name, "applied", "two");
  const Answer conflict = apply(subject, second, "fieldManager=two");
  report.error("another manager's value is a conflict", conflict, 409, "Conflict");
  report.holds("the causes of the error name the fields", has_conflict(conflict), shown(conflict));
  report.code("the same value is shared", apply(subject, first, "fieldManager=three"), 200);
  const Answer forced = apply(subject, second, "fieldManager=two&force=true");
  report.holds("force takes the field", forced.code == 200 && forced.text("metadata.labels.applied") == "two", shown(forced));
  const Answer returned = apply(subject, subject.object(name), "fieldManager=two");
  report.holds("a field that its only manager omits is removed", returned.code == 200 && returned.text("metadata.labels.applied").empty(),
               shown(returned));
  report.error("a field manager is required", apply(subject, first, ""), 422, "Invalid");
  Object managed = first;
  ensure_object(managed, "metadata")["managedFields"] = Array{Object{{"manager", "one"}, {"operation", "Apply"}}};
  report.error("managed fields cannot be applied", apply(subject, managed, "fieldManager=one"), 400, "BadRequest");
  const std::string dry = subject.fresh();
  report.code("a dry run answers as a create", apply(subject, subject.object(dry), "fieldManager=one&dryRun=All"), 201);
  report.error("nothing is stored", subject.api.get(subject.item(dry)), 404, "NotFound");
  report.error("force is for apply", subject.api.patch(subject.item(name, "force=true"), "merge-patch+json", "{}"), 422, "Invalid");
}

}  // namespace backplane::conformance
