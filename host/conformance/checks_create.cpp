#include <algorithm>
#include <cctype>

#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Returns the entry of the manager in managedFields; null if there is none.
const Object* entry_of(const Object& object, std::string_view manager) {
  const Value* entries = find_path(object, "metadata.managedFields");
  if (entries == nullptr || !entries->is_array()) return nullptr;
  for (const Value& entry : entries->get_array()) {
    if (entry.is_object() && get_string(entry.get_object(), "manager") == manager) return &entry.get_object();
  }
  return nullptr;
}

// Whether a cause in details.causes has a field that begins with `field`.
bool has_cause_for(const Answer& answer, std::string_view field) {
  const Value* causes = find_path(answer.object, "details.causes");
  if (causes == nullptr || !causes->is_array()) return false;
  return std::any_of(causes->get_array().begin(), causes->get_array().end(),
                     [&](const Value& cause) { return cause.is_object() && get_string(cause.get_object(), "field").starts_with(field); });
}

Object with_metadata(Subject& subject, std::string_view key, Value value) {
  Object object = subject.object(subject.fresh());
  ensure_object(object, "metadata")[key] = std::move(value);
  return object;
}

// Returns the JSON text of the object, with `member` before the other members.
std::string with_member(const Object& object, std::string_view member) {
  return "{" + std::string(member) + "," + to_json(object).substr(1);
}

void check_created(Subject& subject, Report& report) {
  const std::string name = subject.fresh();
  const Answer made = subject.create(name, "fieldManager=creator");
  if (!report.code("creates an object", made, 201)) return;
  report.holds("the answer has apiVersion and kind",
               made.text("apiVersion") == subject.type.api_version() && made.text("kind") == subject.type.kind);
  report.holds("with its name", made.text("metadata.name") == name);
  report.holds("with its namespace", made.text("metadata.namespace") == subject.ns);
  report.holds("with a uid", made.text("metadata.uid").size() == 36);
  report.holds("with a time of creation", made.text("metadata.creationTimestamp").ends_with('Z'));
  report.holds("with a resource version", is_number(made.text("metadata.resourceVersion")));
  const Object* entry = entry_of(made.object, "creator");
  report.holds("with managed fields of the creator", entry != nullptr, shown(made));
  report.holds("of the operation Update", entry != nullptr && get_string(*entry, "operation") == "Update");
  const auto generation = get_int_path(made.object, "metadata.generation");
  report.holds("with generation 1, if it has one", !generation || *generation == 1);
  const Answer again = subject.create(name);
  report.error("a second create is refused", again, 409, "AlreadyExists");
  report.holds("the error names the existing object",
               again.text("details.name") == name && again.text("details.kind") == subject.type.resource &&
                   again.text("details.group") == subject.type.group,
               shown(again));
}

void check_names(Subject& subject, Report& report) {
  Object generated = subject.object("");
  Object& metadata = ensure_object(generated, "metadata");
  metadata.erase("name");
  const Answer unnamed = subject.api.post(subject.collection(), generated);
  report.error("a name is needed", unnamed, 422, "Invalid");
  report.holds("and the error names the field", has_cause_for(unnamed, "metadata.name"), shown(unnamed));
  ensure_object(generated, "metadata")["generateName"] = "conformance-made-";
  const Answer made = subject.api.post(subject.collection(), generated);
  report.code("a name is generated", made, 201);
  const std::string_view name = made.text("metadata.name");
  report.holds("the name is the prefix and five characters", name.starts_with("conformance-made-") && name.size() == 22, std::string(name));
  const Answer slash = subject.create("a/b");
  report.error("a name with a slash is refused", slash, 422, "Invalid");
  report.holds("and the error names the field", has_cause_for(slash, "metadata.name"), shown(slash));
  report.error("a name with capital letters is refused", subject.create("Conformance_Name"), 422, "Invalid");
  report.error("a name of 254 characters is refused", subject.create(std::string(254, 'a')), 422, "Invalid");
}

void check_dry_run(Subject& subject, Report& report) {
  const std::string name = subject.fresh();
  report.code("a dry run answers as a create", subject.create(name, "dryRun=All"), 201);
  report.error("nothing is stored", subject.api.get(subject.item(name)), 404, "NotFound");
  report.error("dryRun=Some is refused", subject.create(name, "dryRun=Some"), 422, "Invalid");
}

}  // namespace

void check_create(Subject& subject, Report& report) {
  check_created(subject, report);
  check_names(subject, report);
  check_dry_run(subject, report);
  Object other = subject.object(subject.fresh());
  other["apiVersion"] = "other.example.com/v1";
  report.error("another apiVersion than the path's is refused", subject.api.post(subject.collection(), other), 400, "BadRequest");
  other = subject.object(subject.fresh());
  other["kind"] = "ConformanceOther";
  const Answer kind = subject.api.post(subject.collection(), other);
  report.holds("another kind is refused", kind.code == 400 || kind.code == 422, shown(kind));
  if (!subject.type.namespaced) return;
  report.error("another namespace than the path's is refused",
               subject.api.post(subject.collection(), with_metadata(subject, "namespace", "conformance-other")), 400, "BadRequest");
  Object lost = subject.object("lost");
  ensure_object(lost, "metadata")["namespace"] = "conformance-none";
  const std::string path = subject.type.root() + "/namespaces/conformance-none/" + subject.type.resource;
  report.error("a namespace that does not exist is not found", subject.api.post(path, lost), 404, "NotFound");
}

void check_metadata_rules(Subject& subject, Report& report) {
  const auto refused = [&](std::string_view check, std::string_view key, Value value, std::string_view field) {
    const Answer answer = subject.api.post(subject.collection(), with_metadata(subject, key, std::move(value)));
    if (report.error(check, answer, 422, "Invalid"))
      report.holds(std::string(check) + ", by name", has_cause_for(answer, field), shown(answer));
  };
  refused("a label value with a blank is refused", "labels", Object{{"a", "b c"}}, "metadata.labels");
  refused("a label key with a blank is refused", "labels", Object{{"a b", "c"}}, "metadata.labels");
  refused("an annotation key with a blank is refused", "annotations", Object{{"a b", "c"}}, "metadata.annotations");
  refused("annotations over 256 KiB are refused", "annotations", Object{{"a", std::string(262'145, 'x')}}, "metadata.annotations");
  refused("an owner without a uid is refused", "ownerReferences", Array{Object{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "a"}}},
          "metadata.ownerReferences");
  const Object owner{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "a"}, {"uid", "u"}, {"controller", true}};
  Object second = owner;
  second["uid"] = "v";
  refused("two controllers are refused", "ownerReferences", Array{owner, second}, "metadata.ownerReferences");
  refused("a finalizer with a blank is refused", "finalizers", Array{"a b"}, "metadata.finalizers");
  const Answer own = subject.api.post(subject.collection(), with_metadata(subject, "uid", "11111111-1111-1111-1111-111111111111"));
  report.holds("a uid of the client is replaced", own.code == 201 && own.text("metadata.uid") != "11111111-1111-1111-1111-111111111111",
               shown(own));
  const Answer old = subject.api.post(subject.collection(), with_metadata(subject, "creationTimestamp", "2001-01-01T00:00:00Z"));
  report.holds("a time of creation of the client is replaced",
               old.code == 201 && !old.text("metadata.creationTimestamp").starts_with("2001"), shown(old));
  const Answer going = subject.api.post(subject.collection(), with_metadata(subject, "deletionTimestamp", "2001-01-01T00:00:00Z"));
  report.holds("a time of deletion of the client is dropped", going.code == 201 && going.text("metadata.deletionTimestamp").empty(),
               shown(going));
}

void check_field_validation(Subject& subject, Report& report) {
  const auto unknown = [&](std::string_view query) {
    return subject.api.send("POST", subject.collection(query), with_member(subject.object(subject.fresh()), R"("conformanceUnknown":1)"),
                            {{"Content-Type", std::string(kJson)}});
  };
  const Answer strict = unknown("fieldValidation=Strict");
  report.error("Strict refuses an unknown field", strict, 400, "BadRequest");
  report.holds("the error names the field", strict.text("message").find("conformanceUnknown") != std::string_view::npos, shown(strict));
  const Answer warn = unknown("");
  report.code("an unknown field is dropped", warn, 201);
  report.holds("with a warning", warn.header("Warning").find("conformanceUnknown") != std::string_view::npos,
               std::string(warn.header("Warning")));
  report.holds("it is not stored", !warn.object.contains("conformanceUnknown"));
  const Answer ignore = unknown("fieldValidation=Ignore");
  report.holds("Ignore drops it without a warning", ignore.code == 201 && ignore.header("Warning").empty(), shown(ignore));
  report.error("an unknown value is refused", unknown("fieldValidation=Sometimes"), 422, "Invalid");
  const std::string twice = with_member(subject.object(subject.fresh()), R"("kind":")" + subject.type.kind + "\"");
  const Headers json{{"Content-Type", std::string(kJson)}};
  report.error("Strict refuses a duplicate field", subject.api.send("POST", subject.collection("fieldValidation=Strict"), twice, json), 400,
               "BadRequest");
  report.holds("without Strict it is a warning", !subject.api.send("POST", subject.collection(), twice, json).header("Warning").empty());
}

}  // namespace backplane::conformance
