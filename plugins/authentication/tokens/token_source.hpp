// The interface of a kind of bearer tokens, which TokenUnion calls.
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

// Additions of a look-up to the request with the token. They are cached with the user.
struct TokenNotes {
  std::map<std::string, std::string> annotations;  // of audit events
  std::vector<std::string> warnings;
};

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::string_view name() const noexcept = 0;
  // The user of `token`; nullopt if the token is not of this kind. Ends within 30 seconds. `audiences`: the token must be valid for one of
  // them; never empty. An audience-agnostic source (TokenUnion::Entry) ignores them and returns none.
  virtual Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) = 0;
};

// The elements of `wanted` that are in `have`, in the order of `wanted`.
std::vector<std::string> intersection(const std::vector<std::string>& have, const std::vector<std::string>& wanted);

}  // namespace backplane::authentication
