#include <gtest/gtest.h>

#include "plugin/descriptor.hpp"

namespace backplane {
namespace {

Findings problems_of(std::string_view text) {
  Findings findings;
  (void)parse_manifest(text, findings);
  return findings;
}

TEST(Manifest, EveryMemberIsRead) {
  Findings findings;
  const auto d =
      parse_manifest(R"({"name":"acme.io/widgets","version":"1.4.2","license":"Apache-2.0","vendor":"Acme","description":"widgets",
    "provides":["widgets",{"name":"acme.io/lookup","version":"2.0.0"}],
    "requires":[{"name":"core","version":"^1"},{"name":"authn","optional":true}],
    "in_front_of":["core"],"behind":["*"],"conflicts":["widgets-legacy"]})",
                     findings);
  ASSERT_TRUE(d);
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(d->version.to_string(), "1.4.2");
  ASSERT_EQ(d->provides.size(), 2u);
  EXPECT_EQ(d->provides[0].version.to_string(), "1.4.2");
  EXPECT_EQ(d->provides[1].version.to_string(), "2.0.0");
  ASSERT_EQ(d->requires_.size(), 2u);
  EXPECT_EQ(d->requires_[0].range.text(), "^1");
  EXPECT_TRUE(d->requires_[1].optional);
  EXPECT_TRUE(d->answers_to("acme.io/lookup"));
  EXPECT_TRUE(d->answers_to("*"));
  EXPECT_FALSE(d->answers_to("core"));
}

TEST(Manifest, EveryProblemIsReportedAtOnceWithItsField) {
  const auto findings =
      problems_of(R"({"name":"Bad Name","version":"1.x","license":7,"requires":[{"version":"^1"},{"name":"a","version":"~~"},
    {"name":"b","optional":"yes"}],"provides":{},"colour":"red"})");
  std::vector<std::pair<std::string_view, std::string>> seen;
  for (const auto& finding : findings) seen.emplace_back(finding.code, finding.field);
  const std::vector<std::pair<std::string_view, std::string>> expected{
      {finding_code::kUnknownMember, "colour"},         {finding_code::kBadName, "name"},
      {finding_code::kBadVersion, "version"},           {finding_code::kBadMember, "license"},
      {finding_code::kBadMember, "provides"},           {finding_code::kBadMember, "requires[0]"},
      {finding_code::kBadRange, "requires[1].version"}, {finding_code::kBadMember, "requires[2].optional"}};
  EXPECT_EQ(seen, expected);
}

TEST(Manifest, ProblemsOfATextOfSeveralLinesHaveTheirLine) {
  const auto findings = problems_of("{\"name\": \"a\",\n\"version\": \"1.x\",\n\"requires\": [\n{\"name\": \"b\", \"colour\": 1}]}");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].message, "is not a version (line 2)");
  EXPECT_EQ(findings[1].field, "requires[0].colour");
  EXPECT_EQ(findings[1].message, "is not a member this host knows (line 4)");
  EXPECT_EQ(problems_of("{\"name\": \"a\",\n\"version\": }")[0].message, "the descriptor cannot be read (line 2)");
  EXPECT_EQ(problems_of("{\"name\": \"a\",\n\"license\": \"MIT\"}")[0].message, "is not a version (line 1)") << "the line of the holder";
  EXPECT_EQ(problems_of(R"({"name":"a","version":"1.x"})")[0].message, "is not a version");
}

TEST(Manifest, DuplicateMembersAreRefused) {
  const auto findings = problems_of(
      "{\"name\": \"a\",\n\"version\": \"1.0.0\",\n\"version\": \"2.0.0\",\n"
      "\"requires\": [{\"name\": \"b\",\n\"name\": \"c\"}]}");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].code, finding_code::kBadMember);
  EXPECT_EQ(findings[0].field, "version");
  EXPECT_EQ(findings[0].message, "is a duplicate member (line 3)");
  EXPECT_EQ(findings[1].field, "requires[0].name");
  EXPECT_EQ(findings[1].message, "is a duplicate member (line 5)");
}

TEST(Manifest, InvalidJsonHasASeparateCode) {
  for (auto text : {"", "{", "[]", "null", R"({"name":"a","name")", "\xff\xfe"}) {
    const auto findings = problems_of(text);
    ASSERT_EQ(findings.size(), 1u) << text;
    EXPECT_EQ(findings[0].code, finding_code::kBadJson);
  }
}

TEST(Manifest, AVersionIsShownEvenIfInvalid) {
  const auto shown = [](const std::string& version) {
    Findings findings;
    return parse_manifest(R"({"name":"a","version":)" + version + "}", findings)->version_text;
  };
  EXPECT_EQ(shown(R"("1.4.2-rc.1")"), "1.4.2-rc.1");
  EXPECT_EQ(shown(R"("one point four")"), "one?point?four");
  EXPECT_EQ(shown("7"), "7");
  EXPECT_EQ(shown("\"\\u001b[31m" + std::string(100, 'x') + "\"").size(), 64u);
  Findings findings;
  EXPECT_EQ(parse_manifest(R"({"name":"a"})", findings)->version_text, "");
}

TEST(Manifest, ListsAreBounded) {
  std::string many = R"({"name":"a","version":"1.0.0","conflicts":[)";
  for (int i = 0; i < 300; ++i) many += (i ? "," : "") + ("\"p" + std::to_string(i) + "\"");
  const auto findings = problems_of(many + "]}");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].field, "conflicts");
}

}  // namespace
}  // namespace backplane
