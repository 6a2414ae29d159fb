// The bearer tokens of this plugin: its sources in upstream's order, behind one cache.
//
// Thread-safety: any thread.
// Lifetime:      shared with the host.
// Errors:        kUnauthorized: the messages of the sources that refused the token. The first source that recognizes the token decides.
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
    // Its tokens are valid for the API server's audiences only, and it returns no audiences.
    bool audience_agnostic = false;
  };
  // Upstream's: 10 seconds, failures not at all.
  static TokenCache::Options cache_options() { return {.success_ttl = std::chrono::seconds(10)}; }

  // `api_audiences`: the API server's; not empty.
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
