#include "certificates/authority.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "backplane/kit/watched_file.hpp"
#include "backplane/net/openssl_reason.hpp"

namespace backplane::controllers {
namespace {

constexpr std::chrono::seconds kBackdate = std::chrono::minutes(5), kShort = std::chrono::hours(8);

using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpenSslDeleter<X509_EXTENSION_free>>;

struct Usage {
  const char* name;  // the name in spec.usages of a request
  const char* openssl;
};
constexpr std::array kKeyUsages = {Usage{"signing", "digitalSignature"},
                                   Usage{"digital signature", "digitalSignature"},
                                   Usage{"content commitment", "nonRepudiation"},
                                   Usage{"key encipherment", "keyEncipherment"},
                                   Usage{"key agreement", "keyAgreement"},
                                   Usage{"data encipherment", "dataEncipherment"},
                                   Usage{"cert sign", "keyCertSign"},
                                   Usage{"crl sign", "cRLSign"},
                                   Usage{"encipher only", "encipherOnly"},
                                   Usage{"decipher only", "decipherOnly"}};
constexpr std::array kExtendedUsages = {Usage{"any", "anyExtendedKeyUsage"},
                                        Usage{"server auth", "serverAuth"},
                                        Usage{"client auth", "clientAuth"},
                                        Usage{"code signing", "codeSigning"},
                                        Usage{"email protection", "emailProtection"},
                                        Usage{"s/mime", "emailProtection"},
                                        Usage{"ipsec end system", "ipsecEndSystem"},
                                        Usage{"ipsec tunnel", "ipsecTunnel"},
                                        Usage{"ipsec user", "ipsecUser"},
                                        Usage{"timestamping", "timeStamping"},
                                        Usage{"ocsp signing", "OCSPSigning"},
                                        Usage{"microsoft sgc", "msSGC"},
                                        Usage{"netscape sgc", "nsSGC"}};

Status openssl_error(const std::string& what) { return internal_error(what + ": " + openssl_reason("unknown error")); }

template <class Table>
std::string openssl_list(const Table& table, const std::vector<std::string>& usages) {
  std::string out;
  std::set<std::string_view> taken;
  for (const Usage& usage : table) {
    if (std::find(usages.begin(), usages.end(), usage.name) == usages.end() || !taken.insert(usage.openssl).second) continue;
    out += std::string(out.empty() ? "" : ",") + usage.openssl;
  }
  return out;
}

bool add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  if (value.empty()) return true;
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Copies the request's alternative names to the certificate.
bool copy_names(X509* certificate, X509_REQ* request) {
  STACK_OF(X509_EXTENSION)* extensions = X509_REQ_get_extensions(request);
  const int at = X509v3_get_ext_by_NID(extensions, NID_subject_alt_name, -1);
  const bool copied = at < 0 || X509_add_ext(certificate, X509v3_get_ext(extensions, at), -1) == 1;
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  return copied;
}

bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  bytes[0] &= 0x7F;
  BIGNUM* number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  const bool set = number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

// The certificate ends at the requested time, or when the authority's certificate ends if that is earlier.
bool set_times(X509* certificate, const X509* issuer, std::chrono::seconds validity) {
  const std::time_t now = std::time(nullptr);
  const std::time_t begin = now - kBackdate.count();
  std::time_t end = now + validity.count() - (validity < kShort ? 0 : kBackdate.count());
  if (ASN1_TIME_set(X509_getm_notBefore(certificate), begin) == nullptr) return false;
  const ASN1_TIME* last = X509_get0_notAfter(issuer);
  if (X509_cmp_time(last, &end) < 0) return X509_set1_notAfter(certificate, last) == 1;
  return ASN1_TIME_set(X509_getm_notAfter(certificate), end) != nullptr;
}

const EVP_MD* digest_for(const EVP_PKEY* key) { return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256(); }

Result<std::string> pem_of(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) return openssl_error("encoding a certificate failed");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

Result<Authority::Pair> Authority::load() const {
  auto certificate = kit::read_bounded_file(certificate_file_);
  if (!certificate.ok()) return std::move(certificate).status();
  auto key = kit::read_bounded_file(key_file_);
  if (!key.ok()) return std::move(key).status();
  Pair out;
  out.certificate.reset(PEM_read_bio_X509(memory_bio(*certificate).get(), nullptr, no_openssl_password, nullptr));
  if (out.certificate == nullptr) return openssl_error("--cluster-signing-cert-file: no certificate in " + certificate_file_);
  out.key.reset(PEM_read_bio_PrivateKey(memory_bio(*key).get(), nullptr, no_openssl_password, nullptr));
  if (out.key == nullptr) return openssl_error("--cluster-signing-key-file: no private key in " + key_file_);
  if (X509_check_private_key(out.certificate.get(), out.key.get()) != 1) {
    return openssl_error("--cluster-signing-key-file: the key is not that of the certificate");
  }
  return out;
}

Status Authority::check() const {
  auto pair = load();
  return pair.ok() ? Status() : std::move(pair).status();
}

Result<std::string> Authority::sign(const ParsedRequest& request, const std::vector<std::string>& usages,
                                    std::chrono::seconds validity) const {
  auto pair = load();
  if (!pair.ok()) return std::move(pair).status();
  X509_REQ* const wanted = request.request.get();
  const KeyPtr key(X509_REQ_get_pubkey(wanted));
  if (key == nullptr || X509_REQ_verify(wanted, key.get()) != 1) return openssl_error("unable to verify certificate request signature");
  X509* const issuer = pair->certificate.get();
  if (X509_cmp_current_time(X509_get0_notAfter(issuer)) < 0) return internal_error("the signer has expired");
  const X509Ptr made(X509_new());
  X509* const certificate = made.get();
  const bool filled =
      certificate != nullptr && X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
      X509_set_subject_name(certificate, X509_REQ_get_subject_name(wanted)) == 1 && X509_set_pubkey(certificate, key.get()) == 1 &&
      set_times(certificate, issuer, validity) &&
      add_extension(certificate, issuer, NID_key_usage,
                    openssl_list(kKeyUsages, usages).empty() ? "" : "critical," + openssl_list(kKeyUsages, usages)) &&
      add_extension(certificate, issuer, NID_ext_key_usage, openssl_list(kExtendedUsages, usages)) &&
      add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
      (X509_get0_subject_key_id(issuer) == nullptr || add_extension(certificate, issuer, NID_authority_key_identifier, "keyid")) &&
      copy_names(certificate, wanted);
  if (!filled || X509_sign(certificate, pair->key.get(), digest_for(pair->key.get())) <= 0) {
    return openssl_error("failed to sign certificate");
  }
  return pem_of(certificate);
}

}  // namespace backplane::controllers
