#include "backplane/core/meta.hpp"

#include <gtest/gtest.h>

#include <set>

#include "backplane/core/request.hpp"
#include "backplane/rest/table.hpp"

namespace backplane {
namespace {

TEST(ObjectMeta, NewMembersStandWhereObjectMetaHasThem) {
  Object object = json::parse(R"({"metadata":{"name":"a","labels":{"x":"y"}}})").get_object();
  ObjectMeta meta(object);
  meta.set("uid", "u");
  meta.set("creationTimestamp", "2024-01-01T00:00:00Z");
  meta.set("namespace", "n");
  meta.set_generation(2);
  meta.set_finalizers({"a/b"});
  EXPECT_EQ(to_json(object),
            R"({"metadata":{"name":"a","namespace":"n","uid":"u","generation":2,"creationTimestamp":"2024-01-01T00:00:00Z",)"
            R"("labels":{"x":"y"},"finalizers":["a/b"]}})");
  meta.set("uid", "");
  meta.set_finalizers({});
  EXPECT_EQ(to_json(object),
            R"({"metadata":{"name":"a","namespace":"n","generation":2,"creationTimestamp":"2024-01-01T00:00:00Z","labels":{"x":"y"}}})");
}

TEST(ObjectMeta, ReadsWhatIsThere) {
  Object object = json::parse(R"({"metadata":{"generation":3,"finalizers":["a","b"],"deletionGracePeriodSeconds":30}})").get_object();
  ObjectMeta meta(object);
  EXPECT_EQ(meta.generation(), 3);
  EXPECT_EQ(meta.finalizers(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(meta.deletion_grace_period_seconds(), 30);
  EXPECT_EQ(meta.name(), "");
  EXPECT_EQ(meta.labels(), nullptr);
}

TEST(GroupVersion, ParsesAndPrints) {
  EXPECT_EQ(GroupVersion::parse("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(GroupVersion::parse("apps/v1").path(), "/apis/apps/v1");
  EXPECT_EQ((GroupVersion{"", "v1"}).path(), "/api/v1");
}

TEST(Times, AreRfc3339) {
  EXPECT_EQ(format_rfc3339(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(parse_rfc3339("2024-02-29T12:00:00Z"), 1709208000);
  EXPECT_EQ(parse_rfc3339("2024-02-29T13:00:00.123+01:00"), 1709208000);
  EXPECT_EQ(parse_rfc3339("2023-02-29T12:00:00Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("2024-02-29 12:00:00Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339(""), std::nullopt);
  EXPECT_EQ(now_micro_rfc3339().size(), std::string("2024-02-29T12:00:00.000000Z").size());
}

TEST(Uids, AreDistinctVersionFourUuids) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uid = new_uid();
    ASSERT_EQ(uid.size(), 36u);
    ASSERT_EQ(uid[14], '4');
    ASSERT_NE(std::string("89ab").find(uid[19]), std::string::npos);
    ASSERT_TRUE(seen.insert(uid).second);
  }
}

TEST(RandomSuffix, HasFiveLettersOfTheAlphabet) {
  EXPECT_EQ(random_suffix().size(), 5u);
  EXPECT_EQ(random_suffix().find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
}

TEST(Warnings, AreKeptOnceAndBounded) {
  RequestContext context;
  context.warn("a");
  context.warn("a");
  context.warn("");
  EXPECT_EQ(context.warnings(), std::vector<std::string>{"a"});
  const std::size_t before = context.warning_count();
  context.warn("of a lost try");
  context.take_back_warnings(before);
  EXPECT_EQ(context.warnings(), std::vector<std::string>{"a"});
  for (int i = 0; i < 100; ++i) context.warn(std::string(1000, 'x') + std::to_string(i));
  std::size_t total = 0;
  for (const std::string& warning : context.warnings()) {
    EXPECT_LE(warning.size(), 256u);
    total += warning.size();
  }
  EXPECT_LE(total, 4096u + 256u);
}

TEST(HumanDuration, IsAsKubectlShowsAges) {
  EXPECT_EQ(human_duration(-5), "<invalid>");
  EXPECT_EQ(human_duration(-1), "0s");
  EXPECT_EQ(human_duration(119), "119s");
  EXPECT_EQ(human_duration(120), "2m");
  EXPECT_EQ(human_duration(200), "3m20s");
  EXPECT_EQ(human_duration(601), "10m");
  EXPECT_EQ(human_duration(3 * 3600), "3h");
  EXPECT_EQ(human_duration(3 * 3600 + 60), "3h1m");
  EXPECT_EQ(human_duration(47 * 3600), "47h");
  EXPECT_EQ(human_duration(51 * 3600), "2d3h");
  EXPECT_EQ(human_duration(10LL * 86400), "10d");
  EXPECT_EQ(human_duration(800LL * 86400), "2y70d");
  EXPECT_EQ(human_age("", 5), "<unknown>");
}

TEST(DefaultTable, ShowsNameAndCreation) {
  const Object object = json::parse(R"({"metadata":{"name":"a","creationTimestamp":"2024-01-01T00:00:00Z"}})").get_object();
  const TableConvertor& convertor = default_table_convertor();
  EXPECT_EQ(to_json(convertor.cells(object, 0, {})), R"(["a","2024-01-01T00:00:00Z"])");
  ASSERT_EQ(convertor.columns().size(), 2u);
  EXPECT_EQ(convertor.columns()[1].name, "Created At");
}

}  // namespace
}  // namespace backplane
