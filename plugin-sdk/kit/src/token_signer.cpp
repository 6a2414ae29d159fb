#include <openssl/err.h>
#include <openssl/pem.h>

#include <fstream>
#include <iterator>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/base64url.hpp"
#include "backplane/kit/token_signer.hpp"
#include "jose_openssl.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

Status signing_failure(std::string_view what) { return internal_error("service account tokens: " + std::string(what)); }

// Returns the two numbers of an EC signature, concatenated; each has the size of the curve.
std::string plain_signature(const std::string& der, std::size_t part) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const EcSignaturePtr parsed(d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
  std::string out(part * 2, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  const int size = static_cast<int>(part);
  if (!parsed || BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), to, size) != size ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), to + size, size) != size) {
    return {};
  }
  return out;
}

// Returns the signature; empty if signing fails.
std::string signature_of(EVP_PKEY* key, JoseAlgorithm algorithm, std::string_view input) {
  const DigestPtr context(EVP_MD_CTX_new());
  const auto* text = reinterpret_cast<const unsigned char*>(input.data());
  EVP_PKEY_CTX* operation = nullptr;
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), &operation, jose_digest(algorithm), nullptr, key) != 1 ||
      !set_jose_padding(operation, algorithm, true) || EVP_DigestSign(context.get(), nullptr, &size, text, input.size()) != 1) {
    return {};
  }
  std::string out(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, text, input.size()) != 1) return {};
  out.resize(size);
  const JoseCurve* const curve = jose_curve(key);
  return curve == nullptr ? out : plain_signature(out, curve->bytes());
}

}  // namespace

Result<std::shared_ptr<const TokenSigner>> TokenSigner::from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return signing_failure("cannot read " + path);
  auto signer = from_pem(text);
  if (!signer.ok()) return signing_failure(path + " holds no RSA or EC private key that tokens can be signed with");
  return signer;
}

Result<std::shared_ptr<const TokenSigner>> TokenSigner::from_pem(std::string_view pem) {
  std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(memory_bio(pem).get(), nullptr, no_openssl_password, nullptr), EVP_PKEY_free);
  ERR_clear_error();
  auto public_key = PublicKey::from_openssl(key);
  if (!key || !public_key.ok()) return signing_failure("no RSA or EC private key");
  std::shared_ptr<TokenSigner> out(new TokenSigner);
  out->public_key_ = std::move(*public_key);
  out->key_ = std::move(key);
  return std::shared_ptr<const TokenSigner>(std::move(out));
}

Result<std::string> TokenSigner::sign(const Object& claims) const {
  return sign(Object{{"alg", algorithm()}, {"kid", key_id()}}, to_json(claims));
}

Result<std::string> TokenSigner::sign(const Object& header, std::string_view payload) const {
  const auto algorithm = jose_algorithm_of(get_string(header, "alg"));
  if (!algorithm || !public_key_.algorithms().contains(*algorithm)) return signing_failure("the key does not sign by this algorithm");
  std::string out = to_base64url(to_json(header)) + "." + to_base64url(payload);
  const std::string signature = signature_of(key_.get(), *algorithm, out);
  if (signature.empty()) return signing_failure("signing failed");
  return out + "." + to_base64url(signature);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
