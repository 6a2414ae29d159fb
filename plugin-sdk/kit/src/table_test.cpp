#include "backplane/kit/table.hpp"

#include <gtest/gtest.h>

#include "backplane/kit/strategy.hpp"

namespace backplane::kit {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

TEST(Tables, SelectorsReadAsKubectlShowsThem) {
  const Object selector = parse(
      R"({"matchLabels":{"app":"d"},"matchExpressions":[{"key":"tier","operator":"In","values":["b","a"]},{"key":"x","operator":"DoesNotExist"}]})");
  EXPECT_EQ(print_selector(&selector), "app=d,tier in (a,b),!x");
  EXPECT_EQ(print_selector(nullptr), "<none>");
}

TEST(Tables, LabelsAreSorted) {
  const Object labels = parse(R"({"b":"2","a":"1"})");
  EXPECT_EQ(print_labels(&labels), "a=1,b=2");
  EXPECT_EQ(print_labels(nullptr), "<none>");
}

TEST(Tables, CellsAreFoundAtOnePathOrAnotherOrAllOfThem) {
  const auto cell = [](TableColumn column, std::string_view object) {
    column.name = "A";
    return to_json(ColumnTable({std::move(column)}).cells(parse(object), 0, {})[0]);
  };
  const TableColumn either{.path = ".a", .fallbacks = {".b"}, .absent = "none"};
  EXPECT_EQ(cell(either, R"({"a":null,"b":"y"})"), R"("y")");
  EXPECT_EQ(cell(either, R"({"a":"x","b":"y"})"), R"("x")");
  EXPECT_EQ(cell(either, "{}"), R"("none")");
  const TableColumn all{.path = ".items[*].name", .fallbacks = {".more"}, .join = ",", .absent = "none"};
  EXPECT_EQ(cell(all, R"({"items":[{"name":"a"},{},{"name":"b"}],"more":["c",4]})"), R"("a,b,c,4")");
  EXPECT_EQ(cell(all, R"({"items":[]})"), R"("none")");
  EXPECT_EQ(cell({.path = ".a", .absent = "none", .absent_if_empty = true}, R"({"a":""})"), R"("none")");
  EXPECT_EQ(cell({.path = ".a", .absent = "none"}, R"({"a":""})"), R"("")");
}

TEST(StatusStrategy, ChangesNothingButStatusAndMetadata) {
  const StatusStrategy strategy(std::make_shared<KindStrategy>(), {.kept_metadata = {"labels"}});
  const Object old = parse(R"({"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"n":1},"status":{}})");
  Object object =
      parse(R"({"metadata":{"name":"a","labels":{"x":"2"},"annotations":{"y":"z"}},"spec":{"n":2},"extra":1,"status":{"ok":true}})");
  RequestContext context;
  strategy.prepare_for_update(context, object, old);
  EXPECT_EQ(to_json(object), R"({"metadata":{"name":"a","labels":{"x":"1"},"annotations":{"y":"z"}},"spec":{"n":1},"status":{"ok":true}})");
}

TEST(KindStrategy, FinalizersNeedADomain) {
  const KindStrategy strategy;
  RequestContext context;
  FieldErrors errors;
  strategy.validate(context, parse(R"({"metadata":{"finalizers":["kubernetes","e.com/x","plain"]}})"), errors);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.list()[0].field, "metadata.finalizers[2]");
}

}  // namespace
}  // namespace backplane::kit
