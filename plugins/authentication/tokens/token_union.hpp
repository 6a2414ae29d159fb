// Authenticates bearer tokens by the plugin's sources, which are called in upstream's order. One cache stores the results.
//
// Thread-safety: any thread.
// Lifetime:      shared with the host.
// Errors:        kUnauthorized: the messages of all sources that refused the token. The first source that returns a user decides.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/authentication.hpp"
#include "tokens/token_cache.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

class TokenUnion final : public TokenAuthenticator {
 public:
  struct Entry {
    std::shared_ptr<TokenSource> source;
    // The source's tokens are valid only for the API server's audiences, and the source returns no audiences.
    bool audience_agnostic = false;
  };
  // Upstream's options: users are cached for 10 seconds, failures are not cached.
  static TokenCache::Options cache_options() { return {.success_ttl = std::chrono::seconds(10)}; }

  // `api_audiences`: the audiences of the API server; not empty.
  TokenUnion(std::vector<Entry> entries, std::vector<std::string> api_audiences, TokenCache::Options options = cache_options());

  std::string_view name() const noexcept override { return "bearer-tokens"; }
  std::optional<AuthenticationResult> authenticate_now(RequestContext& context, const Exchange& exchange) override;
  Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) override;
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override;
  std::optional<AuthenticationResult> authenticate_token_now(std::string_view token, const std::vector<std::string>& audiences) override;

 private:
  struct Sources {
    std::vector<Entry> entries;
    std::vector<std::string> api_audiences;
    Task<TokenRecord> look_up(std::string token, std::vector<std::string> audiences);
    Task<AuthenticationResult> ask(const Entry& entry, std::string token, std::vector<std::string> audiences, TokenNotes& notes);
  };
  Task<AuthenticationResult> of_request(RequestContext& context, std::string token);

  const std::shared_ptr<Sources> sources_;
  TokenCache cache_;
};

}  // namespace backplane::authentication
