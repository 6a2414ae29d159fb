#include "accounts/token_signer.hpp"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <fstream>
#include <iterator>

#include "backplane/net/openssl_ptr.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::core {
namespace {

using DigestContext = std::unique_ptr<EVP_MD_CTX, OpenSslDeleter<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, OpenSslDeleter<ECDSA_SIG_free>>;

Status failure(std::string_view what) { return internal_error("service account tokens: " + std::string(what)); }

std::string url_base64(std::string_view bytes) {
  std::string out = to_base64(bytes);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

struct Algorithm {
  int bits;
  std::string_view name;
  const EVP_MD* (*digest)();
  int part;
};
constexpr Algorithm kCurves[] = {{256, "ES256", EVP_sha256, 32}, {384, "ES384", EVP_sha384, 48}, {521, "ES512", EVP_sha512, 66}};
constexpr Algorithm kRsa = {0, "RS256", EVP_sha256, 0};

const Algorithm* algorithm_of(const EVP_PKEY* key) {
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) return &kRsa;
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return nullptr;
  for (const Algorithm& curve : kCurves) {
    if (curve.bits == EVP_PKEY_get_bits(key)) return &curve;
  }
  return nullptr;
}

// Both numbers of an EC signature, one behind the other, each as long as the curve is.
std::string plain_signature(const std::string& der, int part) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const EcSignature parsed(d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size())));
  std::string out(static_cast<std::size_t>(part) * 2, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  if (!parsed || BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), to, part) != part ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), to + part, part) != part) {
    return {};
  }
  return out;
}

}  // namespace

// URL-safe base64 of SHA-256 over the public key in DER.
std::string key_id_of(const void* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(static_cast<const EVP_PKEY*>(key), &der);
  if (size <= 0) return {};
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(der, static_cast<std::size_t>(size), hash);
  OPENSSL_free(der);
  return url_base64({reinterpret_cast<const char*>(hash), sizeof hash});
}

Result<std::shared_ptr<const TokenSigner>> TokenSigner::from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return failure("cannot read " + path);
  auto signer = from_pem(text);
  if (!signer.ok()) return failure(path + " holds no RSA or EC private key that tokens can be signed with");
  return signer;
}

Result<std::shared_ptr<const TokenSigner>> TokenSigner::from_pem(std::string_view pem) {
  std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(memory_bio(pem).get(), nullptr, no_openssl_password, nullptr), EVP_PKEY_free);
  const Algorithm* algorithm = key ? algorithm_of(key.get()) : nullptr;
  if (algorithm == nullptr) return failure("no RSA or EC private key");
  std::shared_ptr<TokenSigner> out(new TokenSigner);
  out->algorithm_ = algorithm->name;
  out->part_ = algorithm->part;
  out->key_id_ = key_id_of(key.get());
  out->key_ = std::move(key);
  return std::shared_ptr<const TokenSigner>(std::move(out));
}

Result<std::string> TokenSigner::sign(const Object& claims) const {
  auto* key = static_cast<EVP_PKEY*>(key_.get());
  const Algorithm* algorithm = algorithm_of(key);
  const Object header{{"alg", algorithm_}, {"kid", key_id_}};
  std::string out = url_base64(to_json(header)) + "." + url_base64(to_json(claims));
  const DigestContext context(EVP_MD_CTX_new());
  const auto* text = reinterpret_cast<const unsigned char*>(out.data());
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), nullptr, algorithm->digest(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, text, out.size()) != 1) {
    return failure("signing failed");
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, text, out.size()) != 1) {
    return failure("signing failed");
  }
  signature.resize(size);
  if (part_ > 0) signature = plain_signature(signature, part_);
  if (signature.empty()) return failure("signing failed");
  return out + "." + url_base64(signature);
}

}  // namespace backplane::core
