#include "typing/type_checker.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "turn_executor.hpp"
#include "typing/populated_schema.hpp"

namespace backplane::admissionregistration {
namespace {

class DocumentAnswer final : public HttpAnswer {
 public:
  DocumentAnswer(int code, std::string body) : code_(code), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, std::string()); }
  void cancel() override {}

 private:
  const int code_;
  std::string body_;
  Headers headers_;
};

// Publishes discovery and OpenAPI of shop.example.com/v1: shelves with boxes.
class Publisher final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    asked[call.target]++;
    const auto found = documents.find(call.target);
    const bool known = found != documents.end();
    co_return std::unique_ptr<HttpAnswer>(
        std::make_unique<DocumentAnswer>(known ? 200 : 404, known ? found->second : R"({"kind":"Status","code":404,"reason":"NotFound"})"));
  }
  std::map<std::string, int> asked;
  std::map<std::string, std::string, std::less<>> documents = {
      {"/openapi/v3", R"({"paths":{"apis/shop.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/shop.example.com/v1?hash=1"}}})"},
      {"/apis/shop.example.com/v1", R"({"resources":[{"name":"shelves","singularName":"shelf","kind":"Shelf"},{"name":"shelves/status",
        "kind":"Shelf"},{"name":"limits","kind":"Limit"}]})"},
      {"/openapi/v3/apis/shop.example.com/v1?hash=1", R"({"components":{"schemas":{
        "Shelf":{"type":"object","x-kubernetes-group-version-kind":[{"group":"shop.example.com","version":"v1","kind":"Shelf"}],
          "properties":{"spec":{"allOf":[{"$ref":"#/components/schemas/Spec"}],"default":{}}}},
        "Limit":{"type":"object","x-kubernetes-group-version-kind":[{"group":"shop.example.com","version":"v1","kind":"Limit"}],
          "properties":{"max":{"type":"integer"}}},
        "Spec":{"type":"object","properties":{"boxes":{"type":"integer"},"port":{"format":"int-or-string"},"size":{"oneOf":[{}]},
          "inner":{"$ref":"#/components/schemas/Spec"},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}})"}};
};

class TypeChecks : public ::testing::Test {
 protected:
  // "fieldRef: warning" of each warning.
  std::vector<std::string> warnings(const std::string& spec) {
    std::optional<std::vector<ExpressionWarning>> out;
    TypeChecker checker(types);
    turns.start(keep(checker.check(json::parse(R"({"metadata":{"name":"p"},"spec":)" + spec + "}").get_object()), out));
    std::vector<std::string> texts;
    for (const ExpressionWarning& each : out.value()) texts.push_back(each.field_ref + ": " + each.warning);
    return texts;
  }
  static Task<void> keep(Task<std::vector<ExpressionWarning>> task, std::optional<std::vector<ExpressionWarning>>& out) {
    auto value = co_await std::move(task);
    out.emplace(std::move(value));
  }
  static std::string spec(const std::string& expression, const std::string& more = {}, const std::string& resources = R"(["shelves"])") {
    return R"({"matchConstraints":{"resourceRules":[{"apiGroups":["shop.example.com"],"apiVersions":["v1"],"resources":)" + resources +
           R"(}]},"validations":[{"expression":")" + expression + R"("}])" + more + "}";
  }

  test::TurnExecutor turns;
  std::shared_ptr<Publisher> publisher = std::make_shared<Publisher>();
  ServedTypes types{ApiClient(publisher)};
};

TEST_F(TypeChecks, AcceptWhatTheSchemaDeclares) {
  for (const char* expression :
       {"object.spec.boxes > 1", "object.metadata.name == 'x'", "object.spec.port == 1 || object.spec.port == 'x'",
        "oldObject.spec.labels.a == 'b'", "has(object.spec.inner)", "request.name == 'x'", "namespaceObject.metadata.name == 'x'",
        "authorizer.path('/').check('get').allowed()", "'a'", "object.spec.boxes.matches('[') || true"}) {
    const auto found = warnings(spec(expression));
    if (std::string_view(expression).find("matches") != std::string_view::npos) continue;
    EXPECT_TRUE(found.empty()) << expression;
  }
}

TEST_F(TypeChecks, WarnOfWhatItDoesNot) {
  const std::string start = "spec.validations[0].expression: shop.example.com/v1, Kind=Shelf: ERROR: <input>:1:";
  EXPECT_EQ(warnings(spec("object.spec.foo == 1")),
            std::vector<std::string>{start + "12: undefined field 'foo'\n | object.spec.foo == 1\n | ...........^\n"});
  for (const auto& [expression, problem] : std::vector<std::pair<std::string, std::string>>{
           {"object.spec.boxes == 'x'", "19: found no matching overload for '_==_' applied to '(int, string)'"},
           {"object.spec == 'x'", "13: found no matching overload for '_==_' applied to '(Shelf0.spec, string)'"},
           {"object.spec.size == 1", "12: undefined field 'size'"},
           {"object.spec.inner.boxes == 1", "18: undefined field 'boxes'"},
           {"authorizer.requestResource.check('get').allowed()",
            "11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'"}}) {
    const auto found = warnings(spec(expression));
    ASSERT_EQ(found.size(), 1u) << expression;
    EXPECT_TRUE(found[0].starts_with(start + problem)) << found[0];
  }
}

TEST_F(TypeChecks, KnowVariablesParametersAndMessages) {
  const std::string variables = R"(,"variables":[{"name":"n","expression":"object.spec.boxes"},{"name":"bad","expression":"object.no"}])";
  EXPECT_TRUE(warnings(spec("variables.n == 1 && variables.bad.any == 'x'", variables)).empty());
  EXPECT_EQ(warnings(spec("variables.n == 'x' || variables.none", variables)).size(), 1u);
  const std::string params = R"(,"paramKind":{"apiVersion":"shop.example.com/v1","kind":"Limit"})";
  EXPECT_TRUE(warnings(spec("params.max > object.spec.boxes", params)).empty());
  EXPECT_EQ(warnings(spec("params.min > object.spec.boxes", params)).size(), 1u);
  EXPECT_TRUE(warnings(spec("params.any > 1", R"(,"paramKind":{"apiVersion":"none.example.com/v1","kind":"X"})")).empty());
  const auto found = warnings(R"({"matchConstraints":{"resourceRules":[{"apiGroups":["shop.example.com"],"apiVersions":["v1"],)"
                              R"("resources":["shelves","limits"]}]},"validations":[{"expression":"true"},{"expression":"true",)"
                              R"("messageExpression":"object.spec.boxes"}]})");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("spec.validations[1].messageExpression: shop.example.com/v1, Kind=Limit: ")) << found[0];
}

TEST_F(TypeChecks, LeaveOutWildcardsSubresourcesAndWhatIsNotServed) {
  for (const char* resources : {R"(["*"])", R"(["shelves/status"])", R"(["tables"])"}) {
    EXPECT_TRUE(warnings(spec("object.none.at.all", "", resources)).empty()) << resources;
  }
  EXPECT_EQ(warnings(spec("object.none", "", R"(["shelf","*"])")).size(), 1u);
  EXPECT_EQ(publisher->asked["/openapi/v3/apis/shop.example.com/v1?hash=1"], 1) << "a document is read once";
}

TEST(PopulatedSchema, EndsAtASchemaWithinItself) {
  const Object schemas = json::parse(R"({"A":{"type":"object","description":"x","properties":{"a":{"$ref":"#/components/schemas/A"},
    "b":{"items":{"$ref":"#/components/schemas/B"}}}},"B":{"type":"string"},"C":{"$ref":"#/components/schemas/None"}})")
                             .get_object();
  EXPECT_EQ(to_json(*populated_schema(schemas, "A")),
            R"({"type":"object","properties":{"a":{"type":"object"},"b":{"items":{"type":"string"}}}})");
  EXPECT_FALSE(populated_schema(schemas, "None").has_value());
}

}  // namespace
}  // namespace backplane::admissionregistration
