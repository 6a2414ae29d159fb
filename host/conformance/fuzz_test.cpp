#include <gtest/gtest.h>

#include <set>

#include "conformance/fuzz_bodies.hpp"
#include "conformance/fuzz_finding.hpp"

namespace backplane::conformance {
namespace {

Answer answer(int code, std::string body) {
  Answer out;
  out.code = code;
  out.body = std::move(body);
  boost::system::error_code error;
  const Value value = json::parse(out.body, error);
  if (!error && value.is_object()) out.object = value.get_object();
  return out;
}

TEST(Fuzz, EqualSeedsGiveEqualBodiesAndDifferentSeedsDifferentOnes) {
  const Object sample{{"kind", "Widget"}, {"metadata", Object{{"name", "w"}}}, {"spec", Object{{"size", 3}, {"names", Array{"a", "b"}}}}};
  std::set<std::string> bodies;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    BodyMutator one(seed), two(seed);
    const std::string body = json::serialize(one.odd_tree(sample));
    EXPECT_EQ(body, json::serialize(two.odd_tree(sample)));
    EXPECT_EQ(one.odd_bytes(body), two.odd_bytes(body));
    bodies.insert(body);
  }
  EXPECT_GT(bodies.size(), 100u);
}

TEST(Fuzz, OnlyCleanStatusesAreNoProblem) {
  EXPECT_EQ(problem_of(answer(201, R"({"kind":"Widget"})")), "");
  EXPECT_EQ(problem_of(answer(422, R"({"kind":"Status","code":422})")), "");
  EXPECT_EQ(
      problem_of(answer(500, R"({"kind":"Status","code":500,"message":"failed to create typed patch object (a/b; c/v1, Kind=D): x"})")),
      "");
  EXPECT_EQ(
      problem_of(answer(
          500,
          R"({"kind":"Status","code":500,"message":"Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"})")),
      "");
  for (const auto& wrong : {answer(500, R"({"kind":"Status","code":500,"message":"failed to create typed live object (a/b): x"})"),
                            answer(500, R"({"code":500,"message":"failed to create typed patch object (a/b): x"})"),
                            answer(500, R"({"kind":"Status","code":500})"), answer(0, "EOF"), answer(400, "plain text"),
                            answer(400, R"({"kind":"Status","code":422})"), answer(200, "")}) {
    EXPECT_NE(problem_of(wrong), "") << wrong.code;
  }
}

TEST(Fuzz, AFindingIsReadAsItWasWritten) {
  const FuzzFinding finding{"a fault", "500 \xff", {{"POST", "/a", "application/json", std::string("\0\xff{", 3)}, {"GET", "/b", "", ""}}};
  const auto read = read_finding(write_finding(finding));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->requests.size(), 2u);
  EXPECT_EQ(read->requests[0].body, finding.requests[0].body);
  EXPECT_EQ(read->requests[1].target, "/b");
  EXPECT_EQ(read->problem, "a fault");
  for (const std::string_view wrong : {"", "[]", "{}", R"({"requests":[{"method":"GET","body":"%"}]})"}) {
    EXPECT_FALSE(read_finding(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace backplane::conformance
