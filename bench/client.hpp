// A minimal blocking HTTP/1.1 client over TLS for a load driver: one connection, one request at a time.
//
// Thread-safety: a Connection belongs to one thread; an Endpoint may be shared.
// Errors:        std::runtime_error that names the failed operation.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

namespace bench {

// The server address and the credentials of a kubeconfig.
class Endpoint {
 public:
  explicit Endpoint(const std::string& kubeconfig_path);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  const std::string& host() const { return host_; }
  const std::string& port() const { return port_; }
  SSL_CTX* tls() const { return tls_; }

 private:
  std::string host_, port_;
  SSL_CTX* tls_ = nullptr;
};

struct Response {
  int code = 0;
  std::string head;
  std::string body;  // empty if `discard` was set
  std::size_t body_bytes = 0;
};

class Connection {
 public:
  explicit Connection(const Endpoint& endpoint);
  ~Connection();
  Connection(const Connection&) = delete;

  Response request(std::string_view method, std::string_view target, std::string_view body = {}, bool discard = false);
  // Sends a GET, reads the head of the response and returns its status code.  read_line() then reads the body.
  int begin_stream(std::string_view target);
  // The next line of a chunked stream, without chunk framing; false at the end.
  bool read_line(std::string& line);
  // For another thread: shuts the connection down, which ends a read that waits.
  void shut_down();

 private:
  void send(std::string_view text);
  void fill();  // reads more into buffer_
  std::string read_head();
  void read_exactly(std::size_t count, std::string* into);
  void read_chunked(std::string* into, std::size_t& total);
  std::string raw_line();

  const Endpoint& endpoint_;
  int socket_ = -1;
  SSL* ssl_ = nullptr;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t chunk_left_ = 0;
};

}  // namespace bench
