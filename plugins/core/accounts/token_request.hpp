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
  std::int64_t longest_seconds = 0;    // 0: limited by the request and the signer only
  bool extends = true;                 // tokens for pods are valid for longer than requested, for clients that read theirs only once
  bool checks_uid = true;              // TokenRequestServiceAccountUIDValidation: another uid is a conflict instead of a warning
};

// The storages of the objects to which tokens are bound.
struct TokenStores {
  std::shared_ptr<StandardStorage> accounts, pods, secrets, nodes;
};

std::shared_ptr<RestStorage> make_token_requests(TokenStores stores, TokenOptions options, const Schema* schema);

}  // namespace backplane::core
