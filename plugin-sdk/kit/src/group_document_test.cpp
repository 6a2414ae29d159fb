// Groups as documents: valid ones become rows, invalid ones are refused with the path of the error.
#include "backplane/kit/group_document.hpp"

#include <gtest/gtest.h>

#include "backplane/kit/strategy.hpp"

namespace backplane::kit {
namespace {

void print_state(const Object&, std::int64_t, Array& cells) { cells.emplace_back("full"); }

std::string problem(std::string_view kinds, const GroupCode& code = {}) {
  const auto read = read_group(R"({"group": "shop.io", "versions": [{"name": "v1"}], "kinds": [)" + std::string(kinds) + "]}", code);
  return read.ok() ? "" : read.status().message();
}

TEST(GroupDocuments, AMinimalKindHasTheDefaultsOfKindFacts) {
  const auto read =
      read_group(R"({"group": "shop.io", "versions": [{"name": "v1"}], "kinds": [{"resource": "shelves", "kind": "Shelf"}]})");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const KindRow& row = read->kind("Shelf");
  EXPECT_EQ(row.resource, "shelves");
  EXPECT_EQ(row.version, "v1");
  EXPECT_TRUE(row.facts.namespaced);
  EXPECT_FALSE(row.facts.status);
  EXPECT_FALSE(row.scale.has_value());
  EXPECT_EQ(row.strategy()->table_convertor().columns().size(), 2U);  // the default columns Name and Created At
}

TEST(GroupDocuments, FactsColumnsAndCodeAreAsTheySay) {
  GroupCode code;
  code.printers.emplace("state", print_state);
  code.kinds["Shelf"] = {.time_to_live = std::chrono::seconds(5)};
  const auto read = read_group(R"({"group": "shop.io", "priority": 7, "versions": [{"name": "v1", "priority": 9}], "kinds": [
    {"resource": "shelves", "kind": "Shelf", "shortNames": ["sh"], "namespaced": false, "nameRule": "label", "status": true,
     "statusKeeps": ["labels"], "selectable": ["spec.room", {"label": "host", "path": "spec.node", "default": "none"}],
     "columns": ["name", {"name": "Boxes", "type": "integer", "path": ".spec.boxes", "absent": 0, "description": "d"},
                 {"name": "State", "description": "d", "print": "state"}, {"name": "More", "description": "d"}, "age"],
     "scale": {"specReplicas": "spec.boxes"}}]})",
                               code);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->priority, 7);
  EXPECT_EQ(read->versions[0].priority, 9);
  const KindRow& row = read->kind("Shelf");
  EXPECT_FALSE(row.facts.namespaced);
  EXPECT_EQ(row.facts.name_rule, NameRule::kDnsLabel);
  ASSERT_EQ(row.facts.selectable.size(), 2U);
  EXPECT_EQ(row.facts.selectable[1].path, "spec.node");
  EXPECT_EQ(row.facts.selectable[1].default_value, "none");
  ASSERT_EQ(row.facts.columns.size(), 5U);
  EXPECT_EQ(row.facts.columns[1].absent, Value(0));
  EXPECT_EQ(row.facts.columns[2].cells, &print_state);
  EXPECT_EQ(row.scale->spec_replicas, "spec.boxes");
  EXPECT_EQ(row.scale->status_replicas, "status.replicas");
  EXPECT_EQ(row.time_to_live, std::chrono::seconds(5));
}

TEST(GroupDocuments, CellsArePutTogetherOfParts) {
  const auto read = read_group(R"({"group": "shop.io", "versions": [{"name": "v1"}], "kinds": [
    {"resource": "shelves", "kind": "Shelf", "columns": [
      "name",
      {"name": "Of", "parts": [{"path": ".kindOf", "lower": true}, {"path": [".old", ".name"], "before": "/", "after": "!"}], "description": "d"},
      {"name": "Ports", "each": ".ports[*]", "parts": [{"path": ".port"}, {"path": ".way", "before": ":", "absent": "-"}], "join": "; ", "absent": "<none>", "description": "d"},
      {"name": "Many", "path": ".ports", "print": "count", "description": "d"},
      {"name": "State", "parts": [{"path": ".ready", "as": {"True": "Ready", "*": "Not"}, "absent": "?"}], "instead": [{"when": {".gone": true}, "show": "Going"}], "description": "d"},
      {"name": "Size", "type": "integer", "path": ".size", "absent": 0, "instead": [{"when": {".kindOf": ["Gas", "Air"]}, "show": "any"}], "description": "d"}]}]})");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto strategy = read->kind("Shelf").strategy();
  const TableConvertor& table = strategy->table_convertor();
  const auto cells = [&](const char* text) { return to_json(Value(table.cells(json::parse(text).get_object(), 0, {}))); };
  EXPECT_EQ(table.columns().size(), 6U);
  EXPECT_EQ(
      cells(
          R"({"metadata":{"name":"a"},"kindOf":"Box","name":"n","old":"","ports":[{"port":1,"way":"x"},{"port":2}],"ready":"True","size":3})"),
      R"(["a","box/n!","1:x; 2-",2,"Ready",3])");
  EXPECT_EQ(cells(R"({"metadata":{"name":"a"},"kindOf":"Gas","ready":"False"})"), R"(["a","gas","\u003cnone\u003e",0,"Not","any"])");
  EXPECT_EQ(cells(R"({"metadata":{"name":"a"},"gone":"x"})"), R"(["a","","\u003cnone\u003e",0,"Going",0])");
  const auto column = [](std::string_view words) {
    return problem(R"({"resource": "shelves", "kind": "Shelf", "columns": [{"name": "A", "description": "d", )" + std::string(words) +
                   "}]}");
  };
  EXPECT_NE(column(R"("parts": [{"before": "x"}])").find("parts[0].path must be there"), std::string::npos);
  EXPECT_NE(column(R"("path": ".a", "parts": [{"path": ".a"}])").find("path must be left out if parts is there"), std::string::npos);
  EXPECT_NE(column(R"("path": ".a", "instead": [{"when": {".b": true}}])").find("instead[0].show must be there"), std::string::npos);
}

void warn_of_size(const Value& value, const std::string& path, std::vector<std::string>& warnings) {
  if (value.is_int64() && value.get_int64() > 9) warnings.push_back(path + ": large");
}

TEST(GroupDocuments, WarningsAndStatusAreAsTheySay) {
  GroupCode code;
  code.warnings.emplace("size", warn_of_size);
  const auto read = read_group(R"({"group": "shop.io", "versions": [{"name": "v1"}], "kinds": [
    {"resource": "shelves", "kind": "Shelf", "statusOnCreate": true, "initialStatus": {"phase": "New"},
     "warnings": [{"path": "spec.sizes[*]", "check": "size"}, {"path": "spec.old", "text": "is old", "only": "new",
                   "when": [{"spec.kind": ["a", "b"]}, {"spec.any": true}], "unless": {"spec.quiet": true}},
                  {"path": "spec.ip", "check": "ip"}]}]})",
                               code);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto strategy = read->kind("Shelf").strategy();
  EXPECT_TRUE(strategy->facts().status_on_create);
  EXPECT_EQ(to_json(strategy->facts().initial_status), R"({"phase":"New"})");
  const auto warnings = [&](std::string_view spec) {
    return strategy->warnings(json::parse("{\"spec\":" + std::string(spec) + "}").get_object(), nullptr);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(warnings(R"({"sizes":[1,10]})"), Texts{"spec.sizes[1]: large"});
  EXPECT_EQ(warnings(R"({"old":1,"kind":"b"})"), Texts{"spec.old: is old"});
  EXPECT_EQ(warnings(R"({"old":1,"kind":"b","quiet":true})"), Texts{});
  EXPECT_EQ(warnings(R"({"ip":"010.0.0.1"})"), Texts{"spec.ip: non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\""});
}

TEST(GroupDocuments, FurtherVersionsAreViewsOfTheFirst) {
  const auto read = read_group(R"({"group": "shop.io", "versions": [{"name": "v2"}, {"name": "v1"}],
    "kinds": [{"resource": "shelves", "kind": "Shelf", "versions": ["v1", "v2"], "columns": ["name"]},
              {"resource": "notes", "kind": "Note", "storedAs": {"version": "v1", "kind": "Event"}, "versions": ["v2"], "fieldLabels": {"v2": {"topic": "reason"}}}]})");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->kinds.size(), 3U);
  EXPECT_TRUE(read->kinds[0].stored_kind.kind.empty());
  EXPECT_EQ(read->kinds[1].version, "v2");
  EXPECT_EQ(read->kinds[1].stored_kind, (GroupVersionKind{"shop.io", "v1", "Shelf"}));
  EXPECT_TRUE(read->kinds[1].facts.columns.empty());  // the columns belong to the stored version
  EXPECT_EQ(read->kinds[2].stored_kind, (GroupVersionKind{"", "v1", "Event"}));
  ASSERT_EQ(read->kinds[2].field_labels.size(), 1U);
}

TEST(GroupDocuments, ErrorsAreNamedWithTheirPlace) {
  const std::string start = "the document of the API group \"shop.io\": ";
  const auto of = [](std::string_view member) { return R"({"resource": "shelves", "kind": "Shelf", )" + std::string(member) + "}"; };
  EXPECT_EQ(problem(R"({"kind": "Shelf"})"), start + "kinds[0].resource must be there");
  EXPECT_EQ(problem(of(R"("statsu": true)")), start + "kinds[0].statsu is not known");
  EXPECT_EQ(problem(of(R"("status": "yes")")), start + "kinds[0].status must be true or false");
  EXPECT_EQ(problem(of(R"("nameRule": "any")")), start + "kinds[0].nameRule must be subdomain, label, label1035 or pathSegment");
  EXPECT_EQ(problem(of(R"("versions": ["v3"])")), start + "kinds[0].versions must be versions of the group");
  EXPECT_EQ(problem(of(R"("columns": [{"name": "A", "description": "d", "print": "x"}])")),
            start + "kinds[0].columns[0].print must be the name of a printer, not x");
  EXPECT_EQ(problem(of(R"("columns": [{"name": "A", "description": "d", "print": "labels"}])")),
            start + "kinds[0].columns[0].path must be there: the printer shows what stands at it");
  EXPECT_EQ(problem(of(R"("warnings": [{"path": "a", "check": "x"}])")),
            start + "kinds[0].warnings[0].check must be the name of a check, not x");
  EXPECT_EQ(problem(of(R"("warnings": [{"path": "a[", "text": "x"}])")),
            start + "kinds[0].warnings[0].path is a path with an unclosed bracket");
  EXPECT_EQ(problem(of(R"("columns": [{"name": "A", "description": "d", "path": ".a", "absent": 1, "empty": 2}])")),
            start + "kinds[0].columns[0].absent must be left out if empty is there");
  EXPECT_EQ(read_group("{").status().message(), "the document of an API group is not JSON");
}

TEST(GroupDocuments, CodeForAKindThatIsNotThereIsRefused) {
  GroupCode code;
  code.kinds["Shelve"] = {};
  EXPECT_EQ(problem(R"({"resource": "shelves", "kind": "Shelf"})", code),
            "the document of the API group \"shop.io\": there is code for the kind Shelve, which it does not have");
}

}  // namespace
}  // namespace backplane::kit
