#include "tls.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "channel.hpp"
#include "scripted_server.hpp"
#include "tls_files.hpp"
#include "wire_thread.hpp"

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

// `names`: its alternative ones ("DNS:x,IP:y"), where it has any; `by`: null: itself.
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

// The other side: takes the handshake, and what is to be sent comes out at once.
class Peer {
 public:
  explicit Peer(const Identity& identity, const Identity* between = nullptr) : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate(context_, identity.certificate.get());
    if (between != nullptr) SSL_CTX_add1_chain_cert(context_, between->certificate.get());
    SSL_CTX_use_PrivateKey(context_, identity.key.get());
    SSL_CTX_set_alpn_select_cb(
        context_,
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned int, void*) {
          *out = in + 1;
          *size = *in;
          return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_);
  }
  ~Peer() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // What it read of it is appended to `heard`; the result is to be sent.
  std::string take(const std::string& bytes) {
    BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    char buffer[4096];
    for (int count = 0; (count = SSL_read(ssl_, buffer, sizeof buffer)) > 0;) heard.append(buffer, static_cast<std::size_t>(count));
    return sent();
  }
  std::string say(const std::string& plain) {
    SSL_write(ssl_, plain.data(), static_cast<int>(plain.size()));
    return sent();
  }
  std::string end() {
    SSL_shutdown(ssl_);
    return sent();
  }
  std::string name_asked_for() const {
    const char* const name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }
  std::string heard;

 private:
  std::string sent() {
    std::string out(BIO_ctrl_pending(SSL_get_wbio(ssl_)), '\0');
    if (!out.empty()) BIO_read(SSL_get_wbio(ssl_), out.data(), static_cast<int>(out.size()));
    return out;
  }
  SSL_CTX* const context_;
  SSL* ssl_ = nullptr;
};

class EtcdTls : public testing::Test {
 protected:
  EtcdTls() {
    std::string path = testing::TempDir() + "etcd_tls_XXXXXX";
    directory_ = mkdtemp(path.data());
    settings_.authorities_file = directory_ + "/authority.crt";
    trust(authority_);
  }
  ~EtcdTls() override { std::filesystem::remove_all(directory_); }
  void trust(const Identity& who) {
    write("authority.crt", [&](FILE* file) { PEM_write_X509(file, who.certificate.get()); });
  }
  void write(const std::string& name, const std::function<void(FILE*)>& what) const {
    FILE* const file = fopen((directory_ + "/" + name).c_str(), "w");
    what(file);
    fclose(file);
  }
  // Why `host` is not believed to be `peer`; empty: it is.
  std::string refusal(const std::string& host, Peer& peer) {
    std::string error, out, plain;
    const auto client = Tls::make(settings_, host, error);
    if (client == nullptr) return error;
    error = client->begin(out);
    for (int turn = 0; turn < 4 && error.empty() && !client->established(); ++turn) {
      const std::string answer = peer.take(std::exchange(out, ""));
      error = client->receive(answer, plain, out);
    }
    if (client->established()) peer.take(out);
    return error.empty() && !client->established() ? "nothing" : error;
  }
  std::string refusal(const std::string& host, const Identity& identity) {
    Peer peer(identity);
    return refusal(host, peer);
  }
  Identity server(const std::string& names) const { return make_identity("etcd.example", names, &authority_, false); }

  const Identity authority_ = make_identity("authority", "", nullptr, true);
  Settings settings_;
  std::string directory_;
};

TEST_F(EtcdTls, AServerIsWhoItsAlternativeNamesSay) {
  EXPECT_EQ(refusal("etcd.example", server("DNS:etcd.example")), "");
  EXPECT_EQ(refusal("etcd.example.", server("DNS:etcd.example")), "");
  EXPECT_EQ(refusal("a.etcd.example", server("DNS:*.etcd.example")), "");
  EXPECT_EQ(refusal("127.0.0.1", server("IP:127.0.0.1")), "");
  EXPECT_EQ(refusal("::1", server("IP:0:0:0:0:0:0:0:1")), "");
  for (const auto& [host, names] : std::vector<std::pair<std::string, std::string>>{{"etcd.example", "DNS:other.example"},
                                                                                    {"etcd.example", ""},
                                                                                    {"etcd.example", "IP:127.0.0.1"},
                                                                                    {"127.0.0.1", "IP:127.0.0.2"},
                                                                                    {"127.0.0.1", "DNS:127.0.0.1"},
                                                                                    {"a.b.etcd.example", "DNS:*.etcd.example"},
                                                                                    {"ab.example", "DNS:a*.example"},
                                                                                    {".example", "DNS:etcd.example"},
                                                                                    {"", "DNS:etcd.example"}}) {
    EXPECT_NE(refusal(host, server(names)), "") << host << " " << names;
  }
}

TEST_F(EtcdTls, ANameIsAskedForAndAnAddressIsNot) {
  Peer named(server("DNS:etcd.example")), numbered(server("IP:127.0.0.1"));
  EXPECT_EQ(refusal("etcd.example", named), "");
  EXPECT_EQ(named.name_asked_for(), "etcd.example");
  EXPECT_EQ(refusal("127.0.0.1", numbered), "");
  EXPECT_EQ(numbered.name_asked_for(), "");
}

TEST_F(EtcdTls, OnlyTheAuthoritiesOfTheFileAreTrusted) {
  const Identity stranger = make_identity("stranger", "", nullptr, true);
  const Identity deceiver = make_identity("etcd.example", "DNS:etcd.example", &stranger, false);
  EXPECT_NE(refusal("etcd.example", deceiver).find("certificate of the server"), std::string::npos);
  const Identity itself = make_identity("etcd.example", "DNS:etcd.example", nullptr, false);
  EXPECT_NE(refusal("etcd.example", itself), "");
}

TEST_F(EtcdTls, AnAuthorityInBetweenIsTrustedWhereTheFileHoldsIt) {
  const Identity between = make_identity("between", "", &authority_, true);
  const Identity below = make_identity("etcd.example", "DNS:etcd.example", &between, false);
  EXPECT_NE(refusal("etcd.example", below), "");
  Peer with_chain(below, &between);
  EXPECT_EQ(refusal("etcd.example", with_chain), "");
  trust(between);
  EXPECT_EQ(refusal("etcd.example", below), "");
}

TEST_F(EtcdTls, AKeyUnderAPassphraseIsRefusedAndNotAskedFor) {
  const Identity client = make_identity("client", "", &authority_, false);
  settings_.certificate_file = directory_ + "/client.crt";
  settings_.key_file = directory_ + "/client.key";
  write("client.crt", [&](FILE* file) { PEM_write_X509(file, client.certificate.get()); });
  write("client.key", [&](FILE* file) {
    char phrase[] = "phrase";
    PEM_write_PKCS8PrivateKey(file, client.key.get(), EVP_aes_128_cbc(), phrase, 6, nullptr, nullptr);
  });
  EXPECT_NE(refusal("etcd.example", server("DNS:etcd.example")).find("client.key"), std::string::npos);
}

TEST_F(EtcdTls, FilesThatHoldTheWrongThingAreRefusedByTheirFlags) {
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

class Heard final : public CallListener {
 public:
  bool message(std::string) override { return true; }
  void ended(CallStatus status) override {
    const std::lock_guard lock(mutex_);
    end_ = std::move(status);
    changed_.notify_all();
  }
  CallStatus end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return end_.has_value(); });
    return end_.value_or(CallStatus(Code::kUnknown, "nobody told of the end"));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<CallStatus> end_;
};

TEST_F(EtcdTls, WhatWasSaidBeforeTheEndCounts) {
  ScriptedServer listener;
  Peer peer(server("IP:127.0.0.1"));
  const auto wire = std::make_shared<WireThread>();
  const auto channel =
      Channel::make(wire, settings_, {"dns:127.0.0.1:" + std::to_string(listener.port()), "https://127.0.0.1", /*tls=*/true});
  static constexpr Method kRange{"etcdserverpb.KV", "Range"};
  Heard heard;
  channel->start({kRange, "ask", Channel::Clock::now() + std::chrono::seconds(60)}, heard);
  listener.take();
  std::string settings = Frame::settings();
  // Until the call's headers have come: the frame whose type is 1, with both flags.
  const std::string request("\x01\x04\0\0\0\x01", 6);
  while (peer.heard.find(request) == std::string::npos) {
    const std::string came = listener.some();
    ASSERT_FALSE(came.empty());
    listener.say(peer.take(came));
    if (!peer.heard.empty() && !settings.empty()) listener.say(peer.say(std::exchange(settings, "")));
  }
  const std::string answer = peer.say(Frame::begin(1) + Frame::data(1, Frame::message("yes")) + Frame::end(1));
  listener.say(answer + peer.end());
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
  channel->close();
  wire->stop();
  channel->dispose();
}

}  // namespace
}  // namespace backplane::etcd
