#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

constexpr std::string_view kFinalizer = "conformance.example.com/hold";

std::string options(Object members) {
  members["apiVersion"] = "v1";
  members["kind"] = "DeleteOptions";
  return to_json(members);
}

Answer hold(Subject& subject, const std::string& name) {
  Object object = subject.object(name);
  ensure_object(object, "metadata")["finalizers"] = Array{Value(kFinalizer)};
  return subject.api.post(subject.collection(), object);
}

std::string finalizers(Array list) { return to_json(Object{{"metadata", Object{{"finalizers", std::move(list)}}}}); }

}  // namespace

void check_delete(Subject& subject, Report& report) {
  std::string name = subject.created();
  const Answer dry = subject.api.remove(subject.item(name, "dryRun=All"));
  report.holds("a dry run deletes nothing", dry.code == 200 && subject.api.get(subject.item(name)).code == 200, shown(dry));
  const Answer uid = subject.api.remove(subject.item(name), options({{"preconditions", Object{{"uid", "other"}}}}));
  report.error("another uid is a conflict", uid, 409, "Conflict");
  const Answer version = subject.api.remove(subject.item(name), options({{"preconditions", Object{{"resourceVersion", "1"}}}}));
  report.error("another version is a conflict", version, 409, "Conflict");
  report.error("an unknown propagationPolicy is refused", subject.api.remove(subject.item(name, "propagationPolicy=Never")), 422,
               "Invalid");
  report.error("two policies are refused",
               subject.api.remove(subject.item(name), options({{"propagationPolicy", "Orphan"}, {"orphanDependents", true}})), 422,
               "Invalid");
  report.error("invalid options are refused", subject.api.remove(subject.item(name), "{"), 400, "BadRequest");
  report.code("the object still exists", subject.api.get(subject.item(name)), 200);
  const std::string current = subject.version_of(name);
  const Answer gone =
      subject.api.remove(subject.item(name), options({{"preconditions", Object{{"resourceVersion", current}}}, {"gracePeriodSeconds", 0}}));
  report.code("deletes an object", gone, 200);
  report.holds("the answer is the object or a Status", gone.text("kind") == "Status" || gone.text("kind") == subject.type.kind,
               shown(gone));
  report.error("the object is then not found", subject.api.get(subject.item(name)), 404, "NotFound");
  report.error("a second delete is not found", subject.api.remove(subject.item(name)), 404, "NotFound");
  report.code("the name can be used again", subject.create(name), 201);
  const Answer query = subject.api.remove(subject.item(name, "gracePeriodSeconds=0&propagationPolicy=Background"));
  report.code("options may be in the query", query, 200);
}

void check_finalizers(Subject& subject, Report& report) {
  const std::string name = subject.fresh(), path = subject.item(name);
  report.code("an object with a finalizer", hold(subject, name), 201);
  const Answer deletion = subject.api.remove(subject.item(name, "gracePeriodSeconds=0"));
  report.code("its deletion begins", deletion, 200);
  const Answer going = subject.api.get(path);
  report.holds("the object remains, with a deletionTimestamp", going.code == 200 && !going.text("metadata.deletionTimestamp").empty(),
               shown(going));
  report.code("a second deletion changes nothing", subject.api.remove(path), 200);
  report.holds("the deletionTimestamp does not change",
               subject.api.get(path).text("metadata.deletionTimestamp") == going.text("metadata.deletionTimestamp"));
  report.code("other fields can be changed", subject.api.patch(path, "merge-patch+json", label_patch("a", "b")), 200);
  const Answer more = subject.api.patch(path, "merge-patch+json", finalizers({Value(kFinalizer), Value("conformance.example.com/more")}));
  report.error("no finalizer can be added", more, 422, "Invalid");
  report.code("the last finalizer can be removed", subject.api.patch(path, "merge-patch+json", finalizers({})), 200);
  report.error("the object is deleted", subject.api.get(path), 404, "NotFound");
}

void check_delete_collection(Subject& subject, Report& report) {
  const std::string label = subject.fresh(), other = subject.created();
  for (int i = 0; i < 3; ++i)
    subject.api.post(subject.collection(), subject.labelled(label + "-" + std::to_string(i), "conformance", label));
  const std::string mine = "labelSelector=conformance%3D" + label;
  const auto left = [&] {
    const Answer list = subject.api.get(subject.collection(mine));
    const Array* items = get_array(list.object, "items");
    return items == nullptr ? std::size_t{99} : items->size();
  };
  report.holds("a dry run deletes nothing", subject.api.remove(subject.collection(mine + "&dryRun=All")).code == 200 && left() == 3);
  report.error("an invalid selector is refused", subject.api.remove(subject.collection("labelSelector=a+b+c")), 400, "BadRequest");
  report.code("deletes the selected objects", subject.api.remove(subject.collection(mine)), 200);
  report.holds("all selected objects are deleted", left() == 0);
  report.code("other objects are not deleted", subject.api.get(subject.item(other)), 200);
}

}  // namespace backplane::conformance
