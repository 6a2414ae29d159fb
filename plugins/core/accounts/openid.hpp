// Documents for verifiers of service account tokens: the issuer's discovery document and the public keys (OpenID Connect Discovery,
// RFC 7517), at /.well-known/openid-configuration and /openid/v1/jwks.
//
// Thread-safety: pure functions; the handlers run on any executor.
// Errors:        kBadRequest for an issuer that cannot have a discovery document, kInternalError for files without a key.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/kit/external_signer.hpp"
#include "backplane/points/http.hpp"

namespace backplane::core {

struct OpenIdDocuments {
  std::string configuration;
  std::string keys;
};
// `keys_uri`: the value of jwks_uri in the discovery document.
Result<OpenIdDocuments> openid_documents(const std::string& issuer, const std::string& keys_uri, std::vector<Object> keys);

// Registers the handlers of both paths, unless --service-account-issuer is empty. `external`: the signer that supplies the keys; null: the
// keys come from the files of the flags. Without an external signer, an issuer that cannot have a discovery document is logged, and no path
// is registered.
Status add_openid_paths(Host& host, const std::shared_ptr<kit::ExternalSigner>& external);

}  // namespace backplane::core
