#include "watchcache/json_scan.hpp"

#include <gtest/gtest.h>

#include "watchcache/entry.hpp"

namespace backplane {
namespace {

CacheConfig config(bool sorted = false) {
  CacheConfig config;
  config.prefix = "/registry/pods/";
  config.kind = "Pod";
  config.api_version = "v1";
  config.sorted_keys = sorted;
  config.fields = {
      {"spec.nodeName", "spec.nodeName", ""}, {"status.phase", "status.phase", "Pending"}, {"spec.flag", "spec.flag", "false"}};
  return config;
}

KeyValue stored(std::string key, std::string value, Revision revision) {
  KeyValue kv;
  kv.key = std::move(key);
  kv.value = SharedBytes(std::move(value));
  kv.mod_revision = revision;
  return kv;
}

std::string with_version(std::string json, bool sorted, Revision revision = 7) {
  const EntryBuilder builder(config(sorted));
  return std::string(builder.build(stored("/registry/pods/ns/a", std::move(json), revision), WatchEvent::Type::kAdded)->json().view());
}

TEST(JsonScan, WalksMembersOverStringsThatHoldBracketsAndQuotes) {
  const std::string text = R"({"a":"}\"{","b":[{"x":"]"},2],"c":{"d":{}},"e":-1.5e3,"f":null})";
  std::vector<std::pair<std::string, std::string>> members;
  for (MemberScan scan(text, 0); scan.next();) members.emplace_back(scan.key(), scan.value());
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"a", R"("}\"{")"}, {"b", R"([{"x":"]"},2])"}, {"c", R"({"d":{}})"}, {"e", "-1.5e3"}, {"f", "null"}};
  EXPECT_EQ(members, wanted);
}

// The scan reads many bytes at a time. Its result must not depend on the alignment.
TEST(JsonScan, NestedValuesEndWhereTheyEndAtEveryOffset) {
  for (std::size_t pad = 0; pad < 140; ++pad) {
    for (const std::string& tail : {std::string(), std::string(70, 'y'), std::string(63, '\\') + "\\", std::string(R"(]}\"{[)")}) {
      const std::string nested = R"([{"x":"]\\\"}"},{"y":"\\\\","z":[[{}],[]]},")" + tail + R"("])";
      const std::string text = R"({"p":")" + std::string(pad, 'x') + R"(","b":)" + nested + R"(,"c":{"d":1}})";
      MemberScan scan(text, 0);
      ASSERT_TRUE(scan.next() && scan.next());
      EXPECT_EQ(scan.value(), nested) << pad;
      ASSERT_TRUE(scan.next());
      EXPECT_EQ(scan.value(), R"({"d":1})");
      EXPECT_FALSE(scan.next());
      EXPECT_EQ(scan.leave(), text.size());
    }
  }
}

TEST(JsonScan, DamagedTextYieldsMissingMembersOnly) {
  for (const char* text : {"", "{", "[]", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":{\"b\":[", "{\"a\":\"x\\", "{]}"}) {
    for (MemberScan scan(text, 0); scan.next();) EXPECT_LE(scan.value_end(), std::string_view(text).size());
    EXPECT_FALSE(scan_metadata(text, false).found);
  }
}

TEST(JsonScan, ScalarsAreReadAsSelectorsCompareThem) {
  EXPECT_EQ(scalar_text(R"("a\u00e9\n\"\ud83d\ude00")"), "a\xc3\xa9\n\"\xf0\x9f\x98\x80");
  EXPECT_EQ(scalar_text("true"), "true");
  EXPECT_EQ(scalar_text("12"), "12");
  EXPECT_EQ(scalar_text("null"), "");
  EXPECT_EQ(scalar_text("{}"), "");
}

TEST(FieldPlan, ReadsAllPathsInOnePassAndGivesDefaults) {
  const FieldPlan plan(config().fields);
  using Values = std::vector<std::string>;
  EXPECT_EQ(plan.extract(R"({"spec":{"a":{"nodeName":"no"},"nodeName":"n1","flag":true},"status":{"phase":"Running"}})"),
            (Values{"n1", "Running", "true"}));
  EXPECT_EQ(plan.extract(R"({"spec":{},"status":{"phase":null}})"), (Values{"", "Pending", "false"}));
  EXPECT_EQ(plan.extract("{}"), (Values{"", "Pending", "false"}));
}

TEST(EntryBuilder, PutsTheResourceVersionBehindUid) {
  EXPECT_EQ(with_version(R"({"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","generation":1},"spec":{}})", false),
            R"({"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":1},"spec":{}})");
  EXPECT_EQ(with_version(R"({"metadata":{"name":"a"}})", false), R"({"metadata":{"name":"a","resourceVersion":"7"}})");
  EXPECT_EQ(with_version(R"({"metadata":{}})", false), R"({"metadata":{"resourceVersion":"7"}})");
  EXPECT_EQ(with_version(R"({"metadata":{"labels":{"uid":"x"}}})", false), R"({"metadata":{"resourceVersion":"7","labels":{"uid":"x"}}})");
}

TEST(EntryBuilder, ReplacesAResourceVersionThatIsThere) {
  EXPECT_EQ(with_version(R"({"metadata":{"name":"a","resourceVersion":"123456","labels":{}}})", false),
            R"({"metadata":{"name":"a","resourceVersion":"7","labels":{}}})");
  EXPECT_EQ(with_version(R"({"metadata":{"labels":{},"resourceVersion":"1"}})", false),
            R"({"metadata":{"labels":{},"resourceVersion":"7"}})");
}

TEST(EntryBuilder, SortedKeysKeepTheirOrder) {
  EXPECT_EQ(with_version(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","uid":"u"}})", true),
            R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","resourceVersion":"7","uid":"u"}})");
  EXPECT_EQ(with_version(R"({"metadata":{"name":"a"}})", true), R"({"metadata":{"name":"a","resourceVersion":"7"}})");
}

TEST(EntryBuilder, ReadsNameNamespaceLabelsAndFields) {
  const EntryBuilder builder(config());
  const auto entry = builder.build(
      stored("/registry/pods/ns/a",
             R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"b":"2","a":"1"}},"spec":{"nodeName":"n1"}})", 9),
      WatchEvent::Type::kModified);
  EXPECT_EQ(entry->ns(), "ns");
  EXPECT_EQ(entry->name(), "a");
  EXPECT_EQ(entry->revision, 9);
  EXPECT_EQ(entry->labels().copy(), (Labels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(entry->fields().copy(), (std::vector<std::string>{"n1", "Pending", "false"}));
  EXPECT_EQ("{" + std::string(entry->json().view().substr(entry->item_offset())),
            R"({"metadata":{"name":"a","resourceVersion":"9","labels":{"b":"2","a":"1"}},"spec":{"nodeName":"n1"}})");
}

TEST(EntryBuilder, FieldsAreFoundBeforeAndBehindMetadataAndNotInIt) {
  const auto fields = [](const std::string& json) {
    return EntryBuilder(config(true)).build(stored("/registry/pods/ns/a", json, 9), WatchEvent::Type::kAdded)->fields().copy();
  };
  using Values = std::vector<std::string>;
  const std::string metadata = R"("metadata":{"labels":{"}":"{"},"name":"a","spec":{"nodeName":"no"}})";
  EXPECT_EQ(fields(R"({"apiVersion":"v1","kind":"Pod",)" + metadata + R"(,"spec":{"nodeName":"n1"}})"), (Values{"n1", "Pending", "false"}));
  EXPECT_EQ(fields(R"({"data":{},"spec":{"nodeName":"n1"},)" + metadata + R"(,"status":{"phase":"Running"}})"),
            (Values{"n1", "Running", "false"}));
  EXPECT_EQ(fields("{" + metadata + "}"), (Values{"", "Pending", "false"}));
}

TEST(EntryBuilder, TheFrameAndTheObjectAreOneBuffer) {
  const EntryBuilder builder(config());
  const auto entry = builder.build(stored("/registry/pods/ns/a", R"({"metadata":{}})", 2), WatchEvent::Type::kModified);
  EXPECT_EQ(entry->json_frame().view(), "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"resourceVersion\":\"2\"}}}\n");
  EXPECT_EQ(entry->event(), WatchEvent::Type::kModified);
  EXPECT_GE(entry->json().view().data(), entry->json_frame().view().data());
  EXPECT_LE(entry->json().view().data() + entry->json_size(), entry->json_frame().view().data() + entry->json_frame().size());
}

TEST(EntryBuilder, BookmarksHaveTheKindAndTheRevision) {
  auto plain = config();
  plain.empty_members = R"(,"spec":{"containers":null},"status":{})";
  EXPECT_EQ(EntryBuilder(plain).bookmark(5, true).object->json_frame().view(),
            "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"5\","
            "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}},\"spec\":{\"containers\":null},\"status\":{}}}\n");
  EXPECT_EQ(EntryBuilder(config(true)).bookmark(5, false).object->json().view(),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"5"}})");
}

}  // namespace
}  // namespace backplane
