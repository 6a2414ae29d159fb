// Converts random objects of every kind of every group to each encoding and back; the objects must be unchanged.
// Every run makes the same objects. The environment variable OBJECTS_SEED sets the random seed, OBJECTS_PER_KIND the number of objects.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "all_documents.hpp"
#include "engine/codec.hpp"
#include "schema/type.hpp"

namespace backplane {
namespace {

using schema::Form;
using schema::Property;
using schema::Type;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Makes random objects. It makes no empty lists, maps and bytes, because protobuf cannot distinguish them from absent values.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Value value(const Type& type, int depth) {
    switch (type.form()) {
      case Form::kString:
        return pick({"",
                     "a",
                     "b-c.d/e",
                     "true",
                     "1",
                     "~",
                     "null",
                     "0x1F",
                     " padded ",
                     "line\nline",
                     "tab\t\"quoted\" \\ <&>",
                     "\xC3\xBC\xE6\xB0\xB4",
                     "\xF0\x90\x85\x91",
                     "- x: y",
                     "# no comment",
                     "\x01\x7F",
                     "2001-01-01",
                     "yes",
                     "1e3",
                     ".5",
                     "'",
                     "%",
                     "\xE2\x80\xA8"});
      case Form::kBool:
        return below(2) == 0;
      case Form::kInt32:
        return pick_number({0, 1, -1, 23, 24, 255, 256, 65535, 65536, INT32_MAX, INT32_MIN});
      case Form::kInt64:
        return pick_number({0, 1, -1, 4294967296, INT64_MAX, INT64_MIN, -25, 1000000});
      case Form::kDouble:
        return reals();
      case Form::kBytes:
        return pick({"AA==", "/+8=", "aGVsbG8=", "AAECAwQFBgcICQ=="});
      case Form::kTime:
        return pick({"2008-01-01T01:01:01Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"});
      case Form::kMicroTime:
        return pick({"2008-01-01T01:01:01.000000Z", "2026-11-22T16:00:00.123456Z"});
      case Form::kDuration:
        return pick({"0s", "1h2m3s", "1.5ms", "-2s"});
      case Form::kQuantity:
        return pick({"0", "1", "500m", "1Mi", "12e6", "1k", "-3", "9223372036854775807"});
      case Form::kIntOrString:
        return below(2) == 0 ? pick({"http", "10%"}) : pick_number({0, 80, -1, INT32_MAX});
      case Form::kRawExtension:
      case Form::kAnyJson:
        return any(2);
      case Form::kFieldsV1:
        return json::parse(R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}},"k:{\"name\":\"x\"}":{}})");
      case Form::kStruct:
        return object(type, depth);
      case Form::kList:
        return list(type, depth);
      case Form::kMap:
        return map(type, depth);
      case Form::kShape:
        return shape(type, depth);
    }
    return nullptr;
  }

  Value object(const Type& type, int depth) {
    Object out;
    for (const Property& property : type.body().properties) {
      if (property.type == nullptr || property.name == "kind" || property.name == "apiVersion") continue;
      // At deep levels only leaf values are made.
      const bool leaf = !property.type->struct_like() && property.type->form() != Form::kList && property.type->form() != Form::kMap;
      if (below(10) < (depth <= 0 ? (leaf ? 2u : 0u) : 6u)) out.emplace(property.name, value(*property.type, depth - 1));
    }
    return out;
  }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
  Value pick(std::initializer_list<std::string_view> texts) { return json::string(texts.begin()[below(texts.size())]); }
  Value pick_number(std::initializer_list<std::int64_t> numbers) { return numbers.begin()[below(numbers.size())]; }
  Value reals() {
    constexpr double kReals[] = {0, 1, -4, 0.5, 1.1, 65504, 100000, 3.4028234663852886e+38, 1e300, 5.960464477539063e-8, 1.0 / 3};
    return kReals[below(std::size(kReals))];
  }

  // Sorted, like objects that were converted from YAML.
  Value any(int depth) {
    Object out;
    if (depth > 0) out["a"] = Array{nullptr, true, 1.5, any(depth - 1)};
    out["apiVersion"] = "example.com/v1";
    out["kind"] = "Any";
    out["n"] = pick_number({0, -7, INT64_MAX});
    out["t"] = pick({"x", "\xC3\xBC"});
    return out;
  }

  Value list(const Type& type, int depth) {
    Array out;
    const Type* items = type.body().items;
    for (std::size_t left = 1 + below(2); left > 0 && items != nullptr; --left) out.push_back(value(*items, depth - 1));
    return out;
  }

  Value map(const Type& type, int depth) {
    Object out;
    const Type* items = type.body().items;
    for (const char* key : {"a", "b.example.com/c", "\xC3\xBC"}) {
      if (items != nullptr && (out.empty() || below(2) == 0)) out.emplace(key, value(*items, depth - 1));
    }
    return out;
  }

  Value shape(const Type& type, int depth) {
    const schema::Body& body = type.body();
    if (body.object_shape != nullptr && depth > 0) return value(*body.object_shape, depth - 1);
    if (body.boolean_shape) return below(2) == 0;
    return body.array_shape != nullptr ? value(*body.array_shape, depth - 1) : Value(Object());
  }

  std::mt19937_64 random_;
};

// Canonical JSON; empty if the tree does not match the type.
std::string canonical(const Schema& schema, Value tree) {
  const Status normal = schema.normalize(tree, nullptr);
  EXPECT_TRUE(normal.ok()) << normal.message() << "\n" << to_json(tree);
  return normal.ok() ? to_json(tree) : std::string();
}

void expect_every_way(const Schema& schema, const std::string& json) {
  const auto read = parse_json(json, {}, nullptr);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(canonical(schema, *read), json) << "JSON";
  const auto yaml = parse_yaml(to_yaml(*read), {}, nullptr);
  ASSERT_TRUE(yaml.ok()) << yaml.status().message() << "\n" << to_yaml(*read);
  ASSERT_EQ(canonical(schema, *yaml), json) << "YAML:\n" << to_yaml(*read);
  for (const Codec* codec : {&protobuf_codec(), &cbor_codec()}) {
    const auto stored = codec->to_stored(&schema, json);
    ASSERT_TRUE(stored.ok()) << codec->name() << ": " << stored.status().message() << "\n" << json;
    const auto back = codec->from_stored(&schema, *stored);
    ASSERT_TRUE(back.ok()) << codec->name() << ": " << back.status().message() << "\n" << json;
    ASSERT_EQ(*back, json) << codec->name();
  }
}

TEST(RandomObjects, AreTheSameAfterEveryEncoding) {
  const std::uint64_t seed = number_from("OBJECTS_SEED", 1), each = number_from("OBJECTS_PER_KIND", 20);
  std::size_t kinds = 0;
  for (const GroupVersionKind& kind : all_documents().kinds()) {
    const auto* type = dynamic_cast<const Type*>(all_documents().find(kind));
    ASSERT_NE(type, nullptr);
    // Lists are skipped, because their items are checked; kinds without a protobuf message are skipped, because they are never stored.
    if (kind.kind.ends_with("List") || !type->has_protobuf()) continue;
    ++kinds;
    Maker maker(seed + std::hash<std::string>()(kind.group + kind.version + kind.kind));
    for (std::uint64_t i = 0; i < each && !testing::Test::HasFatalFailure(); ++i) {
      Value tree = maker.object(*type, 6);
      tree.get_object()["kind"] = kind.kind;
      tree.get_object()["apiVersion"] = kind.group_version().to_string();
      const testing::ScopedTrace trace(__FILE__, __LINE__, kind.group + "/" + kind.version + " " + kind.kind + " " + std::to_string(i));
      expect_every_way(*type, canonical(*type, std::move(tree)));
    }
  }
  EXPECT_GT(kinds, 150u);
}

}  // namespace
}  // namespace backplane
