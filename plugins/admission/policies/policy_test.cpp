#include "policies/policy.hpp"

#include <gtest/gtest.h>

namespace backplane::admission::policies {
namespace {

std::shared_ptr<const Policy> compiled(std::string_view spec, PolicyType type = PolicyType::kValidating) {
  return compile_policy(json::parse(R"({"metadata":{"name":"p"},"spec":)" + std::string(spec) + "}").get_object(), type);
}

TEST(CompiledPolicies, NoteWhatTheyUse) {
  const auto plain = compiled(R"({"validations":[{"expression":"object.metadata.name == 'a'"}]})");
  EXPECT_FALSE(plain->uses.request || plain->uses.authorizer || plain->uses.namespace_object || plain->uses.managed_fields);
  const auto all = compiled(
      R"j({"variables":[{"name":"r","expression":"request.name"}],"matchConditions":[{"name":"c","expression":"object.metadata == null"}],)j"
      R"j("validations":[{"expression":"authorizer.requestResource.check('a').allowed()",)j"
      R"j("messageExpression":"namespaceObject.metadata.name"}]})j");
  EXPECT_TRUE(all->uses.request && all->uses.authorizer && all->uses.namespace_object && all->uses.managed_fields);
}

TEST(CompiledPolicies, UseEarlierVariablesOnly) {
  const auto policy = compiled(R"({"variables":[{"name":"a","expression":"variables.b"},{"name":"b","expression":"1"}],)"
                               R"("validations":[{"expression":"variables.b == 1"}]})");
  EXPECT_EQ(policy->variables[0].program, nullptr);
  EXPECT_TRUE(policy->variables[0].problem.starts_with("compilation failed: ERROR: <input>:1:10: undefined field 'b'"));
  EXPECT_NE(policy->validations[0].expression.program, nullptr);
}

TEST(CompiledPolicies, MessagesHaveNoAuthorizer) {
  const auto policy =
      compiled(R"j({"validations":[{"expression":"true","messageExpression":"authorizer.path('/').check('get').reason()"}]})j");
  EXPECT_EQ(policy->validations[0].message.program, nullptr);
}

TEST(CompiledPolicies, OfMutationsMayReadManagedFieldsByPath) {
  const auto policy = compiled(R"({"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":)"
                               R"("[JSONPatch{op: 'remove', path: '/metadata/managedFields'}]"}}]})",
                               PolicyType::kMutating);
  EXPECT_TRUE(policy->uses.managed_fields);
  EXPECT_NE(policy->mutations[0].expression.program, nullptr) << policy->mutations[0].expression.problem;
}

TEST(ReadBindings, HaveParametersAndActions) {
  const auto binding =
      read_binding(json::parse(R"({"metadata":{"name":"b"},"spec":{"policyName":"p","paramRef":{"selector":{"matchLabels":)"
                               R"({"a":"b"}},"parameterNotFoundAction":"Deny"},"validationActions":["Audit","Warn"]}})")
                       .get_object());
  EXPECT_TRUE(binding->params->must_exist);
  EXPECT_EQ(binding->params->selector->to_string(), "a=b");
  EXPECT_TRUE(binding->audits && binding->warns && !binding->denies);
  EXPECT_FALSE(binding->match.has_value());
}

}  // namespace
}  // namespace backplane::admission::policies
