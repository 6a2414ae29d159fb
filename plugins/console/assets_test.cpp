#include "assets.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <string>

namespace backplane::console {
namespace {

std::string text(std::string_view path) {
  const Asset* asset = find_asset(path);
  return asset == nullptr ? "" : std::string(asset->bytes);
}

TEST(ConsoleAssets, ThePageLoadsOnlyFilesOfTheConsole) {
  const std::string page = text("/console/");
  ASSERT_FALSE(page.empty());
  std::size_t references = 0;
  for (const std::string_view attribute : {"src=\"", "href=\""}) {
    for (std::size_t at = page.find(attribute); at != std::string::npos; at = page.find(attribute, at + 1)) {
      const auto begin = at + attribute.size();
      const std::string target = page.substr(begin, page.find('"', begin) - begin);
      if (target.starts_with('#')) continue;
      ++references;
      EXPECT_NE(find_asset("/console/" + target), nullptr) << target;
    }
  }
  EXPECT_GE(references, 1u);
}

TEST(ConsoleAssets, ThePolicyAllowsTheScriptOfThePageByItsHash) {
  const std::string page = text("/console/"), begin = "<script type=\"module\">";
  const std::size_t first = page.find(begin) + begin.size();
  const std::string script = page.substr(first, page.find("</script>") - first);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(script.data()), script.size(), digest);
  unsigned char encoded[2 * SHA256_DIGEST_LENGTH];
  const int size = EVP_EncodeBlock(encoded, digest, sizeof digest);
  const std::string hash = "'sha256-" + std::string(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(size)) + "'";
  EXPECT_NE(content_security_policy().find(hash), std::string_view::npos) << "the policy needs " << hash;
}

TEST(ConsoleAssets, ScriptsImportOnlyFilesOfTheConsole) {
  EXPECT_NE(text("/console/").find("import(`${folder}main.js`)"), std::string::npos);
  EXPECT_NE(text("/console/").find("href: `${folder}style.css`"), std::string::npos);
  const std::string main = text("/console/main.js");
  std::size_t imports = 0;
  for (std::size_t at = main.find("from './"); at != std::string::npos; at = main.find("from './", at + 1), ++imports) {
    const std::string target = main.substr(at + 8, main.find('\'', at + 8) - at - 8);
    EXPECT_NE(find_asset("/console/" + target), nullptr) << target;
  }
  EXPECT_GE(imports, 8u);
}

TEST(ConsoleAssets, AnAttemptAfterAFailureHasAnAddressOfItsOwn) {
  for (const char* path : {"/console/1/main.js", "/console/10/main.js"})
    EXPECT_EQ(find_asset(path), find_asset("/console/main.js")) << path;
  EXPECT_EQ(find_asset("/console/2/style.css"), find_asset("/console/style.css"));
}

TEST(ConsoleAssets, NoFileOutsideTheConsole) {
  for (const char* path : {"/console/../index.html", "/console/none.js", "/console/index.html/", "", "/console", "/console/1/",
                           "/console/123/main.js", "/console/1/2/main.js", "/console/x/main.js", "/other/main.js"})
    EXPECT_EQ(find_asset(path), nullptr) << path;
}

}  // namespace
}  // namespace backplane::console
