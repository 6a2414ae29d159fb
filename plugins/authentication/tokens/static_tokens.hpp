// --token-auth-file: a CSV file of token, user name, user uid and, optionally, groups (one quoted field, separated by commas). The file is
// read once, at startup.
//
// Thread-safety: immutable; any thread.
// Lifetime:      the tokens are stored as SHA-256 digests only.
// Errors:        kBadRequest for a file that cannot be read or parsed, worded like upstream's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backplane/core/logger.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

class StaticTokens final : public TokenSource {
 public:
  static Result<std::shared_ptr<StaticTokens>> from_file(const std::string& path, Logger& logger);
  // `path`: for messages.
  static Result<std::shared_ptr<StaticTokens>> from_text(std::string_view text, const std::string& path, Logger& logger);

  std::string_view name() const noexcept override { return "static-tokens"; }
  Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) override;

 private:
  std::unordered_map<std::string, UserInfo> users_;  // by the digest of the token
};

}  // namespace backplane::authentication
