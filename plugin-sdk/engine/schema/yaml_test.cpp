#include "backplane/types/schema.hpp"

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
  EXPECT_EQ(read("base: &b {x: 1, z: 2}\nuse:\n  <<: *b\n  z: 3\n"), R"({"base":{"x":1,"z":2},"use":{"x":1,"z":3}})");
}

// The results of kube-apiserver 1.36.3.
TEST(ReadYaml, KeysThatAreNumbersAreFloatsOf32Bits) {
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {{"1e6", "1e+06"},
                                                                     {"1E5", "100000"},
                                                                     {"1.0", "1"},
                                                                     {"1.50", "1.5"},
                                                                     {"+.5", "0.5"},
                                                                     {"5.", "5"},
                                                                     {"-0.0", "-0"},
                                                                     {"123456789012345678901234567890", "1.2345679e+29"},
                                                                     {"1e-7", "1e-07"},
                                                                     {"18446744073709551616", "1.8446744e+19"},
                                                                     {"0.000001", "1e-06"},
                                                                     {"16777217.5", "1.6777218e+07"},
                                                                     {"1_000.5", "1000.5"},
                                                                     {"0.1e-2_0", "1e-21"},
                                                                     {"1e-400", "0"},
                                                                     {"1e400", "1e400"},
                                                                     {"1e300", ".inf"},
                                                                     {"-1e300", "-.inf"},
                                                                     {".INF", ".inf"},
                                                                     {"-.inf", "-.inf"},
                                                                     {".NaN", ".nan"},
                                                                     {"!!float 1", "1"},
                                                                     {"0x10", "16"},
                                                                     {"1_000", "1000"},
                                                                     {"-010", "-8"},
                                                                     {"yes", "true"},
                                                                     {"2001-01-01", "2001-01-01"},
                                                                     {"1:30", "1:30"},
                                                                     {"'1e6'", "1e6"},
                                                                     {"0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF"}};
  for (const auto& [key, text] : kKeys) {
    EXPECT_EQ(read(std::string(key) + ": v"), R"({")" + std::string(text) + R"(":"v"})") << key;
    EXPECT_EQ(read("{" + std::string(key) + ": v}"), R"({")" + std::string(text) + R"(":"v"})") << key;
  }
}

TEST(ReadYaml, ReadsBlocks) {
  EXPECT_EQ(read("a: |\n  x\n  y\nb: >-\n  one\n  two\n"), R"({"a":"x\ny\n","b":"one two"})");
  EXPECT_EQ(read(""), "null");
}

TEST(ReadYaml, NumbersWithoutAFractionAreIntegers) {
  const auto value = parse_yaml("{a: 3.0, b: 1e3, c: 1e20, d: 0.5}", {}, nullptr);
  EXPECT_TRUE(value->at("a").is_int64());
  EXPECT_TRUE(value->at("b").is_int64());
  EXPECT_TRUE(value->at("c").is_double());
  EXPECT_TRUE(value->at("d").is_double());
}

TEST(ReadYaml, OfSeveralMembersTheLastStaysMergedOnesInTheirPlace) {
  EXPECT_EQ(read("b: &b {x: 1, z: 2}\nu:\n  z: 3\n  <<: *b\n"), R"({"b":{"x":1,"z":2},"u":{"z":2,"x":1}})");
  EXPECT_EQ(read("a: &a {x: 1}\nb: &b {x: 2, w: 2}\nu:\n  <<: [*a, *b]\n"), R"({"a":{"x":1},"b":{"x":2,"w":2},"u":{"x":1,"w":2}})");
  EXPECT_EQ(read("u:\n  \"<<\": {a: 1}\n"), R"({"u":{"\u003c\u003c":{"a":1}}})");
  EXPECT_EQ(read("u:\n  <<: 1\n"), "yaml: map merge requires map or sequence of maps as the value");
}

TEST(ReadYaml, ReportsRepeatedKeysAsUpstreamsStrictParser) {
  DecodeReport report;
  auto value = parse_yaml("a: 1\nb:\n  c: 1\n  c: 2\na:\n  d: 3\n1: x\n1: z\n", {}, &report);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(to_json(*value), R"({"a":{"d":3},"b":{"c":2},"1":"z"})");
  // The line is that of the value.
  EXPECT_EQ(report.problems, (std::vector<std::string>{"line 4: key \"c\" already set in map", "line 6: key \"a\" already set in map",
                                                       "line 8: key 1 already set in map"}));
}

TEST(ReadYaml, SyntaxErrorsAreLibyamlsAndNameEveryLineButTheFirst) {
  EXPECT_EQ(read("a: b: c\n"), "yaml: mapping values are not allowed in this context");
  EXPECT_EQ(read("a: 1\nb: c: d\n"), "yaml: line 2: mapping values are not allowed in this context");
  EXPECT_EQ(read("a: b\nc\n"), "yaml: line 3: could not find expected ':'");
  EXPECT_EQ(read("a: *x\n"), "yaml: unknown anchor 'x' referenced");
  EXPECT_EQ(read("a: \xff\n"), "yaml: invalid leading UTF-8 octet");
}

TEST(ReadYaml, ASlashIsNotEscaped) {
  EXPECT_EQ(read(R"({"a": "\/"})"), "yaml: found unknown escape character");
  EXPECT_EQ(read("a: \"\xC3\xA4\"\nb:\n- \"x\n  \\/\"\n"), "yaml: line 4: found unknown escape character");
  EXPECT_EQ(read("\xEF\xBB\xBF{\"\\/\": 1}"), "yaml: found unknown escape character");
  // Texts that look like one.
  EXPECT_EQ(read(R"({"a": "\\/", 'b': '\/', c: \/})"), R"({"a":"\\/","b":"\\/","c":"\\/"})");
}

TEST(ReadYaml, WhatMayNotBeDecodedIsRefused) {
  EXPECT_EQ(read("a: !!int abc\n"), "yaml: cannot decode !!str `abc` as a !!int");
  EXPECT_EQ(read("a: .inf\n"), "json: unsupported value: +Inf");
  EXPECT_EQ(read("? {a: b}\n: c\n"), "yaml: invalid map key: map[interface {}]interface {}{\"a\":\"b\"}");
  EXPECT_EQ(read("~: a\n"), "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"a\"");
  EXPECT_EQ(read("a: &a [1, *a]\n"), "yaml: anchor 'a' value contains itself");
  EXPECT_EQ(read("a: &a [1, *a]\nb: [\n"), "yaml: line 2: did not find expected node content");
}

std::string repeated(std::string_view item, std::size_t count) {
  std::string out;
  while (count-- > 0) out.append(item);
  return out;
}

// Lists of ten items, each of ten aliases to the list before.
std::string nested_aliases(int levels) {
  std::string out = "a0: &a0 [x" + repeated(",x", 9) + "]\n";
  for (int i = 1; i < levels; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    out += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + repeated("," + before, 9) + "]\n";
  }
  return out;
}

TEST(ReadYaml, AliasesMayMakeADocumentAsLargeAsGoYamlLetsThem) {
  EXPECT_TRUE(parse_yaml(nested_aliases(3), {}, nullptr).ok());
  // None of the 10^30 nodes is created.
  EXPECT_EQ(read(nested_aliases(30)), "yaml: document contains excessive aliasing");
  // In a small document 99 of 100 decodings may come from aliases.
  const std::string items = repeated("x,", 100);
  const std::string head = "a: &a [" + items + "]\n";
  EXPECT_TRUE(parse_yaml(head + "b: [" + repeated("*a,", 90) + "]\n", {}, nullptr).ok());
  EXPECT_EQ(read(head + "b: [" + repeated("*a,", 9000) + "]\n"), "yaml: document contains excessive aliasing");
}

// Each of these short texts once took seconds or gigabytes.
TEST(ReadYaml, WhatMultipliesInsideOfTheParserIsBounded) {
  EXPECT_EQ(read("%TAG !e! tag:e,2000:\n---\na: !e!x 1\n"), R"({"a":"1"})");
  std::string directives;
  for (int i = 0; i < 100; ++i) directives += "%TAG !" + std::to_string(i) + "! x\n";
  EXPECT_EQ(read(directives + "---\na: 1\n"), "yaml: the document has too many directives");
  std::string after_other_breaks = "# comment";
  for (int i = 0; i < 100; ++i) after_other_breaks += "\xC2\x85%TAG !" + std::to_string(i) + "! x";
  EXPECT_EQ(read(after_other_breaks + "\n---\na: 1\n"), "yaml: the document has too many directives");
  const std::string long_text(1 << 20, 'x');
  EXPECT_EQ(read("a: &a \"" + long_text + "\"\nb: [" + repeated("*a,", 40) + "]\n"), "yaml: document contains excessive aliasing");
  EXPECT_EQ(read("%TAG !a! " + long_text + "\n---\n[" + repeated("!a!b c,", 40) + "]\n"), "yaml: the tags of the document are too long");
  EXPECT_EQ(read("[&a x," + repeated("[", 998) + repeated("*a,", 80'000)), "yaml: document is nested too deeply for its size");
}

TEST(ReadYaml, DepthIsBoundedWithoutRecursion) {
  EXPECT_TRUE(parse_yaml(repeated("[", 900) + repeated("]", 900), {}, nullptr).ok());
  EXPECT_TRUE(parse_yaml(repeated("- ", 900) + "x", {}, nullptr).ok());
  EXPECT_EQ(read(repeated("[", 5000) + repeated("]", 5000)), "exceeded max depth");
  EXPECT_EQ(read(repeated("- ", 10000) + "x"), "exceeded max depth");
  EXPECT_EQ(read(repeated("- ", 10001) + "x"), "yaml: exceeded max depth of 10000");
  EXPECT_EQ(read("a:\n  " + repeated("[\n", 10001)), "yaml: line 10002: exceeded max depth of 10000");
  // Levels that aliases add count too.
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 1200; ++i) chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_FALSE(parse_yaml(chain, {}, nullptr).ok());
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
