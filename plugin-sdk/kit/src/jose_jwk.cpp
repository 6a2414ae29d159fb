// JSON Web Keys and JSON Web Key Sets.
#include <openssl/err.h>
#include <openssl/param_build.h>

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/base64url.hpp"
#include "backplane/kit/jose_key.hpp"
#include "backplane/types/json_reading.hpp"
#include "jose_openssl.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

using ParamsPtr = std::unique_ptr<OSSL_PARAM, OpenSslDeleter<OSSL_PARAM_free>>;
using BuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, OpenSslDeleter<OSSL_PARAM_BLD_free>>;
using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, OpenSslDeleter<EVP_PKEY_CTX_free>>;

// The maximum length of a number in base64url: 16384 bits, and some leading zeros.
constexpr std::size_t kMostNumberCharacters = 2800;

std::shared_ptr<EVP_PKEY> make_key(const char* type, OSSL_PARAM_BLD* builder) {
  const ParamsPtr params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  const bool made = params && context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) == 1;
  ERR_clear_error();
  return made ? std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free) : nullptr;
}

std::string bytes_of(const Object& jwk, std::string_view member) {
  const std::string_view text = get_string(jwk, member);
  return text.size() > kMostNumberCharacters ? std::string() : from_base64url(text).value_or("");
}

std::shared_ptr<EVP_PKEY> rsa_key(const Object& jwk) {
  const std::string n = bytes_of(jwk, "n"), e = bytes_of(jwk, "e");
  if (n.empty() || e.empty()) return nullptr;
  const auto number = [](const std::string& bytes) {
    return NumberPtr(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), nullptr));
  };
  const NumberPtr modulus = number(n), exponent = number(e);
  const BuilderPtr builder(OSSL_PARAM_BLD_new());
  if (!modulus || !exponent || !builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1) {
    return nullptr;
  }
  return make_key("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> ec_key(const Object& jwk) {
  const std::string x = bytes_of(jwk, "x"), y = bytes_of(jwk, "y");
  for (const JoseCurve& curve : kJoseCurves) {
    if (curve.name != get_string(jwk, "crv") || x.size() != curve.bytes() || y.size() != curve.bytes()) continue;
    const std::string point = "\x04" + x + y;  // uncompressed point; OpenSSL checks that it is on the curve
    const BuilderPtr builder(OSSL_PARAM_BLD_new());
    if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.group, 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1) {
      return nullptr;
    }
    return make_key("EC", builder.get());
  }
  return nullptr;
}

// True if the type and the use of the key apply to tokens.
bool is_token_key(const Object& jwk) {
  const std::string_view type = get_string(jwk, "kty"), use = get_string(jwk, "use"), algorithm = get_string(jwk, "alg");
  const auto known = [&](const JoseCurve& curve) { return curve.name == get_string(jwk, "crv"); };
  if (type != "RSA" && (type != "EC" || std::none_of(kJoseCurves.begin(), kJoseCurves.end(), known))) return false;
  return (use.empty() || use == "sig") && (algorithm.empty() || jose_algorithm_of(algorithm));
}

}  // namespace

Result<PublicKey> PublicKey::from_jwk(const Object& jwk) {
  const std::string_view type = get_string(jwk, "kty");
  std::shared_ptr<EVP_PKEY> made;
  if (type == "RSA") made = rsa_key(jwk);
  if (type == "EC") made = ec_key(jwk);
  if (!made) return bad_request("the JSON Web Key is not an RSA or EC key");
  auto key = from_openssl(std::move(made));
  if (!key.ok()) return key;
  key->id_ = get_string(jwk, "kid");
  const std::string_view name = get_string(jwk, "alg");
  if (name.empty()) return key;
  const auto algorithm = jose_algorithm_of(name);
  if (!algorithm || !key->algorithms_.contains(*algorithm)) return bad_request("the JSON Web Key has an `alg` that does not fit its type");
  key->algorithm_ = *algorithm;
  key->algorithms_ = {*algorithm};
  return key;
}

Result<KeySet> KeySet::from_jwks(std::string_view text) {
  const auto document = read_json(text);
  const Array* const list = document && document->is_object() ? get_array(document->get_object(), "keys") : nullptr;
  if (list == nullptr) return bad_request("the text is not a JSON Web Key Set");
  if (list->size() > kMostKeys) return bad_request("the JSON Web Key Set has more than 1000 keys");
  KeySet out;
  for (const Value& each : *list) {
    const Object* const jwk = each.if_object();
    if (jwk == nullptr) return bad_request("the JSON Web Key Set has a member that is not an object");
    if (!is_token_key(*jwk)) continue;
    auto key = PublicKey::from_jwk(*jwk);
    if (!key.ok()) return std::move(key).status();
    out.keys_.push_back(std::move(*key));
  }
  return out;
}

std::vector<const PublicKey*> KeySet::find(std::string_view id) const {
  std::vector<const PublicKey*> out;
  for (const PublicKey& key : keys_) {
    if (id.empty() || key.id() == id) out.push_back(&key);
  }
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
