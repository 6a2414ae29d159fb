// serviceaccounts/token: tokens of a service account, for an audience and a lifetime, and bound to an object if the request names one.
//
// Thread-safety: any thread.
// Errors:        upstream's: 422 for an invalid request, 404 for missing accounts and objects, 409 for objects with the same name but
//                another uid.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "accounts/token_issuer.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {

struct TokenOptions {
  std::shared_ptr<TokenIssuer> signer;
  std::string issuer;
  std::vector<std::string> audiences;  // the audiences of the API server
  std::int64_t longest_seconds = 0;    // 0: only the request and the signer limit the lifetime
  bool extends = true;                 // tokens for pods are valid for a year, because some clients read the token file only once
  bool checks_uid = true;  // gate TokenRequestServiceAccountUIDValidation: a request with another uid gets 409; if false, only a warning
};

// The storages of service accounts and of the objects to which tokens can be bound.
struct TokenStores {
  std::shared_ptr<StandardStorage> accounts, pods, secrets, nodes;
};

std::shared_ptr<RestStorage> make_token_requests(TokenStores stores, TokenOptions options, const Schema* schema);

}  // namespace backplane::core
