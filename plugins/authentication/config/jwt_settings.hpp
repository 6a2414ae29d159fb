// The settings of --authentication-config, --oidc-* and --anonymous-auth, read and validated at startup.
//
// Thread-safety: read_jwt_settings() blocks for small files; values.
// Errors:        kBadRequest with upstream's texts: startup fails.
// Source:        k8s.io/kubernetes/pkg/kubeapiserver/options/authentication.go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "config/validation.hpp"
#include "oidc/id_token_verifier.hpp"

namespace backplane {
class Host;
}

namespace backplane::authentication {

struct JwtSettings {
  std::string file;     // --authentication-config; empty: the flags configure at most one issuer
  std::string content;  // the content of `file`
  AuthenticationConfiguration config;
  std::vector<ClaimExpressions> expressions;  // those of config.jwt, by index
  SigningAlgorithms algorithms;
  ValidationOptions validation;  // also used for later versions of the file
};

Result<JwtSettings> read_jwt_settings(const Host& host);

}  // namespace backplane::authentication
