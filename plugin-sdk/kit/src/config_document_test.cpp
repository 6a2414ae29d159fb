#include "backplane/kit/config_document.hpp"

#include <gtest/gtest.h>

namespace backplane::kit {
namespace {

constexpr std::string_view kSchema = R"({"definitions": {
  "io.k8s.apiserver.$version.EncryptionConfiguration": {
    "x-kubernetes-group-version-kind": [{"group": "apiserver.config.k8s.io", "kind": "EncryptionConfiguration", "version": "$version"}],
    "type": "object",
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "count": {"type": "integer", "format": "int32", "x-backplane-default": 7},
      "rules": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.apiserver.$version.Rule"}}
    }},
  "io.k8s.apiserver.$version.Rule": {"type": "object", "properties": {"name": {"type": "string"}, "fast": {"type": "boolean"}}}
}})";

struct ConfigDocumentTest : ::testing::Test {
  static constexpr const char* kHead = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n";
  std::string error(std::string_view text) const {
    auto document = decoder.decode(text);
    return document.ok() ? "" : document.status().message();
  }
  ConfigDecoder decoder{"EncryptionConfiguration", {"v1", "v1beta1"}, kSchema};
};

TEST_F(ConfigDocumentTest, YamlAndJsonAreReadAndDefaultsSet) {
  auto yaml = decoder.decode(std::string(kHead) + "rules:\n- name: a\n  fast: yes\n");
  ASSERT_TRUE(yaml.ok()) << yaml.status().message();
  EXPECT_EQ(yaml->kind.version, "v1");
  EXPECT_EQ(get_int(yaml->object, "count"), 7);
  EXPECT_EQ(to_json(yaml->object.at("rules")), R"([{"name":"a","fast":true}])");
  auto json = decoder.decode(R"({"apiVersion":"apiserver.config.k8s.io/v1beta1","kind":"EncryptionConfiguration","count":3})");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(json->kind.version, "v1beta1");
  EXPECT_EQ(get_int(json->object, "count"), 3);
}

TEST_F(ConfigDocumentTest, UnknownAndDuplicateFieldsAreErrors) {
  EXPECT_EQ(error(std::string(kHead) + "rules:\n- nam: a\ncolor: red\n"),
            "strict decoding error: unknown field \"color\", unknown field \"rules[0].nam\"");
  EXPECT_EQ(error(std::string(kHead) + "count: 1\ncount: 2\n"),
            "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"count\" already set in map");
  EXPECT_EQ(error(R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration","count":3,"count":4})"),
            "strict decoding error: duplicate field \"count\"");
}

TEST_F(ConfigDocumentTest, LenientDecodingReportsThem) {
  auto document = decoder.decode_lenient(std::string(kHead) + "color: red\n");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->problems, "unknown field \"color\"");
  EXPECT_EQ(find(document->object, "color"), nullptr);
}

TEST_F(ConfigDocumentTest, TheKindMustBeTheOneThatIsExpected) {
  EXPECT_EQ(error("apiVersion: v1\nkind: Pod\n"),
            "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(error("apiVersion: apiserver.config.k8s.io/v7\nkind: EncryptionConfiguration\n"),
            "no kind \"EncryptionConfiguration\" is registered for version \"apiserver.config.k8s.io/v7\" in scheme "
            "\"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(error("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"),
            "expected EncryptionConfiguration, got *apiserver.AuthorizationConfiguration");
  EXPECT_EQ(error("apiVersion: v1\n"), "Object 'Kind' is missing in 'apiVersion: v1\n'");
  EXPECT_EQ(error("kind: Pod\n"), "Object 'apiVersion' is missing in 'kind: Pod\n'");
  EXPECT_EQ(error("# nothing\n"), "Object 'Kind' is missing in '# nothing\n'");
}

TEST_F(ConfigDocumentTest, WhatADocumentDoesNotSayIsOfTheTypeThatItIsReadInto) {
  const ConfigDecoder into("EncryptionConfiguration", {"v1"}, kSchema, false,
                           {"apiserver.config.k8s.io", "__internal", "EncryptionConfiguration"});
  auto no_kind = into.decode("apiVersion: apiserver.config.k8s.io/v1\ncount: 1\n");
  ASSERT_TRUE(no_kind.ok()) << no_kind.status().message();
  EXPECT_EQ(get_int(no_kind->object, "count"), 1);
  for (const char* text : {"", "kind: EncryptionConfiguration\ncount: x\n"}) {
    auto no_version = into.decode(text);
    ASSERT_TRUE(no_version.ok()) << no_version.status().message();
    EXPECT_EQ(no_version->kind.version, "__internal");
    EXPECT_TRUE(no_version->object.empty());
  }
  EXPECT_EQ(into.decode("apiVersion: v1\n").status().message(),
            "no kind \"EncryptionConfiguration\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"");
}

TEST_F(ConfigDocumentTest, ASecretFileIsNotQuoted) {
  const ConfigDecoder secret("EncryptionConfiguration", {"v1"}, kSchema, true);
  EXPECT_EQ(secret.decode("key: hunter2\n").status().message(), "Object 'Kind' is missing in '<omitted>'");
}

TEST_F(ConfigDocumentTest, WrongTypesAreErrors) {
  EXPECT_EQ(error("- a\n"),
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "
            "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }");
  EXPECT_EQ(error("apiVersion: 1\nkind: Pod\n"),
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string");
  EXPECT_EQ(error(std::string(kHead) + "rules: {}\n"),
            "json: cannot unmarshal object into Go struct field EncryptionConfiguration.rules of type []v1.Rule");
}

TEST_F(ConfigDocumentTest, TextThatIsNoYamlIsAnError) {
  EXPECT_TRUE(error("a: b: c\n").starts_with("yaml: ")) << error("a: b: c\n");
  constexpr std::string_view kNoJson = "couldn't get version/kind; json parse error: ";
  EXPECT_EQ(error("{"), std::string(kNoJson) + "unexpected end of JSON input");
  EXPECT_EQ(error(" {a: b}"), std::string(kNoJson) + "invalid character 'a' looking for beginning of object key string");
  EXPECT_EQ(error("{} x"), std::string(kNoJson) + "invalid character 'x' after top-level value");
}

}  // namespace
}  // namespace backplane::kit
