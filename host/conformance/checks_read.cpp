#include <set>

#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

constexpr std::string_view kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr std::string_view kPartial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
constexpr std::string_view kPartials = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
constexpr std::size_t kObjects = 5;

std::size_t count(const Answer& answer, std::string_view list = "items") {
  const Array* items = get_array(answer.object, list);
  return items == nullptr ? 0 : items->size();
}

// Creates objects with one label, and one object without it.
std::string prepare(Subject& subject) {
  std::string label = subject.fresh();
  subject.created();
  for (std::size_t i = 0; i < kObjects; ++i) {
    Object object = subject.labelled(label + "-" + std::to_string(i), "conformance", label);
    ensure_object(ensure_object(object, "metadata"), "labels")["number"] = std::to_string(i);
    subject.api.post(subject.collection(), object);
  }
  return label;
}

}  // namespace

void check_get(Subject& subject, Report& report) {
  const std::string name = subject.fresh();
  const Answer made = subject.create(name), got = subject.api.get(subject.item(name));
  report.code("gets an object", got, 200);
  report.holds("the object is the created one", got.body == made.body, shown(got));
  report.holds("the response is JSON", got.header("Content-Type") == kJson, std::string(got.header("Content-Type")));
  const Answer none = subject.api.get(subject.item("conformance-none"));
  report.error("a missing object is not found", none, 404, "NotFound");
  report.holds("the error names the object and the resource",
               none.text("details.name") == "conformance-none" && none.text("details.kind") == subject.type.resource, shown(none));
  report.code("a read waits for its resource version",
              subject.api.get(subject.item(name, "resourceVersion=" + std::string(made.text("metadata.resourceVersion")))), 200);
  report.code("resourceVersion=0 may be answered from a cache", subject.api.get(subject.item(name, "resourceVersion=0")), 200);
  report.holds("a resourceVersion that is not a number is refused", subject.api.get(subject.item(name, "resourceVersion=x")).code >= 400);
  report.holds("pretty=true breaks lines", subject.api.get(subject.item(name, "pretty=true")).body.starts_with("{\n  \""));
  report.error("an unknown subresource is not found", subject.api.get(subject.part(name, "conformance-none")), 404, "NotFound");
}

void check_media_types(Subject& subject, Report& report) {
  const std::string name = subject.created(), path = subject.item(name);
  const Answer yaml = subject.api.get(path, "application/yaml");
  report.holds("YAML",
               yaml.code == 200 && yaml.header("Content-Type") == "application/yaml" && yaml.body.find("\nkind: ") != std::string::npos,
               shown(yaml));
  const Answer protobuf = subject.api.get(path, "application/vnd.kubernetes.protobuf");
  report.holds("protobuf, or it is not acceptable", protobuf.code == 406 || protobuf.body.starts_with(std::string_view("k8s\0", 4)),
               shown(protobuf));
  const Answer cbor = subject.api.get(path, "application/cbor");
  report.holds("CBOR, or it is not acceptable", cbor.code == 406 || cbor.body.starts_with("\xd9\xd9\xf7"), shown(cbor));
  report.code("the first supported media type is used", subject.api.get(path, "application/x-none,application/json"), 200);
  report.code("any", subject.api.get(path, "*/*"), 200);
  report.error("an unknown media type is not acceptable", subject.api.get(path, "application/x-none"), 406, "NotAcceptable");
  const Answer table = subject.api.get(path, kTable);
  report.holds("a table", table.text("kind") == "Table" && count(table, "rows") == 1, shown(table));
  report.holds("with columns, the first of which is the name",
               count(table, "columnDefinitions") > 0 && get_array(table.object, "columnDefinitions")->at(0).is_object() &&
                   get_string(get_array(table.object, "columnDefinitions")->at(0).get_object(), "name") == "Name",
               shown(table));
  const Array* rows = get_array(table.object, "rows");
  const Object* row = rows != nullptr && !rows->empty() ? rows->at(0).if_object() : nullptr;
  report.holds("with a cell for each column", row != nullptr && get_array(*row, "cells") != nullptr &&
                                                  get_array(*row, "cells")->size() == count(table, "columnDefinitions"));
  report.holds("with the object's metadata", row != nullptr && get_string_path(*row, "object.metadata.name") == name);
  const Answer whole = subject.api.get(subject.item(name, "includeObject=Object"), kTable);
  report.holds("includeObject=Object puts the object into the row",
               whole.body.find("\"kind\":\"" + subject.type.kind + "\"") != std::string::npos, shown(whole));
  const Answer partial = subject.api.get(path, kPartial);
  report.holds("metadata alone",
               partial.text("kind") == "PartialObjectMetadata" && partial.text("metadata.name") == name && !partial.object.contains("spec"),
               shown(partial));
}

void check_list(Subject& subject, Report& report) {
  const std::string label = prepare(subject), mine = "labelSelector=conformance%3D" + label;
  const Answer list = subject.api.get(subject.collection(mine));
  report.code("lists objects", list, 200);
  report.holds("as a list of the kind",
               list.text("kind") == subject.type.kind + "List" && list.text("apiVersion") == subject.type.api_version());
  report.holds("with the resource version of the list", !list.text("metadata.resourceVersion").empty());
  report.holds("the list has all objects", count(list) == kObjects, shown(list));
  const std::string version(list.text("metadata.resourceVersion"));
  report.holds("in the order of their names", list.body.find(label + "-0") < list.body.find(label + "-4"));
  if (subject.type.namespaced) report.holds("over all namespaces", count(subject.api.get(subject.everywhere(mine))) == kObjects);
  report.holds("from a cache", subject.api.get(subject.collection(mine + "&resourceVersion=0")).code == 200);
  report.holds(
      "not older than a version",
      count(subject.api.get(subject.collection(mine + "&resourceVersionMatch=NotOlderThan&resourceVersion=" + version))) == kObjects);
  subject.api.remove(subject.item(label + "-0"));
  report.holds("the list lacks the deleted object", count(subject.api.get(subject.collection(mine))) == kObjects - 1);
  report.holds("resourceVersionMatch=Exact at an older version",
               count(subject.api.get(subject.collection(mine + "&resourceVersionMatch=Exact&resourceVersion=" + version))) == kObjects);
  report.error("resourceVersionMatch needs a version", subject.api.get(subject.collection("resourceVersionMatch=Exact")), 422, "Invalid");
  report.error("resourceVersionMatch has two values", subject.api.get(subject.collection("resourceVersionMatch=Newest&resourceVersion=1")),
               422, "Invalid");
  report.error("a resourceVersion that is not a number is refused", subject.api.get(subject.collection("resourceVersion=x")), 400,
               "BadRequest");
  const Answer table = subject.api.get(subject.collection(mine), kTable);
  report.holds("as a table", table.text("kind") == "Table" && count(table, "rows") == kObjects - 1, shown(table));
  const Answer partial = subject.api.get(subject.collection(mine), kPartials);
  report.holds("as metadata alone", partial.text("kind") == "PartialObjectMetadataList" && count(partial) == kObjects - 1, shown(partial));
}

void check_pages(Subject& subject, Report& report) {
  const std::string label = prepare(subject), mine = "labelSelector=conformance%3D" + label + "&limit=2";
  std::set<std::string> names;
  std::string next;
  std::size_t pages = 0, seen = 0;
  do {
    const Answer page = subject.api.get(subject.collection(mine + (next.empty() ? "" : "&continue=" + next)));
    if (pages == 0) {
      report.holds("a page has at most `limit` objects", count(page) == 2, shown(page));
      report.holds("the page has a continue token", !page.text("metadata.continue").empty());
    }
    const Array* items = get_array(page.object, "items");
    for (const Value& item : items == nullptr ? Array() : *items)
      names.insert(std::string(get_string_path(item.get_object(), "metadata.name")));
    seen += count(page);
    next = std::string(page.text("metadata.continue"));
  } while (!next.empty() && ++pages < 10);
  report.holds("the pages have every object", names.size() == kObjects);
  report.holds("once", seen == kObjects);
  const Answer first = subject.api.get(subject.collection("limit=1"));
  report.holds("without a selector the rest is counted", get_int_path(first.object, "metadata.remainingItemCount").value_or(0) > 0,
               shown(first));
  report.error("an invalid continue token is refused", subject.api.get(subject.collection("limit=1&continue=x")), 400, "BadRequest");
  const std::string token(first.text("metadata.continue"));
  const Answer both = subject.api.get(subject.collection("continue=" + token + "&resourceVersionMatch=Exact&resourceVersion=1"));
  report.error("a token and a version exclude each other", both, 422, "Invalid");
}

void check_selectors(Subject& subject, Report& report) {
  const std::string label = prepare(subject), mine = "labelSelector=conformance%3D" + label;
  const auto found = [&](const std::string& more) { return count(subject.api.get(subject.collection(mine + more))); };
  report.holds("equality", found("%2Cnumber%3D1") == 1);
  report.holds("inequality", found("%2Cnumber!%3D1") == kObjects - 1);
  report.holds("one of a set", found("%2Cnumber+in+(1%2C2)") == 2);
  report.holds("none of a set", found("%2Cnumber+notin+(1%2C2)") == kObjects - 2);
  report.holds("selector: a present label", found("%2Cnumber") == kObjects);
  report.holds("selector: an absent label", found("%2C!number") == 0);
  report.holds("greater than", found("%2Cnumber%3E2") == 2);
  report.error("an invalid selector is refused", subject.api.get(subject.collection("labelSelector=a+b+c")), 400, "BadRequest");
  report.holds("the field metadata.name", found("&fieldSelector=metadata.name%3D" + label + "-1") == 1);
  report.holds("the field metadata.name, excluded", found("&fieldSelector=metadata.name!%3D" + label + "-1") == kObjects - 1);
  if (subject.type.namespaced) {
    report.holds("the field metadata.namespace",
                 count(subject.api.get(subject.everywhere(mine + "&fieldSelector=metadata.namespace%3D" + subject.ns))) == kObjects);
    report.holds("the field metadata.namespace, another",
                 count(subject.api.get(subject.everywhere(mine + "&fieldSelector=metadata.namespace%3Dx"))) == 0);
  }
  report.error("a field that cannot be selected is refused", subject.api.get(subject.collection("fieldSelector=conformance.none%3D1")), 400,
               "BadRequest");
}

}  // namespace backplane::conformance
