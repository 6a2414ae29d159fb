// For tests: a blocking TLS client, and HTTP/2 over it.
//
// Errors:        a read that receives no bytes for ten seconds returns empty text, like the end of the connection.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "http/http_test_support.hpp"
#include "transport/certificates.hpp"
#include "transport/sockets.hpp"

namespace backplane::test {

inline FileDescriptor connect_tcp(std::uint16_t port, int receive_buffer = 0) {
  std::signal(SIGPIPE, SIG_IGN);  // ignored, because OpenSSL writes to sockets that the server has closed
  FileDescriptor fd(::socket(AF_INET, SOCK_STREAM, 0));
  if (receive_buffer > 0) ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const timeval timeout{10, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

struct TlsClientOptions {
  std::string alpn = {};         // "h2" or "http/1.1"; empty: the client does not use ALPN
  std::string server_name = {};  // the server name (SNI)
  const KeyPair* certificate = nullptr;
  int max_version = 0;
  std::string ciphers = {};
  int receive_buffer = 0;
  SSL_SESSION* session = nullptr;  // the session to resume
};

class TlsClient {
 public:
  TlsClient(std::uint16_t port, TlsClientOptions options = {}) : fd_(connect_tcp(port, options.receive_buffer)) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (options.max_version != 0) SSL_CTX_set_max_proto_version(context_.get(), options.max_version);
    if (!options.ciphers.empty()) SSL_CTX_set_cipher_list(context_.get(), options.ciphers.c_str());
    if (options.certificate != nullptr) use(*options.certificate);
    ssl_.reset(SSL_new(context_.get()));
    if (!options.alpn.empty()) {
      const std::string wire = static_cast<char>(options.alpn.size()) + options.alpn;
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(wire.data()), static_cast<unsigned>(wire.size()));
    }
    if (!options.server_name.empty()) SSL_set_tlsext_host_name(ssl_.get(), options.server_name.c_str());
    if (options.session != nullptr) SSL_set_session(ssl_.get(), options.session);
    SSL_set_fd(ssl_.get(), fd_.get());
    connected_ = fd_.valid() && SSL_connect(ssl_.get()) == 1;
    ERR_clear_error();
  }

  bool connected() const { return connected_; }
  SSL* ssl() { return ssl_.get(); }
  int fd() const { return fd_.get(); }
  std::string server_common_name() {
    X509* certificate = SSL_get0_peer_certificate(ssl_.get());
    return certificate == nullptr ? std::string() : describe_certificate(certificate).common_name;
  }
  std::string protocol() {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return std::string(reinterpret_cast<const char*>(name), size);
  }
  void write(std::string_view text) {
    std::size_t put = 0;
    SSL_write_ex(ssl_.get(), text.data(), text.size(), &put);
  }
  // Returns received bytes; empty at the end of the connection.
  std::string read() {
    std::string buffer(64 << 10, '\0');
    std::size_t got = 0;
    if (SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &got) != 1) got = 0;
    ERR_clear_error();
    buffer.resize(got);
    return buffer;
  }
  std::string read_until(std::string_view end) {
    std::string all;
    while (all.find(end) == std::string::npos) {
      const std::string more = read();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  std::string read_to_end() {
    std::string all;
    for (std::string more = read(); !more.empty(); more = read()) all += more;
    return all;
  }
  // Sends a request over HTTP/1.1 and reads until the response contains `end`.
  std::string get(const std::string& path, std::string_view end) {
    write("GET " + path + " HTTP/1.1\r\nHost: test\r\n\r\n");
    return read_until(end);
  }

 private:
  void use(const KeyPair& pair) {
    const auto certificate_bio = memory_bio(pair.certificate_pem);
    const auto key_bio = memory_bio(pair.key_pem);
    const X509Ptr certificate(PEM_read_bio_X509(certificate_bio.get(), nullptr, nullptr, nullptr));
    const KeyPtr key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
  }

  FileDescriptor fd_;
  SslContextPtr context_;
  SslPtr ssl_;
  bool connected_ = false;
};

// HTTP/2 on a TlsClient.
class H2Connection {
 public:
  explicit H2Connection(std::uint16_t port, bool manual_windows = false) : tls(port, {.alpn = "h2"}), client(manual_windows) {}
  // Exchanges bytes until `done` returns true. Returns false if the connection ends before that.
  bool until(const std::function<bool()>& done) {
    for (;;) {
      const std::string up = client.output();
      if (!up.empty()) tls.write(up);
      if (done()) return true;
      const std::string down = tls.read();
      if (down.empty() || !client.receive(down)) return false;
    }
  }
  H2Client::Response get(const std::string& path) {
    const auto id = client.request("GET", path);
    until([&] { return client.responses[id].closed; });
    return client.responses[id];
  }

  TlsClient tls;
  H2Client client;
};

}  // namespace backplane::test
