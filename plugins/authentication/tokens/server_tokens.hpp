// The bearer tokens that the flags of the server enable, in upstream's order: --token-auth-file, tokens in secrets, tokens of the
// TokenRequest API, bootstrap tokens.
//
// Thread-safety: called in provision().
// Errors:        kBadRequest, kInternalError for files that cannot be used.
#pragma once

#include <vector>

#include "backplane/host.hpp"
#include "tokens/token_union.hpp"

namespace backplane::authentication {

// --api-audiences; the issuers of service account tokens if the flag is not set.
std::vector<std::string> api_audiences(const Host& host);

Result<std::vector<TokenUnion::Entry>> server_tokens(Host& host);

}  // namespace backplane::authentication
