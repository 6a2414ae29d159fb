// Invalid documents, each with the line, pointer and message of the report.
#include "backplane/kit/group_check.hpp"
#include "engine/document_check.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

using Lines = std::vector<std::string>;

Lines check(std::vector<CarriedDocument> documents) {
  Lines out;
  for (const DocumentProblem& problem : check_documents(documents, kit::problem_of_group))
    out.push_back((problem.is_note ? "note: " : "") + to_line(problem));
  return out;
}

std::string structural(const std::string& spec) {
  return R"({"x-backplane-mode": "structural",
"definitions": {"com.example.v1.Thing": {"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
"type": "object", "properties": {
"spec": )" +
         spec + "}}}}";
}
std::string typed(const std::string& spec) {
  return R"({"definitions": {"com.example.v1.Thing": {"type": "object", "properties": {
"spec": )" +
         spec + "}}}}";
}
const std::string kAt = "/definitions/com.example.v1.Thing/properties/spec";

Lines of_structural(const std::string& spec) { return check({{"t.json", structural(spec)}}); }
Lines of_typed(const std::string& spec) { return check({{"t.json", typed(spec)}}); }

TEST(DocumentCheck, ValidDocumentsHaveNoProblems) {
  EXPECT_EQ(of_structural(R"({"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "pattern": "^a"}}})"),
            Lines());
  EXPECT_EQ(of_typed(R"({"type": "string", "x-backplane-rules": {"maxLength": 5}})"), Lines());
  EXPECT_EQ(of_typed(R"({"allOf": [{"$ref": "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"}], "default": {}})"), Lines());
}

TEST(DocumentCheck, AWordThatNoEngineKnowsIsRefusedWithItsPlace) {
  EXPECT_EQ(of_structural("{\"type\": \"string\",\n\"minLenght\": 1}"),
            Lines{"t.json:5: " + kAt + "/minLenght: \"minLenght\" is not a keyword of schemas; did you mean \"minLength\"?"});
  EXPECT_EQ(of_structural(R"({"type": "array", "items": {"type": "string", "colour": 1}})"),
            Lines{"t.json:4: " + kAt + "/items/colour: \"colour\" is not a keyword of schemas"});
  EXPECT_EQ(of_structural(R"({"type": "object", "x-kubernetes-validations": []})").size(), 1u);
}

TEST(DocumentCheck, AWordOfTheOtherModeIsRefused) {
  for (const char* word : {R"("pattern": "^a")", R"("maximum": 5)", R"("minLength": 1)", R"("nullable": true)", R"("oneOf": [])"}) {
    const Lines lines = of_typed(std::string(R"({"type": "string", )") + word + "}");
    ASSERT_EQ(lines.size(), 1u) << word;
    EXPECT_NE(lines[0].find("is enforced in structural documents alone"), std::string::npos) << lines[0];
  }
  const Lines lines = of_structural(R"({"type": "string", "x-backplane-rules": {"maxLength": 5}})");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("works in typed documents alone"), std::string::npos) << lines[0];
}

TEST(DocumentCheck, ValuesThatAWordCannotHaveAreRefused) {
  EXPECT_EQ(of_structural(R"({"type": "integr"})"),
            Lines{"t.json:4: " + kAt +
                  "/type: \"integr\" is not one of array, boolean, integer, number, object, string; did you mean \"integer\"?"});
  EXPECT_EQ(of_structural(R"({"type": "string", "minLength": "1"})"),
            Lines{"t.json:4: " + kAt + "/minLength: \"minLength\" must be a whole number that is not negative"});
  EXPECT_EQ(of_structural(R"({"type": "string", "format": "daytime"})"),
            Lines{"t.json:4: " + kAt + "/format: no engine checks the format \"daytime\" of this type"});
  EXPECT_EQ(of_structural(R"({"type": "object", "required": ["nmae"], "properties": {"name": {"type": "string"}}})"),
            Lines{"t.json:4: " + kAt + "/required: \"nmae\" is required and is not one of the properties"});
  EXPECT_EQ(of_structural(R"({"type": "string", "pattern": "("})").size(), 1u);
  EXPECT_EQ(of_structural(R"({"type": "object", "properties": {"a": true}})"),
            Lines{"t.json:4: " + kAt + "/properties/a: must be a schema"});
  EXPECT_EQ(of_typed(R"({"type": "string", "x-backplane-rules": {"maxLenth": 5}})"),
            Lines{"t.json:2: " + kAt + "/x-backplane-rules: \"maxLenth\" is no rule"});
  EXPECT_EQ(of_typed(R"({"$ref": "#/definitions/no.such.v1.Type"})"),
            Lines{"t.json:2: " + kAt + ": there is no definition no.such.v1.Type"});
}

TEST(DocumentCheck, InvalidJsonIsReportedWithItsLine) {
  const Lines lines = check({{"t.json", "{\"definitions\":\n {\"a\": }}"}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("t.json:2: malformed JSON")) << lines[0];
  EXPECT_EQ(check({{"t.json", "{\"definitions\": {},\n\"definitions\": {}}"}}), Lines{"t.json:2: /definitions: duplicate member"});
  EXPECT_EQ(check({{"t.json", "{\"definitions\": {},\n\"x\": [{\"a\": 1,\n\"b\": {\"b\": 1},\n\"a\": 2}]}"}}).at(0),
            "t.json:4: /x/0/a: duplicate member");
}

Lines of_group(const std::string& kind, const std::string& version = "v1") {
  return check({{"t.json", structural(R"({"type": "object", "properties": {"title": {"type": "string"}}})")},
                {"g.json", R"({"group": "example.com", "versions": [{"name": ")" + version +
                               "\"}],\n\"kinds\": [{\"resource\": \"things\", \"kind\": \"Thing\",\n" + kind + "}]}"}});
}

TEST(DocumentCheck, AGroupDocumentIsReadAsItsPluginReadsIt) {
  EXPECT_EQ(of_group(R"("columns": ["name", {"name": "Title", "path": ".spec.title", "description": "."}])"), Lines());
  EXPECT_EQ(of_group(R"("columns": [{"name": "Title", "print": "its own printer", "description": "."}])"), Lines()) << "the code has it";
  EXPECT_EQ(of_group(R"("columns": [{"name": "Title", "path": "spec.title", "description": "."}])"),
            Lines{"g.json:3: /kinds/0/columns/0/path: kinds[0].columns[0].path must be a path that begins with a dot (.spec.name)"});
  EXPECT_EQ(of_group(R"("columns": [{"name": "Title", "type": "integr", "path": ".spec.title", "description": "."}])"),
            Lines{"g.json:3: /kinds/0/columns/0/type: kinds[0].columns[0].type must be string, integer, number, boolean or date"});
  EXPECT_EQ(of_group(R"("colums": [])"), Lines{"g.json:3: /kinds/0/colums: kinds[0].colums is not known"});
}

TEST(DocumentCheck, AnUnknownColumnPathAndAKindWithoutATypeAreReported) {
  EXPECT_EQ(of_group(R"("columns": [{"name": "Title", "path": ".spec.titel", "description": "."}])"),
            Lines{"g.json:3: /kinds/0/columns/0/path: \".spec.titel\" leads nowhere: the schema has no member \"titel\" there"});
  const Lines lines = of_group(R"("shortNames": ["t"])", "v1beta1");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("g.json:2: /kinds/0: no schema document has a definition")) << lines[0];
  EXPECT_EQ(lines[1], "note: g.json:1: /versions/0: example.com/v1beta1 is served only with --runtime-config=example.com/v1beta1=true");
}

}  // namespace
}  // namespace backplane
