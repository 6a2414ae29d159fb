#include "transformers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "backplane/kit/server_identity.hpp"
#include "ciphers/cipher.hpp"
#include "fake_host.hpp"
#include "setup.hpp"

namespace backplane::encryption {
namespace {

const std::string kKey = "/registry/secrets/default/a";
const std::string kA = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=", kB = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";

class TransformersTest : public testing::Test {
 protected:
  SetupRef setup(const std::string& body) {
    auto made = make_setup(host_, context_, "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" + body);
    problem_ = made.ok() ? "" : made.failure().text;
    return made.ok() ? *made : nullptr;
  }
  static std::string keyed(const std::string& algorithm, const std::string& keys) { return "{" + algorithm + ": {keys: [" + keys + "]}}"; }
  static std::string key(const std::string& name, const std::string& secret) { return "{name: " + name + ", secret: " + secret + "}"; }
  static std::string one(const std::string& resources, const std::string& providers) {
    return "- {resources: [" + resources + "], providers: [" + providers + "]}\n";
  }
  static std::string write(const SetupRef& setup, const std::string& plain, const GroupResource& resource = {"", "secrets"}) {
    auto stored = setup->transformers->find(resource)->to_storage_now(kKey, SharedBytes(plain));
    return stored && stored->ok() ? std::string((*stored)->view()) : "error";
  }
  // The value, followed by " stale" if it is stale; or the error.
  static std::string read(const SetupRef& setup, const std::string& stored, const GroupResource& resource = {"", "secrets"},
                          const std::string& at = kKey) {
    auto plain = setup->transformers->find(resource)->from_storage_now(at, SharedBytes(stored));
    if (!plain) return "waits";
    if (!plain->ok()) return "error: " + plain->status().message();
    return std::string((*plain)->bytes.view()) + ((*plain)->stale ? " stale" : "");
  }

  test::FakeHost host_;
  SetupContext context_;
  std::string problem_;
};

TEST_F(TransformersTest, WritePrefixesAsKubeApiserverDoes) {
  const std::pair<const char*, const char*> algorithms[] = {
      {"aesgcm", "k8s:enc:aesgcm:v1:one:"}, {"aescbc", "k8s:enc:aescbc:v1:one:"}, {"secretbox", "k8s:enc:secretbox:v1:one:"}};
  for (const auto& [algorithm, prefix] : algorithms) {
    const auto made = setup(one("secrets", keyed(algorithm, key("one", kA))));
    ASSERT_TRUE(made) << problem_;
    const std::string stored = write(made, "{\"a\":1}");
    EXPECT_TRUE(stored.starts_with(prefix)) << algorithm;
    EXPECT_EQ(stored.find("\"a\""), std::string::npos);
    EXPECT_EQ(read(made, stored), "{\"a\":1}");
  }
  EXPECT_EQ(write(setup(one("secrets", "{identity: {}}")), "{}"), "{}");
}

TEST_F(TransformersTest, TheFirstWritesAndAllRead) {
  const auto old = setup(one("secrets", keyed("aescbc", key("k1", kA)) + ", {identity: {}}"));
  const auto rotated = setup(one("secrets", keyed("aescbc", key("k2", kB) + ", " + key("k1", kA)) + ", {identity: {}}"));
  EXPECT_EQ(read(rotated, write(old, "v")), "v stale");
  EXPECT_EQ(read(rotated, write(rotated, "v")), "v");
  EXPECT_EQ(read(rotated, "plain"), "plain stale");
  // The reverse order: the next key can read before it is used for writes.
  const auto prepared = setup(one("secrets", keyed("aescbc", key("k1", kA) + ", " + key("k2", kB))));
  EXPECT_EQ(read(prepared, write(rotated, "v")), "v stale");
  EXPECT_EQ(read(old, write(rotated, "v")), "error: no matching key was found for the provided AES transformer");
}

TEST_F(TransformersTest, TheSameAlgorithmTwiceIsTriedInOrder) {  // TestCBCKeyRotationWithOverlappingProviders
  const auto first = setup(one("secrets", keyed("aescbc", key("k", kA))));
  const auto both = setup(one("secrets", keyed("aescbc", key("k2", kB)) + ", " + keyed("aescbc", key("k", kA))));
  EXPECT_EQ(read(both, write(first, "v")), "v stale");
  const auto neither = setup(one("secrets", keyed("aesgcm", key("k", kB)) + ", " + keyed("aesgcm", key("k2", kB))));
  const auto gcm = setup(one("secrets", keyed("aesgcm", key("k", kA))));
  EXPECT_EQ(read(neither, write(gcm, "v")),
            "error: [cipher: message authentication failed, no matching key was found for the provided AES transformer]");
}

TEST_F(TransformersTest, IdentityFirstEndsEncryption) {
  const auto encrypted = setup(one("secrets", keyed("secretbox", key("k", kA)) + ", {identity: {}}"));
  const auto ending = setup(one("secrets", "{identity: {}}, " + keyed("secretbox", key("k", kA))));
  EXPECT_EQ(read(ending, write(encrypted, "v")), "v stale");
  EXPECT_EQ(write(ending, "v"), "v");
  EXPECT_EQ(read(ending, "v"), "v");
  const auto ended = setup(one("secrets", "{identity: {}}"));
  EXPECT_EQ(read(ended, write(encrypted, "v")), "error: no matching prefix found");
  EXPECT_EQ(read(encrypted, "k8s:enc:other:v1:x"), "error: no matching prefix found");
}

TEST_F(TransformersTest, ResourcesWithoutConfigurationAreStoredAsTheyAre) {
  const auto made = setup(one("secrets", keyed("secretbox", key("k", kA))));
  EXPECT_EQ(made->transformers->find({"", "pods"}), nullptr);
  EXPECT_EQ(made->transformers->find({"example.com", "secrets"}), nullptr);
}

// Prints the microseconds of one write and one read; not a check, because machines differ.
TEST_F(TransformersTest, DISABLED_Cost) {
  constexpr int kRounds = 100'000;
  const std::string value(1000, 'v');
  for (const char* algorithm : {"aesgcm", "secretbox", "aescbc"}) {
    const auto transformer = setup(one("secrets", keyed(algorithm, key("k", kA))))->transformers->find({"", "secrets"});
    const SharedBytes plain(value);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) ASSERT_TRUE(transformer->to_storage_now(kKey, plain)->ok());
    const auto middle = std::chrono::steady_clock::now();
    const SharedBytes stored = **transformer->to_storage_now(kKey, plain);
    for (int i = 0; i < kRounds; ++i) ASSERT_TRUE(transformer->from_storage_now(kKey, stored)->ok());
    const auto per_round = [](auto time) { return std::chrono::duration<double, std::micro>(time).count() / kRounds; };
    std::cout << algorithm << ": write " << per_round(middle - begin) << " us, read "
              << per_round(std::chrono::steady_clock::now() - middle) << " us\n";
  }
}

TEST_F(TransformersTest, Wildcards) {
  const auto made = setup(one("secrets", keyed("aesgcm", key("exact", kA))) + one("'*.'", keyed("aesgcm", key("core", kA))) +
                          one("'*.apps'", keyed("aesgcm", key("apps", kA))) + one("'*.*'", keyed("aesgcm", key("all", kA))));
  ASSERT_TRUE(made) << problem_;
  const std::pair<GroupResource, std::string> expected[] = {{{"", "secrets"}, "exact"},
                                                            {{"", "pods"}, "core"},
                                                            {{"apps", "deployments"}, "apps"},
                                                            {{"example.com", "widgets"}, "all"},
                                                            {{"batch", "jobs"}, "all"}};
  for (const auto& [resource, name] : expected) {
    EXPECT_TRUE(write(made, "v", resource).starts_with("k8s:enc:aesgcm:v1:" + name + ":")) << resource.to_string();
  }
  EXPECT_EQ(made->transformers->resources(), (std::vector<std::string>{"*.", "secrets", "*.*", "*.apps"}));
  // The same resource has the same transformer again.
  EXPECT_EQ(made->transformers->find({"batch", "jobs"}), made->transformers->find({"batch", "jobs"}));
}

TEST_F(TransformersTest, AnEarlierWildcardMasks) {
  const std::string provider = "{identity: {}}";
  EXPECT_FALSE(setup(one("'*.'", provider) + one("secrets", provider)));
  EXPECT_EQ(problem_, R"(error while building transformers: resource "secrets" is masked by earlier rule "*.")");
  EXPECT_FALSE(setup(one("'*.*'", provider) + one("'*.apps'", provider)));
  EXPECT_EQ(problem_, R"(error while building transformers: resource "*.apps" is masked by earlier rule "*.*")");
  EXPECT_FALSE(setup(one("'*.'", provider) + one("'*.'", provider)));
  EXPECT_EQ(problem_, R"(error while building transformers: resource "*." is masked by earlier rule "*.")");
  EXPECT_TRUE(setup(one("secrets", provider) + one("secrets, configmaps", provider) + one("'*.apps'", provider) + one("'*.*'", provider)));
}

TEST_F(TransformersTest, AValueIsBoundToItsKeyUnderThePrefixOfEtcd) {
  const auto plain = setup(one("secrets", keyed("aesgcm", key("k", kA))));
  EXPECT_EQ(read(plain, write(plain, "v"), {"", "secrets"}, "/registry/secrets/default/b"), "error: cipher: message authentication failed");
  context_.storage_root = "/other";
  const auto prefixed = setup(one("secrets", keyed("aesgcm", key("k", kA))));
  EXPECT_EQ(read(plain, write(prefixed, "v")), "error: cipher: message authentication failed");
  EXPECT_EQ(read(plain, write(prefixed, "v"), {"", "secrets"}, "/other/secrets/default/a"), "v");
}

TEST_F(TransformersTest, KmsVersion1NeedsItsGate) {
  EXPECT_FALSE(setup(one("secrets", "{kms: {name: k, endpoint: 'unix:///tmp/x'}}")));
  EXPECT_EQ(problem_,
            "error while building transformers: KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 "
            "instead.  Set "
            "--feature-gates=KMSv1=true to use the deprecated KMSv1 feature.");
}

TEST_F(TransformersTest, AFileThatIsWrongIsNamed) {
  EXPECT_FALSE(setup(one("secrets", "{}")));
  EXPECT_TRUE(problem_.starts_with("error while parsing file: resources[0].providers[0]: Invalid value: ")) << problem_;
}

}  // namespace
}  // namespace backplane::encryption
