#include "transport/certificates.hpp"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <algorithm>

#include "transport/certificate_fields.hpp"

namespace backplane {
namespace {

// The validity of a certificate begins this long before its creation, for clients whose clocks are slightly behind.
constexpr std::chrono::hours kBackdate{1};

Status openssl_failure(const std::string& what) { return internal_error(what + ": " + openssl_error()); }

std::string take_pem(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

X509Ptr parse_certificate(const std::string& pem) {
  const auto bio = memory_bio(pem);
  return X509Ptr(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

// An encrypted key is an error; OpenSSL must not ask for the password on the terminal.
int no_password(char*, int, int, void*) { return 0; }

KeyPtr parse_key(const std::string& pem) {
  const auto bio = memory_bio(pem);
  return KeyPtr(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
}

// Returns the key as PEM; the result is empty if the key cannot be encoded.
std::string pem_of(EVP_PKEY* key) {
  const BioPtr text(BIO_new(BIO_s_mem()));
  const bool good = PEM_write_bio_PKCS8PrivateKey(text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  return good ? take_pem(text.get()) : std::string();
}

bool set_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // the serial number is positive and always has 16 bytes
  const std::unique_ptr<BIGNUM, OpenSslDeleter<BN_free>> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_subject(X509_NAME* name, const CertificateSpec& spec) {
  const auto add = [name](const char* field, const std::string& text) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(text.size()), -1, 0) == 1;
  };
  return std::all_of(spec.organizations.begin(), spec.organizations.end(), [&](const std::string& o) { return add("O", o); }) &&
         add("CN", spec.common_name);
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, OpenSslDeleter<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool add_extensions(X509* certificate, X509* issuer, const CertificateSpec& spec) {
  const bool authority = spec.use == CertificateUse::kAuthority;
  const auto add = [&](int nid, const char* value) { return add_extension(certificate, issuer, nid, value); };
  bool ok = add(NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
            add(NID_key_usage,
                authority ? "critical,digitalSignature,keyEncipherment,keyCertSign" : "critical,digitalSignature,keyEncipherment") &&
            add(NID_subject_key_identifier, "hash");
  if (!authority)
    ok = ok && add(NID_authority_key_identifier, "keyid") &&
         add(NID_ext_key_usage, spec.use == CertificateUse::kServer ? "serverAuth" : "clientAuth");
  return ok && add_alternative_names(certificate, spec);
}

}  // namespace

Result<KeyPair> issue_certificate(const CertificateSpec& spec, const KeyPair* authority) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  X509Ptr certificate(X509_new());
  if (!key || !certificate) return openssl_failure("cannot make a key");
  X509Ptr issuer;
  KeyPtr issuer_key;
  if (authority != nullptr) {
    issuer = parse_certificate(authority->certificate_pem);
    issuer_key = parse_key(authority->key_pem);
    if (!issuer || !issuer_key) return openssl_failure("the certificate authority cannot be read");
  }
  X509* const signer = issuer ? issuer.get() : certificate.get();
  EVP_PKEY* const signing_key = issuer_key ? issuer_key.get() : key.get();
  const auto backdate = std::chrono::duration_cast<std::chrono::seconds>(kBackdate).count();
  const auto lifetime = std::chrono::duration_cast<std::chrono::seconds>(spec.lifetime).count();
  const bool built = X509_set_version(certificate.get(), X509_VERSION_3) == 1 && set_serial(certificate.get()) &&
                     X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -backdate) != nullptr &&
                     X509_time_adj_ex(X509_getm_notAfter(certificate.get()), 0, lifetime, nullptr) != nullptr &&
                     X509_set_pubkey(certificate.get(), key.get()) == 1 && set_subject(X509_get_subject_name(certificate.get()), spec) &&
                     X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer)) == 1 &&
                     add_extensions(certificate.get(), signer, spec) && X509_sign(certificate.get(), signing_key, EVP_sha256()) > 0;
  if (!built) return openssl_failure("cannot make a certificate for \"" + spec.common_name + "\"");
  const BioPtr certificate_text(BIO_new(BIO_s_mem()));
  std::string key_pem = pem_of(key.get());
  if (PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1 || key_pem.empty()) {
    return openssl_failure("cannot encode a certificate");
  }
  return KeyPair{take_pem(certificate_text.get()), std::move(key_pem)};
}

Status ensure_key(const std::string& path) {
  const auto found = read_file(path);
  const bool there = found.ok() && parse_key(*found) != nullptr;
  ERR_clear_error();
  if (there) return {};
  const KeyPtr key(EVP_EC_gen("P-256"));
  const std::string pem = key ? pem_of(key.get()) : std::string();
  if (pem.empty()) return openssl_failure("cannot make a key");
  return write_file_atomically(path, pem, 0600);
}

bool is_issued_by(const std::string& certificate_pem, const KeyPair& authority) {
  const X509Ptr certificate = parse_certificate(certificate_pem);
  const X509Ptr issuer = parse_certificate(authority.certificate_pem);
  const bool issued = certificate && issuer && X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())) == 1;
  ERR_clear_error();
  return issued;
}

std::string certificate_problem(const KeyPair& pair, const CertificateSpec& spec, const KeyPair* authority) {
  const X509Ptr certificate = parse_certificate(pair.certificate_pem);
  const KeyPtr key = parse_key(pair.key_pem);
  ERR_clear_error();
  if (!certificate || !key) return "cannot be read";
  if (X509_check_private_key(certificate.get(), key.get()) != 1) return "key and certificate do not belong together";
  const auto reserve = std::min<std::chrono::hours>(spec.lifetime / 5, std::chrono::hours(24 * 30));
  if (certificate_expiry(certificate.get()) < std::chrono::system_clock::now() + reserve) return "it has expired or expires soon";
  if (authority != nullptr && !is_issued_by(pair.certificate_pem, *authority)) return "another certificate authority has signed it";
  const PeerCertificate subject = describe_certificate(certificate.get());
  if (subject.common_name != spec.common_name || subject.organizations != spec.organizations) return "it has another subject";
  const auto names = certificate_names(certificate.get());
  std::vector<std::string> wanted = spec.dns_names;
  for (const auto& address : spec.ip_addresses) wanted.push_back(canonical_address(address));
  for (const auto& name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end()) return "it is not for " + name;
  }
  return {};
}

Result<KeyPair> ensure_certificate(const KeyPairFiles& files, const CertificateSpec& spec, const KeyPair* authority) {
  auto certificate = read_file(files.certificate);
  auto key = read_file(files.key);
  if (certificate.ok() && key.ok()) {
    KeyPair found{std::move(*certificate), std::move(*key)};
    if (certificate_problem(found, spec, authority).empty()) return found;
  }
  auto made = issue_certificate(spec, authority);
  if (!made.ok()) return std::move(made.status());
  // The key is written first. After a crash between the two writes, the files do not match, and the next call generates a new pair.
  if (Status status = write_file_atomically(files.key, made->key_pem, 0600); !status.ok()) return status;
  if (Status status = write_file_atomically(files.certificate, made->certificate_pem, 0644); !status.ok()) return status;
  return made;
}

}  // namespace backplane
