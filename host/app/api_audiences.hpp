// The audiences of this server, for authentication and for the plugins that read the flag api-audiences.
//
// Thread-safety: a pure function.
// Errors:        none; there is always at least one audience.
#pragma once

#include <string>
#include <vector>

#include "app/flag_set.hpp"
#include "app/pki.hpp"

namespace backplane {

// --api-audiences; without it, the issuers of service account tokens.
inline std::vector<std::string> api_audiences(const FlagSet& flags) {
  auto audiences = flags.values("api-audiences");
  if (audiences.empty()) audiences = flags.values("service-account-issuer");
  if (audiences.empty()) audiences.emplace_back(kDefaultIssuer);
  return audiences;
}

}  // namespace backplane
