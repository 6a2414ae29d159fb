#include "backplane/core/object.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "backplane/types/json_reading.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace {

TEST(SpliceResourceVersion, GoesAfterUid) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"uid":"x"}},"spec":{}})", 7,
                                    false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"uid":"x"}},"spec":{}})");
}

TEST(SpliceResourceVersion, EndsMetadataWhenNothingFollows) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a"}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}})");
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7"}})");
}

TEST(SpliceResourceVersion, LeadsWhenEverythingFollows) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"generation":1,"labels":{}}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7","generation":1,"labels":{}}})");
}

TEST(SpliceResourceVersion, FollowsKeyOrderInSortedObjects) {
  EXPECT_EQ(
      splice_resource_version(R"({"apiVersion":"e/v1","kind":"A","metadata":{"generation":1,"name":"a","uid":"u"},"spec":{"metadata":{}}})",
                              7, true),
      R"({"apiVersion":"e/v1","kind":"A","metadata":{"generation":1,"name":"a","resourceVersion":"7","uid":"u"},"spec":{"metadata":{}}})");
}

TEST(SpliceResourceVersion, ReplacesAPresentOne) {
  EXPECT_EQ(
      splice_resource_version(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"3","generation":1}})", 70, false),
      R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"70","generation":1}})");
}

TEST(SpliceResourceVersion, PassesOverEscapesAndBrackets) {
  EXPECT_EQ(splice_resource_version(R"({"a":"}\"{","b":[1,{"metadata":{"x":1}}],"kind":"A","metadata":{"name":"a\\"}})", 7, true),
            R"({"a":"}\"{","b":[1,{"metadata":{"x":1}}],"kind":"A","metadata":{"name":"a\\","resourceVersion":"7"}})");
}

TEST(SpliceResourceVersion, MakesMissingMetadata) {
  EXPECT_EQ(splice_resource_version(R"({"kind":"A","apiVersion":"v1","spec":{}})", 7, false),
            R"({"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7"},"spec":{}})");
}

TEST(MakeObject, ReadsWhatReadersNeed) {
  const Value tree = json::parse(
      R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"12","labels":{"b":"2","a":"1"}}})");
  const ObjectRef object = make_object(tree.get_object());
  EXPECT_EQ(object->name(), "a");
  EXPECT_EQ(object->ns(), "n");
  EXPECT_EQ(object->revision, 12);
  EXPECT_EQ(object->labels().copy(), (Labels{{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(object->json().view().substr(object->item_offset()).starts_with(R"("metadata":{"name":"a")"));
  EXPECT_EQ(to_json(decode(*object, {})), to_json(tree));
}

TEST(MakeObject, ListItemsOfSortedObjectsAreWhole) {
  const Value tree = json::parse(R"({"apiVersion":"e/v1","kind":"A","metadata":{"name":"a"}})");
  EXPECT_EQ(make_object(tree.get_object())->item_offset(), 0u);
}

// The test uses only the identity of the codecs.
class NamedCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "named"; }
  std::string_view media_type() const noexcept override { return "application/named"; }
  std::string_view stream_type() const noexcept override { return "application/named"; }
  bool is_text() const noexcept override { return false; }
  bool can_write(const Presentation&) const noexcept override { return true; }
  Status object(const Presentation&, const ObjectEntry&, std::vector<SharedBytes>&) const override { return {}; }
  bool measures_lists() const noexcept override { return false; }
  Status measure(const Presentation&, const ObjectEntry&, ListMeasure&) const override { return {}; }
  Result<ListTexts> list(const Presentation&, const ListFacts&, const ListMeasure&) const override { return ListTexts(); }
  Status item(const Presentation&, const ObjectEntry&, ItemSink&) const override { return {}; }
  Status frame(const Presentation&, EventType, const ObjectEntry&, std::vector<SharedBytes>&) const override { return {}; }
  bool wrote(std::string_view) const noexcept override { return false; }
  Result<std::string> to_stored(const Schema*, std::string json) const override { return json; }
  Result<std::string> from_stored(const Schema*, std::string_view stored) const override { return std::string(stored); }
};

EncodedForm form_of(std::string bytes) {
  EncodedForm form;
  form.bytes = SharedBytes(std::move(bytes));
  return form;
}

TEST(ObjectEntry, AnEncodingIsMadeOnceForAllReaders) {
  const NamedCodec first, second;
  auto entry = std::make_shared<ObjectEntry>();
  EXPECT_EQ(entry->form(first), nullptr);
  std::vector<std::thread> threads;
  std::vector<const EncodedForm*> seen(8);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = &entry->publish(i % 2 == 0 ? first : second, form_of(std::string(10, 'x'))); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], entry->form(i % 2 == 0 ? first : second));
  EXPECT_NE(entry->form(first), entry->form(second));
}

TEST(ObjectEntry, FormsAreCountedAsLongAsTheirEntryLives) {
  const NamedCodec codec;
  {
    ObjectEntry entry;
    entry.publish(codec, form_of("12345"));
    entry.publish(codec, form_of("too late"));
    EXPECT_EQ(codec.held_bytes(), 5u);
    const ObjectEntry copy(entry);
    EXPECT_EQ(copy.form(codec), nullptr) << "a copy may be changed";
  }
  EXPECT_EQ(codec.held_bytes(), 0u);
}

using Fields = std::vector<std::string>;

TEST(ObjectEntry, IdentityIsReadFromTheKeyOrAfterIt) {
  struct Case {
    std::string key, ns, name;
  };
  for (const Case& each :
       {Case{"/registry/pods/ns/a", "ns", "a"}, Case{"/registry/nodes/a", "", "a"}, Case{"", "ns", "a"}, Case{"", "", "a"},
        Case{"/k/a", "ns", "b"}, Case{"/k/xns/a", "ns", "a"}, Case{"/k/a", "", ""}, Case{"", "", ""}}) {
    ObjectEntry entry;
    entry.set_labels({{"app", "web"}});
    entry.set_fields({"x"});
    entry.set_identity(each.key, each.ns, each.name);
    EXPECT_EQ(entry.key(), each.key);
    EXPECT_EQ(entry.ns(), each.ns) << each.key;
    EXPECT_EQ(entry.name(), each.name) << each.key;
    EXPECT_EQ(entry.labels().copy(), (Labels{{"app", "web"}}));
    EXPECT_EQ(entry.fields().copy(), Fields{"x"});
  }
}

TEST(ObjectEntry, TextsOfEveryLengthReadBack) {
  for (const std::size_t size : {0, 1, 127, 128, 16'383, 16'384, 300'000}) {
    const std::string text(size, 'v');
    ObjectEntry entry;
    entry.set_fields({text, "", "last"});
    entry.set_identity("/k/a", "", "a");
    entry.set_labels({{"a", text}, {"b", ""}});
    EXPECT_EQ(entry.labels().copy(), (Labels{{"a", text}, {"b", ""}}));
    EXPECT_EQ(entry.fields().copy(), (Fields{text, "", "last"}));
    EXPECT_EQ(entry.fields()[2], "last");
    EXPECT_EQ(entry.fields().size(), 3u);
    EXPECT_EQ(entry.name(), "a");
  }
}

TEST(ObjectEntry, ACopyMayBeChanged) {
  ObjectEntry entry;
  entry.set_identity("/k/ns/a", "ns", "a");
  entry.set_labels({{"app", "web"}});
  entry.set_fields({"x", "y"});
  ObjectEntry copy(entry);
  copy.set_identity(copy.key(), copy.ns(), copy.name());  // the arguments are views of the entry's own texts
  copy.set_labels({});
  EXPECT_EQ(copy.key(), "/k/ns/a");
  EXPECT_EQ(copy.ns(), "ns");
  EXPECT_TRUE(copy.labels().empty());
  EXPECT_EQ(copy.fields().copy(), (Fields{"x", "y"}));
  EXPECT_EQ(entry.labels().copy(), (Labels{{"app", "web"}}));
}

TEST(ObjectEntry, LabelsAreFoundByTheirKey) {
  ObjectEntry entry;
  EXPECT_EQ(entry.labels().find("a"), std::nullopt);
  entry.set_labels({{"a", "1"}, {"c", ""}, {"d", "4"}});
  EXPECT_EQ(entry.labels().find("a"), "1");
  EXPECT_EQ(entry.labels().find("b"), std::nullopt);
  EXPECT_EQ(entry.labels().find("c"), "");
  EXPECT_EQ(entry.labels().find("d"), "4");
  EXPECT_EQ(entry.labels().find("e"), std::nullopt);
  EXPECT_THROW(entry.labels().at(3), std::out_of_range);
}

TEST(ObjectEntry, TheFrameHoldsTheJson) {
  ObjectEntry entry;
  EXPECT_EQ(entry.json().view(), "");
  entry.set_json_in_frame(SharedBytes(std::string("head{}tail")), 4, 2, 0, EventType::kModified);
  EXPECT_EQ(entry.json().view(), "{}");
  EXPECT_EQ(entry.json_size(), 2u);
  EXPECT_EQ(entry.json_frame().view(), "head{}tail");
  entry.set_json(SharedBytes(std::string("{\"a\":1}")));
  EXPECT_EQ(entry.json().view(), "{\"a\":1}");
  EXPECT_EQ(entry.json_frame().view(), "");
}

TEST(SharedBytes, ConcatCopiesTheParts) {
  std::string first = "ab";
  const std::array<std::string_view, 3> parts = {first, "", "cd"};
  const SharedBytes whole = SharedBytes::concat(parts);
  first = "xx";
  EXPECT_EQ(whole.view(), "abcd");
  EXPECT_EQ(whole.slice(1, 2).view(), "bc");
  EXPECT_TRUE(SharedBytes::concat({}).empty());
}

// Regression: after four changes of a definition each list converted all objects again.
TEST(ObjectEntry, TheSlotsOfDestroyedViewsAreReused) {
  const Value tree = json::parse(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a"}})");
  const ObjectRef entry = make_object(tree.get_object());
  const std::shared_ptr<const void> lasting = std::make_shared<int>(0);
  const ObjectRef kept = entry->publish_version(lasting, make_object(tree.get_object()));
  std::vector<std::weak_ptr<const ObjectEntry>> before;
  for (int i = 0; i < 20; ++i) {
    const std::shared_ptr<const void> view = std::make_shared<int>(i);
    EXPECT_EQ(entry->version(view), std::nullopt) << i;
    const ObjectRef made = entry->publish_version(view, make_object(tree.get_object()));
    EXPECT_EQ(entry->version(view), made) << i;
    EXPECT_EQ(entry->publish_version(view, make_object(tree.get_object())), made) << i;
    before.push_back(made);
  }
  EXPECT_EQ(entry->version(lasting), kept);
  const auto living = std::count_if(before.begin(), before.end(), [](const auto& each) { return !each.expired(); });
  EXPECT_EQ(living, 1) << "what views have made goes with them when another comes";
}

TEST(ObjectEntry, AFewViewsThatLiveHaveTheirPlace) {
  const Value tree = json::parse(R"({"kind":"A","apiVersion":"v1","metadata":{"name":"a"}})");
  const ObjectRef entry = make_object(tree.get_object());
  std::vector<std::shared_ptr<const void>> views;
  for (int i = 0; i < 10; ++i) {
    views.push_back(std::make_shared<int>(i));
    EXPECT_NE(entry->publish_version(views.back(), make_object(tree.get_object())), nullptr);
  }
  const auto known = std::count_if(views.begin(), views.end(), [&](const auto& view) { return entry->version(view).has_value(); });
  EXPECT_EQ(known, 4);
  EXPECT_TRUE(entry->version(views.front()).has_value());
}

// Regression: such an entry was treated as an object without finalizers.
TEST(Decode, ThrowsForAnInvalidObject) {
  ObjectEntry entry;
  entry.set_identity("/registry/things/a", {}, "a");
  for (const std::string& text :
       {std::string("{\"a\":"), std::string("[]"), "{\"a\":" + std::string(1000, '[') + std::string(1000, ']') + "}"}) {
    entry.set_json(SharedBytes(std::string(text)));
    EXPECT_THROW(decode(entry, json::storage_ptr()), UnreadableObject);
  }
  entry.set_json(SharedBytes("{\"a\":" + std::string(999, '[') + std::string(999, ']') + "}"));
  EXPECT_EQ(decode(entry, json::storage_ptr()).size(), 1u);
}

TEST(ReadJson, TakesTheDepthThatObjectsMayHave) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_TRUE(read_json(nested(33)));
  ASSERT_TRUE(read_json(nested(kMaxJsonDepth)));
  EXPECT_FALSE(read_json(nested(kMaxJsonDepth + 1)));
  EXPECT_FALSE(read_json("{"));
  const Value deep = *read_json(nested(7));
  EXPECT_FALSE(nests_deeper(deep, 7));
  EXPECT_TRUE(nests_deeper(deep, 6));
  EXPECT_FALSE(nests_deeper(Value(1), 0));
  EXPECT_TRUE(nests_deeper(Object(), 0));
}

}  // namespace
}  // namespace backplane
