#include "backplane/schema.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

std::string read(std::string_view text) {
  auto value = parse_yaml(text, {}, nullptr);
  return value.ok() ? to_json(*value) : value.status().message();
}
std::string written(std::string_view json) { return to_yaml(*parse_json(json, {}, nullptr)); }

TEST(ReadYaml, ResolvesPlainScalarsAsYaml11) {
  EXPECT_EQ(read("{a: yes, b: \"yes\", c: 0x1F, d: 010, e: 1_000, f: 1.50, g: ~, h: off, i: !!str 5, j: .5, k: 1e3, l: 0o17, m: -5}"),
            R"({"a":true,"b":"yes","c":31,"d":8,"e":1000,"f":1.5,"g":null,"h":false,"i":"5","j":0.5,"k":1000,"l":15,"m":-5})");
  EXPECT_EQ(read("a: 2001-01-01\nb: 1:30\nc: 1.2.3\nd: 1a\n"), R"({"a":"2001-01-01","b":"1:30","c":"1.2.3","d":"1a"})");
}

TEST(ReadYaml, MakesKeysTextsAndMergesMaps) {
  EXPECT_EQ(read("1: a\ntrue: b\n"), R"({"1":"a","true":"b"})");
  EXPECT_EQ(read("base: &b {x: 1, z: 2}\nuse:\n  <<: *b\n  z: 3\n"), R"({"base":{"x":1,"z":2},"use":{"z":3,"x":1}})");
}

TEST(ReadYaml, ReadsBlocks) {
  EXPECT_EQ(read("a: |\n  x\n  y\nb: >-\n  one\n  two\n"), R"({"a":"x\ny\n","b":"one two"})");
  EXPECT_EQ(read(""), "null");
}

TEST(ReadYaml, ReportsRepeatedKeysAsUpstreamsStrictParser) {
  DecodeReport report;
  auto value = parse_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n", {}, &report);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(to_json(*value), R"({"a":3,"b":{"c":2}})");
  EXPECT_EQ(
      report.problems,
      std::vector<std::string>{"yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n  line 5: key \"a\" already set in map"});
}

TEST(ReadYaml, SyntaxErrorsHaveALine) {
  EXPECT_EQ(read("a: b: c\n"), "error converting YAML to JSON: yaml: line 1: mapping values are not allowed in this context");
  EXPECT_EQ(read("a: *x\n"), "error converting YAML to JSON: yaml: line 1: unknown anchor referenced");
}

TEST(ReadYaml, RefusesDocumentsThatGrowWithoutBound) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 8; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j ? ",*a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(read(bomb), "error converting YAML to JSON: yaml: document contains excessive aliasing");
}

TEST(WriteYaml, WritesBlocksWithListsAtTheirKeysIndent) {
  EXPECT_EQ(written(R"({"spec":{"list":[{"b":1,"a":[1,2]},"x",[3,[]]],"empty":{},"none":null},"kind":"K"})"),
            "kind: K\nspec:\n  empty: {}\n  list:\n  - a:\n    - 1\n    - 2\n    b: 1\n  - x\n  - - 3\n    - []\n  none: null\n");
}

TEST(WriteYaml, QuotesWhatWouldReadAsSomethingElse) {
  EXPECT_EQ(written(R"({"a":"1","b":"on","c":"","d":"2020-01-01","e":"1:30","f":"null","g":"x y","h":"1.5","i":"~"})"),
            "a: \"1\"\nb: \"on\"\nc: \"\"\nd: \"2020-01-01\"\ne: \"1:30\"\nf: \"null\"\ng: x y\nh: \"1.5\"\ni: \"~\"\n");
  EXPECT_EQ(written(R"({"a":"- x","b":"a #b","c":"a:","d":"*x","e":" x","f":"it's: b","g":"'v'"})"),
            "a: '- x'\nb: 'a #b'\nc: 'a:'\nd: '*x'\ne: ' x'\nf: 'it''s: b'\ng: '''v'''\n");
  EXPECT_EQ(written(R"({"a":"x\ty","b":"\u0007","c":"a \nb"})"), "a: \"x\\ty\"\nb: \"\\a\"\nc: \"a \\nb\"\n");
}

TEST(WriteYaml, WritesTextsOfSeveralLinesAsBlocks) {
  EXPECT_EQ(written(R"({"a":"x\ny","b":"x\n\ny\n","c":"x\n\n","d":" x\ny"})"),
            "a: |-\n  x\n  y\nb: |\n  x\n\n  y\nc: |+\n  x\n\nd: |2-\n   x\n  y\n");
}

TEST(WriteYaml, FoldsLongLinesAtSpaces) {
  const std::string words(100, 'w');
  EXPECT_EQ(written(R"({"m":")" + words + R"( a b"})"), "m: " + words + "\n  a b\n");
}

TEST(WriteYaml, OrdersKeysNaturally) {
  EXPECT_EQ(written(R"({"a10":1,"a2":1,"B":1,"a":1,".":1,"f:x":1,"f:":1})"), ".: 1\nB: 1\na: 1\na2: 1\na10: 1\n'f:': 1\nf:x: 1\n");
}

TEST(WriteYaml, ReadsBackAsItWas) {
  const std::string json = R"({"a":["x",{"y":null}],"b":"multi\nline\n","c":"-1","d":-1,"e":1.5,"f":true,"g":"h\u00e9 \ud83d\ude00"})";
  const Value value = *parse_json(json, {}, nullptr);
  EXPECT_EQ(*parse_yaml(to_yaml(value), {}, nullptr), value);
}

}  // namespace
}  // namespace backplane
