// Makes the sources of bearer tokens that the server's flags enable, in upstream's order: --token-auth-file, tokens in secrets, tokens of
// the TokenRequest API, bootstrap tokens.
//
// Thread-safety: called in provision().
// Errors:        kBadRequest, kInternalError for files that cannot be used.
#pragma once

#include <vector>

#include "backplane/host.hpp"
#include "tokens/token_union.hpp"

namespace backplane::authentication {

// Returns --api-audiences; if that flag is not set, --service-account-issuer.
std::vector<std::string> api_audiences(const Host& host);

Result<std::vector<TokenUnion::Entry>> server_tokens(Host& host);

}  // namespace backplane::authentication
