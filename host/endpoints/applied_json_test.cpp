#include "endpoints/applied_json.hpp"

#include <gtest/gtest.h>

#include <random>

#include "backplane/types/schema.hpp"

namespace backplane::endpoints {
namespace {

std::string read(std::string_view text) {
  const auto tree = read_json_of_yaml(text, {});
  return tree ? to_json(*tree) : "";
}

TEST(AppliedJson, TheFastReaderAgreesWithYaml) {
  for (const std::string_view text :
       {R"({})", "{}\n", R"({"a":1,"b":-2,"c":true,"d":null,"e":[1,"x",{}],"f":{"g":"h: i # j"}})",
        R"({"a": "yes", "b": "~", "1": "0x10"})", R"({"a":"\"\\\b\f\n\r\t"})", R"({"a":9223372036854775807,"b":18446744073709551615})",
        R"({"a":"- b","c":"{d: e}","f":"&g *h !i"})"}) {
    const auto yaml = parse_yaml(text, {}, nullptr);
    ASSERT_TRUE(yaml.ok()) << text << yaml.status().message();
    EXPECT_EQ(read(text), to_json(*yaml)) << text;
  }
}

// Produces random values of all kinds, with names and texts that YAML may interpret differently.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  Value object(unsigned depth) {
    Object out;
    for (unsigned i = random_() % 5; i > 0; --i) out[text()] = value(depth);
    return out;
  }

 private:
  Value value(unsigned depth) {
    switch (random_() % (depth > 0 ? 8 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return random_() % 2 == 0;
      case 2:
        return static_cast<std::int64_t>(random_()) - (1 << 30);
      case 3:
        return ~std::uint64_t{0} - random_() % 1000;
      case 6:
        return object(depth - 1);
      case 7: {
        Array out;
        for (unsigned i = random_() % 4; i > 0; --i) out.push_back(value(depth - 1));
        return out;
      }
      default:
        return Value(text());
    }
  }
  std::string text() {
    static constexpr std::string_view kParts[] = {"~",    "null", "yes", ": ",  " #", "- ", "? ", "&a",         "*a",  "!x",  "%",
                                                  "@",    "`",    "{",   "}",   "[",  "]",  ",",  "|",          ">",   "'",   "\"",
                                                  "\\",   "\n",   "\t",  "\r",  "<<", "=",  " ",  "2026-01-01", "0x1", "0o7", "1_0",
                                                  ".inf", "1e3",  "---", "...", "on", "a",  "",   "/"};
    std::string out;
    for (unsigned i = random_() % 5; i > 0; --i) out.append(kParts[random_() % std::size(kParts)]);
    return out;
  }
  std::minstd_rand random_;
};

TEST(AppliedJson, RandomObjectsAreWhatYamlReads) {
  unsigned read_here = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const std::string text = to_json(Random(seed).object(4));
    const std::string json = read(text);
    if (json.empty()) continue;  // the YAML parser must parse this text
    ++read_here;
    const auto yaml = parse_yaml(text, {}, nullptr);
    ASSERT_TRUE(yaml.ok()) << text << yaml.status().message();
    ASSERT_EQ(json, to_json(*yaml)) << text;
  }
  EXPECT_GT(read_here, 1500u);
}

TEST(AppliedJson, TextsTooDeepForYamlAreRefused) {
  for (const std::size_t depth : {10u, 500u, 990u, 998u, 999u, 1000u, 1001u, 1002u, 1100u}) {
    std::string text(depth, '[');
    text = "{\"a\":" + text.append(depth, ']') + "}";
    const bool here = !read(text).empty();
    EXPECT_TRUE(!here || parse_yaml(text, {}, nullptr).ok()) << depth;
    EXPECT_EQ(here, depth < 1000) << depth;
  }
}

TEST(AppliedJson, TheFastReaderDoesNotReadTextThatYamlReadsDifferently) {
  const std::string long_name = "{\"" + std::string(1000, 'n') + "\":1}";
  for (const std::string_view text :
       {"", "a: b", "[1]", "{", "{a: 1}", "{\"a\":1}\n---\n{}", "{\"a\":1.0}", "{\"a\":1e3}", "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"b\":1}}", "{\t\"a\":1}", "{\n\"a\":1}", "{\"a\":\"\xC3\xA4\"}", "{\"a\":\"\x7F\"}", R"({"a":"\u0041"})",
        R"({"a":"\/"})", R"({"a":"\\\u0041"})", R"({"<<":{"a":1}})", R"({"a":[{"b":0.5}]})"}) {
    EXPECT_EQ(read(text), "") << text;
  }
  EXPECT_EQ(read(long_name), "");
}

}  // namespace
}  // namespace backplane::endpoints
