// The interface of a source of bearer tokens: it authenticates one kind of tokens. TokenUnion calls the sources.
//
// Thread-safety: any thread, any number of tokens at once.
// Lifetime:      shared by the union and the requests in progress; `notes` outlives the task.
// Errors:        kUnauthorized for a token of this kind that is not valid: TokenReview reports the message, a request gets 401.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/authentication.hpp"

namespace backplane::authentication {

// What a look-up adds to the request that contains the token. Cached together with the user.
struct TokenNotes {
  std::map<std::string, std::string> annotations;  // annotations of the request's audit event
  std::vector<std::string> warnings;
};

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::string_view name() const noexcept = 0;
  // Returns the user of `token`; nullopt if the token is not of this kind. Ends within 30 seconds. `audiences`: never empty; the token must
  // be valid for one of them. An audience-agnostic source (TokenUnion::Entry) ignores `audiences` and returns no audiences.
  virtual Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) = 0;
};

// Returns the elements of `wanted` that `have` contains, in the order of `wanted`.
std::vector<std::string> intersection(const std::vector<std::string>& have, const std::vector<std::string>& wanted);

}  // namespace backplane::authentication
