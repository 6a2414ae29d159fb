#include "app/reencrypt.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "app/reencrypt_progress.hpp"

namespace backplane {
namespace {

TEST(Reencrypt, WildcardsNameResourcesAsInTheConfiguration) {
  const std::vector<std::string> some = {"secrets", "*.apps", "widgets.example.com"};
  EXPECT_TRUE(is_encrypted_resource(some, "", "secrets"));
  EXPECT_FALSE(is_encrypted_resource(some, "", "configmaps"));
  EXPECT_FALSE(is_encrypted_resource(some, "example.com", "secrets"));
  EXPECT_TRUE(is_encrypted_resource(some, "apps", "deployments"));
  EXPECT_TRUE(is_encrypted_resource(some, "example.com", "widgets"));
  EXPECT_FALSE(is_encrypted_resource(some, "example.com", "gadgets"));
  EXPECT_TRUE(is_encrypted_resource({"*."}, "", "pods"));
  EXPECT_FALSE(is_encrypted_resource({"*."}, "apps", "deployments"));
  EXPECT_TRUE(is_encrypted_resource({"*.*"}, "", "pods"));
  EXPECT_TRUE(is_encrypted_resource({"*.*"}, "example.com", "widgets"));
  EXPECT_FALSE(is_encrypted_resource({}, "", "secrets"));
}

TEST(ReencryptProgressFile, ContinuesOnTheSameServerWithTheSameConfiguration) {
  const std::string file = testing::TempDir() + "reencrypt-progress.json";
  std::filesystem::remove(file);
  auto first = ReencryptProgress::load(file, "https://a", "sha256:1");
  EXPECT_FALSE(first.is_resumed());
  EXPECT_EQ(first.begin("configmaps"), "");
  first.finish();
  EXPECT_EQ(first.begin("secrets"), "");
  first.advance("page-2");

  auto again = ReencryptProgress::load(file, "https://a", "sha256:1");
  EXPECT_TRUE(again.is_resumed());
  EXPECT_TRUE(again.is_done("configmaps"));
  EXPECT_FALSE(again.is_done("secrets"));
  EXPECT_FALSE(ReencryptProgress::load(file, "https://b", "sha256:1").is_resumed());
  EXPECT_FALSE(ReencryptProgress::load(file, "https://a", "sha256:2").is_resumed());
  EXPECT_FALSE(ReencryptProgress::load("", "https://a", "sha256:1").is_resumed());
  EXPECT_EQ(again.begin("secrets"), "page-2");
  again.remove();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ReencryptProgressFile, OfAnotherResourceBeginsAtItsFirstPage) {
  const std::string file = testing::TempDir() + "reencrypt-progress-2.json";
  std::filesystem::remove(file);
  auto first = ReencryptProgress::load(file, "s", "c");
  first.begin("secrets");
  first.advance("page-2");
  auto again = ReencryptProgress::load(file, "s", "c");
  EXPECT_EQ(again.begin("configmaps"), "");
  again.remove();
}

}  // namespace
}  // namespace backplane
