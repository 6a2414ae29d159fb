#include "tls_files.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>

namespace backplane::etcd {
namespace {

// A key and a certificate for it.
struct Identity {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
};

void extend(X509* certificate, int what, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Makes a key and a certificate. `names`: the alternative names ("DNS:x,IP:y"); `by`: the issuer; null: the certificate is self-signed.
Identity make_identity(const std::string& name, const std::string& names, const Identity* by, bool authority) {
  Identity out;
  out.key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  out.certificate.reset(X509_new(), X509_free);
  X509* const made = out.certificate.get();
  X509_set_version(made, X509_VERSION_3);
  static long serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, out.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  const Identity& issuer = by == nullptr ? out : *by;
  X509_set_issuer_name(made, X509_get_subject_name(issuer.certificate.get()));
  extend(made, NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!names.empty()) extend(made, NID_subject_alt_name, names);
  X509_sign(made, issuer.key.get(), EVP_sha256());
  return out;
}

class EtcdTlsFiles : public testing::Test {
 protected:
  EtcdTlsFiles() {
    std::string path = testing::TempDir() + "etcd_tls_XXXXXX";
    directory_ = mkdtemp(path.data());
    settings_.authorities_file = directory_ + "/authority.crt";
    trust(authority_);
  }
  ~EtcdTlsFiles() override { std::filesystem::remove_all(directory_); }
  void trust(const Identity& who) {
    write("authority.crt", [&](FILE* file) { PEM_write_X509(file, who.certificate.get()); });
  }
  void write(const std::string& name, const std::function<void(FILE*)>& what) const {
    FILE* const file = fopen((directory_ + "/" + name).c_str(), "w");
    what(file);
    fclose(file);
  }

  const Identity authority_ = make_identity("authority", "", nullptr, true);
  Settings settings_;
  std::string directory_;
};

TEST_F(EtcdTlsFiles, AKeyUnderAPassphraseIsRefusedAndNotAskedFor) {
  const Identity client = make_identity("client", "", &authority_, false);
  settings_.certificate_file = directory_ + "/client.crt";
  settings_.key_file = directory_ + "/client.key";
  write("client.crt", [&](FILE* file) { PEM_write_X509(file, client.certificate.get()); });
  write("client.key", [&](FILE* file) {
    char phrase[] = "phrase";
    PEM_write_PKCS8PrivateKey(file, client.key.get(), EVP_aes_128_cbc(), phrase, 6, nullptr, nullptr);
  });
  const Status refused = check_tls_files(settings_);
  EXPECT_TRUE(refused.message().starts_with("--etcd-keyfile")) << refused.message();
}

TEST_F(EtcdTlsFiles, FilesThatHoldTheWrongThingAreRefusedByTheirFlags) {
  const Identity client = make_identity("client", "", &authority_, false), other = make_identity("other", "", &authority_, false);
  const auto write_key = [](const Identity& whose) {
    return [&](FILE* file) { PEM_write_PrivateKey(file, whose.key.get(), nullptr, nullptr, 0, nullptr, nullptr); };
  };
  write("client.crt", [&](FILE* file) { PEM_write_X509(file, client.certificate.get()); });
  write("client.key", write_key(client));
  write("other.key", write_key(other));
  write("mixed.crt", [&](FILE* file) {
    PEM_write_X509(file, authority_.certificate.get());
    write_key(client)(file);
  });
  write("damaged.crt", [](FILE* file) { fputs("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", file); });
  write("cut.crt", [](FILE* file) { fputs("-----BEGIN CERTIFICATE-----\nAAAA\n", file); });
  struct Row {
    const char *authorities, *certificate, *key, *says;
  };
  for (const Row& row :
       {Row{"authority.crt", "client.crt", "client.key", ""}, Row{"authority.crt", "", "", ""},
        Row{"authority.crt", "client.crt", "other.key", "--etcd-keyfile"},
        Row{"authority.crt", "client.crt", "authority.crt", "--etcd-keyfile"},
        Row{"authority.crt", "client.key", "client.key", "--etcd-certfile"}, Row{"client.key", "", "", "--etcd-cafile"},
        Row{"mixed.crt", "", "", "--etcd-cafile"}, Row{"damaged.crt", "", "", "--etcd-cafile"}, Row{"cut.crt", "", "", "--etcd-cafile"}}) {
    const auto path = [&](const std::string& name) { return name.empty() ? name : directory_ + "/" + name; };
    settings_.authorities_file = path(row.authorities);
    settings_.certificate_file = path(row.certificate);
    settings_.key_file = path(row.key);
    const Status status = check_tls_files(settings_);
    EXPECT_EQ(status.ok(), *row.says == 0) << row.authorities << " " << row.key << ": " << status.message();
    EXPECT_EQ(status.message().substr(0, std::string_view(row.says).size()), row.says);
  }
}

}  // namespace
}  // namespace backplane::etcd
