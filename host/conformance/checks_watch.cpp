#include <charconv>

#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

struct Event {
  std::string type, name, kind;
  std::uint64_t version = 0;
};

Event next(EventStream& events) {
  const auto got = events.next();
  if (!got) return {"end of the stream", "", "", 0};
  Event out{std::string(get_string(*got, "type")), std::string(get_string_path(*got, "object.metadata.name")),
            std::string(get_string_path(*got, "object.kind")), 0};
  const std::string_view version = get_string_path(*got, "object.metadata.resourceVersion");
  std::from_chars(version.data(), version.data() + version.size(), out.version);
  return out;
}

std::string newest(Subject& subject) {
  return std::string(subject.api.get(subject.collection("limit=1")).text("metadata.resourceVersion"));
}

void check_events(Subject& subject, Report& report) {
  const std::string name = subject.fresh();
  EventStream events = subject.api.watch(
      subject.collection("watch=true&timeoutSeconds=20&resourceVersion=" + newest(subject) + "&fieldSelector=metadata.name%3D" + name));
  if (!report.code("a watch begins", events.head(), 200)) return;
  report.holds("the response is JSON", events.head().header("Content-Type").starts_with(kJson));
  subject.create(name);
  subject.created();
  const Event added = next(events);
  report.holds("a new object is ADDED", added.type == "ADDED" && added.name == name, added.type);
  report.holds("with its kind", added.kind == subject.type.kind, added.kind);
  subject.api.patch(subject.item(name), "merge-patch+json", label_patch("a", "b"));
  const Event modified = next(events);
  report.holds("a change is MODIFIED", modified.type == "MODIFIED" && modified.name == name, modified.type);
  subject.api.remove(subject.item(name, "gracePeriodSeconds=0"));
  const Event deleted = next(events);
  report.holds("a deletion is DELETED", deleted.type == "DELETED" && deleted.name == name, deleted.type);
  report.holds("versions grow", added.version < modified.version && modified.version < deleted.version);
  EventStream again = subject.api.watch(subject.collection("watch=true&timeoutSeconds=20&resourceVersion=" + std::to_string(added.version) +
                                                           "&fieldSelector=metadata.name%3D" + name));
  report.holds("a watch from a version has the later changes",
               next(again).version == modified.version && next(again).version == deleted.version);
}

void check_selected(Subject& subject, Report& report) {
  const std::string name = subject.created();
  EventStream events = subject.api.watch(
      subject.collection("watch=true&timeoutSeconds=20&resourceVersion=" + newest(subject) + "&labelSelector=watched%3D" + name));
  const auto label = [&](std::string_view value) {
    subject.api.patch(subject.item(name), "merge-patch+json", label_patch("watched", value));
  };
  label(name);
  const Event in = next(events);
  report.holds("an object that comes to match is ADDED", in.type == "ADDED" && in.name == name, in.type);
  label("other");
  const Event out = next(events);
  report.holds("one that no longer matches is DELETED", out.type == "DELETED" && out.name == name, out.type);
}

}  // namespace

void check_watch(Subject& subject, Report& report) {
  check_events(subject, report);
  check_selected(subject, report);
  EventStream brief = subject.api.watch(subject.collection("watch=true&timeoutSeconds=1&resourceVersion=" + newest(subject)));
  report.holds("timeoutSeconds ends a watch", next(brief).type == "end of the stream");
  EventStream whole = subject.api.watch(subject.collection("watch=true&timeoutSeconds=5&resourceVersion=0"));
  report.holds("resourceVersion=0 begins with the existing objects", next(whole).type == "ADDED");
  const auto refused = [&](const std::string& query) {
    return subject.api.watch(subject.collection("watch=true&timeoutSeconds=5&" + query)).head();
  };
  report.holds("a resourceVersion that is not a number is refused", refused("resourceVersion=x").code >= 400);
  report.error("a field that cannot be selected is refused", refused("fieldSelector=conformance.none%3D1"), 400, "BadRequest");
  EventStream table = subject.api.watch(subject.collection("watch=true&timeoutSeconds=5&resourceVersion=0"),
                                        "application/json;as=Table;v=v1;g=meta.k8s.io");
  report.holds("events as tables", next(table).kind == "Table");
}

void check_watch_list(Subject& subject, Report& report) {
  const std::string label = subject.fresh();
  for (int i = 0; i < 3; ++i) subject.api.post(subject.collection(), subject.labelled(label + "-" + std::to_string(i), "listed", label));
  EventStream events =
      subject.api.watch(subject.collection("watch=true&timeoutSeconds=20&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                                           "allowWatchBookmarks=true&labelSelector=listed%3D" +
                                           label));
  if (!report.code("a watch that lists begins", events.head(), 200)) return;
  int added = 0;
  std::optional<Object> event = events.next();
  for (; event && get_string(*event, "type") == "ADDED"; event = events.next()) ++added;
  report.holds("it has the existing objects", added == 3, std::to_string(added));
  const Object* annotations = nullptr;
  if (event) {
    const Value* found = find_path(*event, {"object", "metadata", "annotations"});
    annotations = found == nullptr ? nullptr : found->if_object();
  }
  report.holds("a bookmark marks the end of the existing objects",
               event && get_string(*event, "type") == "BOOKMARK" && annotations != nullptr &&
                   get_string(*annotations, "k8s.io/initial-events-end") == "true",
               event ? to_json(*event) : "end of the stream");
  const Answer alone = subject.api.watch(subject.collection("watch=true&timeoutSeconds=5&sendInitialEvents=true")).head();
  report.error("sendInitialEvents needs resourceVersionMatch", alone, 422, "Invalid");
}

}  // namespace backplane::conformance
