#include "tls_files.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "backplane/net/openssl_ptr.hpp"

namespace backplane::etcd {
namespace {

BioPtr open(const std::string& path) { return BioPtr(BIO_new_file(path.c_str(), "r")); }

Status bad_file(std::string_view flag, const std::string& path, std::string_view why) {
  ERR_clear_error();
  return bad_request("--" + std::string(flag) + ": " + backplane::quoted(path) + " " + std::string(why));
}

// One block of a PEM file.
struct Block {
  ~Block() {
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
  }
  bool read(BIO* from) { return PEM_read_bio(from, &name, &header, &bytes, &size) == 1; }
  bool is_certificate() const {
    const unsigned char* at = bytes;
    const X509Ptr parsed(d2i_X509(nullptr, &at, size));
    return parsed != nullptr && at == bytes + size;
  }

  char* name = nullptr;
  char* header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
};

// Checks that all blocks of the file are valid certificates: TLS libraries would skip others, and an authority would be missing.
Status check_authorities(const std::string& path) {
  constexpr std::string_view kFlag = "etcd-cafile";
  const BioPtr file = open(path);
  for (bool any = false;; any = true) {
    Block block;
    if (file == nullptr || !block.read(file.get())) {
      const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
      ERR_clear_error();
      return any && at_end ? Status() : bad_file(kFlag, path, "is damaged");
    }
    if (!block.is_certificate()) return bad_file(kFlag, path, "holds " + backplane::quoted(block.name) + " where certificates should be");
  }
}

Status check_pair(const std::string& certificate_path, const std::string& key_path) {
  const BioPtr certificate_file = open(certificate_path), key_file = open(key_path);
  const X509Ptr certificate(PEM_read_bio_X509(certificate_file.get(), nullptr, no_openssl_password, nullptr));
  if (certificate == nullptr) return bad_file("etcd-certfile", certificate_path, "holds no certificate");
  const KeyPtr key(PEM_read_bio_PrivateKey(key_file.get(), nullptr, no_openssl_password, nullptr));
  if (key == nullptr) return bad_file("etcd-keyfile", key_path, "holds no private key, or one under a passphrase");
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return bad_file("etcd-keyfile", key_path, "does not hold the key of the certificate in " + backplane::quoted(certificate_path));
  return {};
}

}  // namespace

Status check_tls_files(const Settings& settings) {
  ERR_clear_error();
  if (!settings.authorities_file.empty()) {
    if (Status bad = check_authorities(settings.authorities_file); !bad.ok()) return bad;
  }
  return settings.certificate_file.empty() ? Status() : check_pair(settings.certificate_file, settings.key_file);
}

}  // namespace backplane::etcd
