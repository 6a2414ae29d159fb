#include "net/egress/tls_tunnel.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "backplane/core/server_slot.hpp"
#include "backplane/net/openssl_ptr.hpp"

namespace backplane::egress {
namespace {

using SslPtr = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;

class PlainStream final : public ProxyStream {
 public:
  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}
  bool send_all(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EAGAIN || wait_ready(socket_.get(), POLLOUT) != 0) {
        return false;
      }
    }
    return true;
  }
  bool read_byte(char& out) override {
    for (;;) {
      const ssize_t got = recv(socket_.get(), &out, 1, 0);
      if (got == 1) return true;
      if (got == 0 || errno != EAGAIN || wait_ready(socket_.get(), POLLIN) != 0) return false;
    }
  }
  Result<int> into_socket() override { return socket_.release(); }

 private:
  Socket socket_;
};

// Buffered bytes of one direction.
struct Pipe {
  std::array<char, 16 * 1024> bytes;
  std::size_t begin = 0, end = 0;
  bool ended = false;  // end of input
  bool empty() const noexcept { return begin == end; }
};

// The number of tunnels of the calling thread's server.
std::atomic<int>& tunnels() {
  static PerServer<std::atomic<int>> running;
  return running.here();
}

// Moves bytes between the TLS connection `remote` and the socket `local`, until one side has ended and its bytes have been delivered.
class Relay {
 public:
  Relay(Socket remote, SslPtr ssl) : remote_(std::move(remote)), ssl_(std::move(ssl)) {}
  Relay(const Relay&) = delete;

  void run(Socket local) {
    local_ = std::move(local);
    while (!over_) {
      bool moved = from_local();
      moved = to_remote() || moved;
      moved = from_remote() || moved;
      moved = to_local() || moved;
      over_ = over_ || (in_.ended && in_.empty()) || (out_.ended && out_.empty());
      if (!moved && !over_) wait();
    }
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

 private:
  bool from_local() {
    if (!out_.empty() || out_.ended) return false;
    const ssize_t got = recv(local_.get(), out_.bytes.data(), out_.bytes.size(), 0);
    if (got < 0) return note_error(errno, out_);
    out_.begin = 0;
    out_.end = static_cast<std::size_t>(got);
    out_.ended = got == 0;
    return true;
  }
  bool to_local() {
    if (in_.empty()) return false;
    const ssize_t sent = send(local_.get(), in_.bytes.data() + in_.begin, in_.end - in_.begin, MSG_NOSIGNAL);
    if (sent < 0) return note_error(errno, out_);
    in_.begin += static_cast<std::size_t>(sent);
    return true;
  }
  // Treats an error of the local socket as the end of its input.
  bool note_error(int error, Pipe& pipe) {
    if (error == EAGAIN || error == EINTR) return false;
    over_ = true;
    pipe.ended = true;
    return false;
  }
  bool to_remote() {
    if (out_.empty()) return false;
    std::size_t sent = 0;
    if (!check_result(SSL_write_ex(ssl_.get(), out_.bytes.data() + out_.begin, out_.end - out_.begin, &sent))) return false;
    out_.begin += sent;
    return true;
  }
  bool from_remote() {
    if (!in_.empty() || in_.ended) return false;
    std::size_t got = 0;
    if (!check_result(SSL_read_ex(ssl_.get(), in_.bytes.data(), in_.bytes.size(), &got))) return false;
    in_.begin = 0;
    in_.end = got;
    return true;
  }
  // Records for which readiness TLS waits.
  bool check_result(int result) {
    if (result == 1) return true;
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return false;
      case SSL_ERROR_WANT_WRITE:
        writes_ = true;
        return false;
      default:
        in_.ended = true;
        ERR_clear_error();
        return false;
    }
  }
  void wait() {
    pollfd both[] = {{remote_.get(), 0, 0}, {local_.get(), 0, 0}};
    if (in_.empty()) both[0].events |= POLLIN;
    if (std::exchange(writes_, false)) both[0].events |= POLLOUT;
    if (out_.empty() && !out_.ended) both[1].events |= POLLIN;
    if (!in_.empty()) both[1].events |= POLLOUT;
    // A descriptor without events is set to -1, because otherwise a hang-up of that side would wake the thread.
    for (pollfd& each : both) each.fd = each.events == 0 ? -1 : each.fd;
    if (poll(both, 2, -1) < 0 && errno != EINTR) over_ = true;
  }

  Socket remote_;
  Socket local_{-1};
  SslPtr ssl_;
  Pipe out_, in_;
  bool writes_ = false;
  bool over_ = false;
};

class TlsProxyStream final : public ProxyStream {
 public:
  TlsProxyStream(Socket socket, SslPtr ssl) : socket_(std::move(socket)), ssl_(std::move(ssl)) {}
  Status handshake() {
    while (true) {
      const int done = SSL_connect(ssl_.get());
      if (done == 1) return {};
      if (wait_for(done)) continue;
      return service_unavailable(why());
    }
  }
  bool send_all(std::string_view bytes) override {
    std::size_t sent = 0;
    while (!bytes.empty()) {
      const int done = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
      if (done == 1) {
        bytes.remove_prefix(sent);
      } else if (!wait_for(done)) {
        return false;
      }
    }
    return true;
  }
  bool read_byte(char& out) override {
    std::size_t got = 0;
    for (;;) {
      const int done = SSL_read_ex(ssl_.get(), &out, 1, &got);
      if (done == 1) return true;
      if (!wait_for(done)) return false;
    }
  }
  Result<int> into_socket() override {
    const auto relay = std::make_shared<Relay>(std::move(socket_), std::move(ssl_));
    return relayed([relay](Socket local) { relay->run(std::move(local)); });
  }

 private:
  bool wait_for(int result) {
    const int wanted = SSL_get_error(ssl_.get(), result);
    if (wanted == SSL_ERROR_WANT_READ) return wait_ready(socket_.get(), POLLIN) == 0;
    if (wanted == SSL_ERROR_WANT_WRITE) return wait_ready(socket_.get(), POLLOUT) == 0;
    ERR_clear_error();
    return false;
  }
  std::string why() const {
    const long problem = SSL_get_verify_result(ssl_.get());
    if (problem == X509_V_OK) return "tls: handshake failure";
    const bool named = problem == X509_V_ERR_HOSTNAME_MISMATCH || problem == X509_V_ERR_IP_ADDRESS_MISMATCH;
    const bool dated = problem == X509_V_ERR_CERT_HAS_EXPIRED || problem == X509_V_ERR_CERT_NOT_YET_VALID;
    return std::string("tls: failed to verify certificate: x509: ") + (named   ? "certificate is not valid for the proxy's name"
                                                                       : dated ? "certificate has expired or is not yet valid"
                                                                               : "certificate signed by unknown authority");
  }

  Socket socket_;
  SslPtr ssl_;
};

bool is_address(const std::string& name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

void set_expected_name(SSL* ssl, const std::string& name) {
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl);
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (is_address(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), name.size());
    SSL_set_tlsext_host_name(ssl, name.c_str());
  }
}

}  // namespace

Result<std::shared_ptr<SSL_CTX>> read_proxy_tls(const std::string& ca_bundle, const std::string& client_cert,
                                                const std::string& client_key) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(raw, no_openssl_password);
  const bool pair = SSL_CTX_use_certificate_chain_file(raw, client_cert.c_str()) == 1 &&
                    SSL_CTX_use_PrivateKey_file(raw, client_key.c_str(), SSL_FILETYPE_PEM) == 1 && SSL_CTX_check_private_key(raw) == 1;
  ERR_clear_error();
  if (!pair) return bad_request("failed to read key pair " + client_cert + " & " + client_key);
  const bool authorities =
      ca_bundle.empty() ? SSL_CTX_set_default_verify_paths(raw) == 1 : SSL_CTX_load_verify_locations(raw, ca_bundle.c_str(), nullptr) == 1;
  ERR_clear_error();
  if (!authorities) return bad_request("failed to append CA cert to the cert pool");
  return context;
}

Result<int> relayed(std::function<void(Socket other_end)> relay) {
  // Counts the tunnel as long as its thread runs.
  struct Place {
    Place() { ++running; }
    ~Place() { --running; }
    std::atomic<int>& running = tunnels();  // stored, because a Place may be destroyed on a thread that belongs to no server
  };
  const auto place = std::make_shared<Place>();
  if (tunnels() > kMostTunnels) {
    return service_unavailable("too many connections through egress proxies: " + std::to_string(kMostTunnels) + " are open");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return service_unavailable("socketpair: no file descriptor is left");
  }
  Socket mine(ends[0]);
  try {
    std::thread([relay = std::move(relay), place, other = std::make_shared<Socket>(ends[1])] { relay(std::move(*other)); }).detach();
  } catch (const std::system_error&) {
    return service_unavailable("no thread can be started for a connection through an egress proxy");
  }
  return mine.release();
}

std::unique_ptr<ProxyStream> plain_stream(Socket socket) { return std::make_unique<PlainStream>(std::move(socket)); }

Result<std::unique_ptr<ProxyStream>> tls_stream(Socket socket, const ProxyTls& tls) {
  SslPtr ssl(SSL_new(tls.context.get()));
  if (ssl == nullptr || SSL_set_fd(ssl.get(), socket.get()) != 1) return service_unavailable("tls: handshake failure");
  set_expected_name(ssl.get(), tls.server_name);
  auto stream = std::make_unique<TlsProxyStream>(std::move(socket), std::move(ssl));
  if (Status status = stream->handshake(); !status.ok()) return status;
  return std::unique_ptr<ProxyStream>(std::move(stream));
}

}  // namespace backplane::egress
