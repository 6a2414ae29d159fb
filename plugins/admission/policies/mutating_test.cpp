#include "policies/policy_fixture.hpp"

namespace backplane::admission::policies::testing {
namespace {

using MutatingPolicies = PolicyFixture;

std::string patches(const std::string& expression) {
  return R"({"patchType":"JSONPatch","jsonPatch":{"expression":")" + expression + "\"}}";
}
std::string applies(const std::string& expression) {
  return R"({"patchType":"ApplyConfiguration","applyConfiguration":{"expression":")" + expression + "\"}}";
}
std::string spec(const std::string& mutations, const std::string& more = R"("reinvocationPolicy":"Never")") {
  return more + R"(,"mutations":[)" + mutations + "]";
}

TEST_F(MutatingPolicies, AnIgnoredFailureAfterTheDeadlineRefuses) {
  mutation("a", R"("failurePolicy":"Ignore",)" + spec(patches("[JSONPatch{op: object.missing, path: '/data'}]")));
  start();
  TestWrite write(config_map("a"));
  AdmissionReinvocation first, second;
  EXPECT_EQ(admit(write, first).message(), "");
  write.context.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(admit(write, second).message(), "Timeout: request did not complete within requested timeout");
}

TEST_F(MutatingPolicies, ChangeObjectsInBothWays) {
  mutation("a", spec(patches("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'by': request.userInfo.username}}]")));
  mutation("b", spec(applies("Object{data: object.data.transformMap(k, v, v + '!')}") + "," +
                     applies("Object{metadata: Object.metadata{labels: {'n': string(object.data.size())}}}")));
  start();
  TestWrite write(config_map("a", R"({"x":"1"})"));
  AdmissionReinvocation reinvocation;
  EXPECT_EQ(admit(write, reinvocation).message(), "");
  EXPECT_EQ(to_json(write.tree),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"team-a","labels":{"by":"alice","n":"1"}},)"
            R"("data":{"x":"1!"}})");
  EXPECT_TRUE(reinvocation.requested());
}

TEST_F(MutatingPolicies, DoNotChangeObjectsThatDoNotMatch) {
  mutation("a", spec(patches("[JSONPatch{op: 'remove', path: '/data'}]"),
                     R"("matchConditions":[{"name":"c","expression":"object.metadata.name == 'b'"}],"reinvocationPolicy":"Never")"));
  start();
  TestWrite write(config_map("a"));
  AdmissionReinvocation reinvocation;
  EXPECT_TRUE(admit(write, reinvocation).ok());
  EXPECT_EQ(to_json(write.tree), config_map("a"));
  EXPECT_FALSE(reinvocation.requested());
  EXPECT_FALSE(mutating->handles(AdmissionOperation::kDelete));
}

TEST_F(MutatingPolicies, RefuseWhatTheyCannotChange) {
  struct Refusal {
    std::string mutation, message;
  };
  const std::vector<Refusal> cases = {
      {patches("[JSONPatch{op: 'replace', path: '/no/where', value: 1}]"),
       "JSON Patch: replace operation does not apply: doc is missing path: /no/where: missing value"},
      {patches("[JSONPatch{op: 'add', path: object.missing, value: 1}]"),
       "expression '[JSONPatch{op: 'add', path: object.missing, value: 1}]' resulted in error: no such key: missing"},
      {patches("'a'"), "must evaluate to list(JSONPatch) but got string"},
      {applies("Object{data: Object.other{}}"),
       "type mismatch: unexpected type name \"Object.other\", expected \"Object.data\", which matches field name path from root Object "
       "type"},
  };
  start();
  for (const Refusal& each : cases) {
    mutation("m", spec(each.mutation));
    host.turns.run_until_idle();
    TestWrite write(config_map("a"));
    AdmissionReinvocation reinvocation;
    const Status status = admit(write, reinvocation);
    EXPECT_EQ(status.message(), "policy 'm' with binding 'm-binding' denied request: " + each.message);
    EXPECT_EQ(status.code(), 403);
    EXPECT_EQ(status.reason(), Reason::kInvalid);
    mutation("m", spec(each.mutation, R"("failurePolicy":"Ignore","reinvocationPolicy":"Never")"));
    host.turns.run_until_idle();
    EXPECT_TRUE(admit(write, reinvocation).ok());
    EXPECT_EQ(to_json(write.tree), config_map("a"));
  }
}

TEST_F(MutatingPolicies, RunAgainIfNeeded) {
  const std::string count = "[JSONPatch{op: 'add', path: '/data/";
  const std::string next = "', value: has(object.data.";
  const auto counting = [&](const std::string& key) {
    return patches(count + key + next + key + ") ? object.data." + key + " + '+' : '1'}]");
  };
  mutation("a", spec(counting("needed"), R"("reinvocationPolicy":"IfNeeded")"));
  mutation("b", spec(counting("never")));
  start();
  TestWrite write(config_map("a"));
  AdmissionReinvocation reinvocation;
  EXPECT_TRUE(admit(write, reinvocation).ok());
  ASSERT_TRUE(reinvocation.requested());
  reinvocation.begin_again();
  EXPECT_TRUE(admit(write, reinvocation).ok());
  EXPECT_EQ(to_json(*get_object(write.tree, "data")), R"({"needed":"1+","never":"1"})");
}

TEST_F(MutatingPolicies, AreOffWithTheirGate) {
  host.flags["feature-gates.MutatingAdmissionPolicy"] = "false";
  start();
  EXPECT_FALSE(mutating->handles(AdmissionOperation::kCreate));
  EXPECT_TRUE(mutating->ready());
}

}  // namespace
}  // namespace backplane::admission::policies::testing
