#include "configuration/configuration.hpp"

#include <gtest/gtest.h>

namespace backplane::encryption {
namespace {

const std::string kHead = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n";
const std::string kKey16 = "c2VjcmV0IGlzIHNlY3VyZQ==", kKey32 = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=";

std::string problem(const std::string& body, bool reload = false) {
  auto read = read_configuration(kHead + body, "/etc/c.yaml", reload);
  return read.ok() ? "" : read.status().message();
}
std::string entry(const std::string& resources, const std::string& providers) {
  return "resources: [{resources: [" + resources + "], providers: [" + providers + "]}]";
}
const std::string kIdentity = "identity: {}";

TEST(EncryptionConfiguration, IsReadWithItsDefaults) {
  auto read = read_configuration(kHead + R"(
resources:
- resources: [secrets, '*.apps']
  providers:
  - aesgcm: {keys: [{name: k1, secret: )" +
                                     kKey16 + R"(}, {name: k2, secret: )" + kKey16 + R"(}]}
  - kms: {name: old, endpoint: unix:///tmp/a}
  - kms: {apiVersion: v2, name: new, endpoint: unix:///tmp/b, timeout: 5s}
  - identity: {}
)",
                                 "/c", false);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->resources.size(), 1U);
  const auto& resource = read->resources.front();
  EXPECT_EQ(resource.resources, (std::vector<std::string>{"secrets", "*.apps"}));
  ASSERT_EQ(resource.providers.size(), 4U);
  EXPECT_EQ(resource.providers[0].aes_gcm->at(1).name, "k2");
  EXPECT_EQ(resource.providers[1].kms->api_version, "v1");
  EXPECT_EQ(resource.providers[1].kms->cache_size, 1000);
  EXPECT_EQ(resource.providers[1].kms->timeout, std::chrono::seconds(3));
  EXPECT_EQ(resource.providers[2].kms->timeout, std::chrono::seconds(5));
  EXPECT_FALSE(resource.providers[2].kms->cache_size);
  EXPECT_TRUE(resource.providers[3].identity);
}

TEST(EncryptionConfiguration, IsDecodedStrictlyWithoutQuotingTheFile) {
  EXPECT_EQ(read_configuration("", "/c", false).status().message(),
            R"(error while loading file: encryption provider configuration file "/c" is empty)");
  const std::string unknown =
      problem("resources: [{resources: [secrets], providers: [{aescbc: {keys: [{name: k, secret: s3cr3t, ttl: 1}]}}]}]");
  EXPECT_NE(unknown.find(R"(strict decoding error: unknown field "resources[0].providers[0].aescbc.keys[0].ttl")"), std::string::npos)
      << unknown;
  EXPECT_EQ(unknown.find("s3cr3t"), std::string::npos);
  EXPECT_NE(problem("resource: []").find(R"(unknown field "resource")"), std::string::npos);
  EXPECT_FALSE(read_configuration("kind: EncryptionConfiguration\n", "/c", false).ok());
  EXPECT_FALSE(read_configuration("apiVersion: apiserver.config.k8s.io/v1beta1\nkind: EncryptionConfiguration\n", "/c", false).ok());
  EXPECT_FALSE(read_configuration("apiVersion: apiserver.config.k8s.io/v1\nkind: Other\n", "/c", false).ok());
  EXPECT_FALSE(read_configuration("\x17\x2a{", "/c", false).ok());
}

struct Case {
  std::string body, problem;
  bool reload = false;
};

TEST(EncryptionConfiguration, NamesWhatIsWrong) {
  const std::string overlap =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
  const std::string kms = "name: k, endpoint: unix:///a, apiVersion: v2";
  const Case cases[] = {
      {"resources: []", "resources: Required value: at least one resources is required"},
      {entry("", kIdentity), "resources[0].resources: Required value: at least one resources[0].resources is required"},
      {entry("secrets", ""), "resources[0].providers: Required value: at least one resources[0].providers is required"},
      {entry("secrets, secrets", kIdentity),
       R"(resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times)"},
      {entry("secrets, '*.'", kIdentity), R"(resources[0].resources: Invalid value: ["secrets","*."]: )" + overlap},
      {entry("deployments.apps, '*.*'", kIdentity), R"(resources[0].resources: Invalid value: ["deployments.apps","*.*"]: )" + overlap},
      {entry("Secrets", kIdentity),
       R"(resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters)"},
      {entry("'*'", kIdentity),
       "resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group or *.* "
       "to encrypt all resources"},
      {entry("serviceipallocations", kIdentity),
       R"(resources[0].resources[0]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted)"},
      {entry("'*.events.k8s.io'", kIdentity),
       "resources[0].resources[0]: Invalid value: \"*.events.k8s.io\": '*.events.k8s.io' objects are stored "
       "using the 'events' API group in etcd. Use 'events' instead in the config file"},
      {entry("'*.extensions'", kIdentity),
       "resources[0].resources[0]: Invalid value: \"*.extensions\": 'extensions' group has been removed and cannot be used for encryption"},
      {entry("'secrets.*'", kIdentity),
       R"(resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported)"},
      {entry("secrets", "{}"),
       R"(resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}: )"
       "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"},
      {entry("secrets", "identity: null"),
       R"(resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}: )"
       "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"},
      {entry("secrets", "{identity: {}, aescbc: {keys: [{name: a, secret: " + kKey16 + "}]}}"),
       R"(resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":{"Keys":[{"Name":"a","Secret":"[REDACTED]"}]},"Secretbox":null,"Identity":{},)"
       R"("KMS":null}: more than one provider specified in a single element, should split into different list elements)"},
      {entry("secrets", "aesgcm: {keys: []}"), "resources[0].providers[0].aesgcm.keys: Required value: at least one keys is required"},
      {entry("secrets", "aescbc: {keys: [{secret: " + kKey16 + "}]}"),
       "resources[0].providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key"},
      {entry("secrets", "aescbc: {keys: [{name: a}]}"),
       "resources[0].providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key"},
      {entry("secrets", "aescbc: {keys: [{name: a, secret: '%%'}]}"),
       R"(resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded)"},
      {entry("secrets", "aescbc: {keys: [{name: a, secret: YWJj}]}"),
       R"(resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32])"},
      {entry("secrets", "secretbox: {keys: [{name: a, secret: " + kKey16 + "}]}"),
       R"(resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32])"},
      {entry("secrets", "kms: {endpoint: unix:///a, apiVersion: v2}"),
       "resources[0].providers[0].kms.name: Required value: name is a mandatory field for a provider"},
      {entry("secrets", "kms: {name: 'a:b', endpoint: unix:///a, apiVersion: v2}"),
       R"(resources[0].providers[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':')"},
      {entry("secrets", "kms: {" + kms + ", timeout: 0s}"),
       R"(resources[0].providers[0].kms.timeout: Invalid value: "0s": timeout should be a positive value)"},
      {entry("secrets", "kms: {" + kms + ", timeout: -1s}"),
       R"(resources[0].providers[0].kms.timeout: Invalid value: "-1s": timeout should be a positive value)"},
      {entry("secrets", "kms: {name: k, apiVersion: v2}"),
       R"(resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms)"},
      {entry("secrets", "kms: {name: k, apiVersion: v2, endpoint: 'tcp://a'}"),
       R"(resources[0].providers[0].kms.endpoint: Invalid value: "tcp://a": unsupported scheme "tcp" for KMS provider, only unix is supported)"},
      {entry("secrets", "kms: {" + kms + ", cachesize: 5}"),
       "resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2"},
      {entry("secrets", "kms: {name: k, endpoint: unix:///a, cachesize: 0}"),
       "resources[0].providers[0].kms.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable"},
      {entry("secrets", "kms: {name: k, endpoint: unix:///a, apiVersion: v3}"),
       R"(resources[0].providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported)"},
      {entry("secrets", "{kms: {" + kms + "}}, {kms: {" + kms + "}}"),
       R"(resources[0].providers[1].kms.name: Invalid value: "k": duplicate KMS provider name k, names must be unique)"},
      {entry("secrets", "{kms: {name: k, endpoint: unix:///a}}, {kms: {name: k, endpoint: unix:///a}}"), ""},
      {entry("secrets", "{kms: {name: k, endpoint: unix:///a}}, {kms: {name: k, endpoint: unix:///a}}"),
       R"(resources[0].providers[1].kms.name: Invalid value: "k": duplicate KMS provider name k, names must be unique)", true},
      {entry("secrets", "kms: {name: 'a:b', endpoint: unix:///a, cachesize: -1}"), ""},
      {entry("events", kIdentity), ""},
  };
  for (const Case& each : cases) EXPECT_EQ(problem(each.body, each.reload), each.problem) << each.body;
}

TEST(EncryptionConfiguration, NamesSeveralProblemsAtOnce) {
  EXPECT_EQ(problem(entry("Secrets", "aescbc: {keys: [{name: a}]}")),
            R"([resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters, )"
            "resources[0].providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key]");
}

}  // namespace
}  // namespace backplane::encryption
