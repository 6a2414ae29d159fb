#include "client.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

std::string base64(const std::string& text) {
  std::vector<unsigned char> out(text.size() + 4);
  const int size = EVP_DecodeBlock(out.data(), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  const int padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  if (size < padding) throw std::runtime_error("kubeconfig: a field is not base64");
  return std::string(out.begin(), out.begin() + (size - padding));
}

struct Memory {
  explicit Memory(const std::string& text) : bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))) {}
  ~Memory() { BIO_free(bio); }
  BIO* bio;
};

}  // namespace

Endpoint::Endpoint(const std::string& kubeconfig_path) {
  const YAML::Node config = YAML::LoadFile(kubeconfig_path);
  const auto server = config["clusters"][0]["cluster"]["server"].as<std::string>();
  const auto authority = server.substr(server.find("//") + 2);
  host_ = authority.substr(0, authority.rfind(':'));
  port_ = authority.substr(authority.rfind(':') + 1);

  tls_ = SSL_CTX_new(TLS_client_method());
  const std::string ca_text = base64(config["clusters"][0]["cluster"]["certificate-authority-data"].as<std::string>());
  Memory ca(ca_text);
  X509* root = PEM_read_bio_X509(ca.bio, nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_), root);
  X509_free(root);
  SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER, nullptr);
  const std::string cert_text = base64(config["users"][0]["user"]["client-certificate-data"].as<std::string>());
  const std::string key_text = base64(config["users"][0]["user"]["client-key-data"].as<std::string>());
  Memory cert(cert_text), key(key_text);
  X509* own = PEM_read_bio_X509(cert.bio, nullptr, nullptr, nullptr);
  EVP_PKEY* secret = PEM_read_bio_PrivateKey(key.bio, nullptr, nullptr, nullptr);
  if (!own || !secret || SSL_CTX_use_certificate(tls_, own) != 1 || SSL_CTX_use_PrivateKey(tls_, secret) != 1) {
    throw std::runtime_error(kubeconfig_path + ": the client certificate or its key cannot be used");
  }
  X509_free(own);
  EVP_PKEY_free(secret);
}

Endpoint::~Endpoint() { SSL_CTX_free(tls_); }

Connection::Connection(const Endpoint& endpoint) : endpoint_(endpoint) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(endpoint.host().c_str(), endpoint.port().c_str(), &hints, &found) != 0)
    throw std::runtime_error("cannot resolve " + endpoint.host());
  socket_ = socket(found->ai_family, SOCK_STREAM, 0);
  const bool connected = connect(socket_, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  if (!connected) throw std::runtime_error("cannot connect to " + endpoint.host() + ":" + endpoint.port());
  int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ssl_ = SSL_new(endpoint.tls());
  SSL_set_fd(ssl_, socket_);
  if (SSL_connect(ssl_) != 1) throw std::runtime_error("TLS handshake failed");
}

Connection::~Connection() {
  SSL_free(ssl_);
  close(socket_);
}

void Connection::shut_down() { shutdown(socket_, SHUT_RDWR); }

void Connection::send(std::string_view text) {
  if (SSL_write(ssl_, text.data(), static_cast<int>(text.size())) <= 0) throw std::runtime_error("the server closed the connection");
}

void Connection::fill() {
  if (at_ > 0) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  char chunk[32768];
  const int size = SSL_read(ssl_, chunk, sizeof chunk);
  if (size <= 0) throw std::runtime_error("the server closed the connection");
  buffer_.append(chunk, static_cast<std::size_t>(size));
}

std::string Connection::raw_line() {
  std::size_t end;
  while ((end = buffer_.find('\n', at_)) == std::string::npos) fill();
  std::string line = buffer_.substr(at_, end - at_);
  at_ = end + 1;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

std::string Connection::read_head() {
  std::string head;
  for (std::string line = raw_line(); !line.empty(); line = raw_line()) head += line + "\n";
  return head;
}

void Connection::read_exactly(std::size_t count, std::string* into) {
  while (count > 0) {
    if (at_ == buffer_.size()) fill();
    const std::size_t take = std::min(count, buffer_.size() - at_);
    if (into) into->append(buffer_, at_, take);
    at_ += take;
    count -= take;
  }
}

void Connection::read_chunked(std::string* into, std::size_t& total) {
  while (true) {
    const std::size_t size = std::stoul(raw_line(), nullptr, 16);
    read_exactly(size, into);
    total += size;
    raw_line();
    if (size == 0) return;
  }
}

namespace {
std::size_t content_length(const std::string& head) {
  const auto at = head.find("Content-Length: ");
  if (at == std::string::npos) return 0;
  std::size_t length = 0;
  std::from_chars(head.data() + at + 16, head.data() + head.size(), length);
  return length;
}

std::string request_head(const Endpoint& endpoint, std::string_view method, std::string_view target, std::size_t body_size) {
  std::string head;
  head.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(endpoint.host());
  head.append("\r\nAccept: application/json\r\nUser-Agent: backplane-bench\r\n");
  if (body_size) head.append("Content-Type: application/json\r\nContent-Length: ").append(std::to_string(body_size)).append("\r\n");
  return head + "\r\n";
}
}  // namespace

Response Connection::request(std::string_view method, std::string_view target, std::string_view body, bool discard) {
  send(request_head(endpoint_, method, target, body.size()).append(body));
  Response response;
  response.head = read_head();
  response.code = std::stoi(response.head.substr(response.head.find(' ') + 1));
  std::string* into = discard ? nullptr : &response.body;
  if (response.head.find("Transfer-Encoding: chunked") != std::string::npos) {
    read_chunked(into, response.body_bytes);
  } else {
    response.body_bytes = content_length(response.head);
    read_exactly(response.body_bytes, into);
  }
  return response;
}

int Connection::begin_stream(std::string_view target) {
  send(request_head(endpoint_, "GET", target, 0));
  const std::string head = read_head();
  chunk_left_ = 0;
  return std::stoi(head.substr(head.find(' ') + 1));
}

bool Connection::read_line(std::string& line) {
  line.clear();
  while (true) {
    if (chunk_left_ == 0) {
      std::string size = raw_line();
      if (size.empty()) size = raw_line();
      chunk_left_ = std::stoul(size, nullptr, 16);
      if (chunk_left_ == 0) return false;
    }
    if (at_ == buffer_.size()) fill();
    const std::size_t window = std::min(chunk_left_, buffer_.size() - at_);
    const auto end = std::string_view(buffer_).substr(at_, window).find('\n');
    const std::size_t take = end == std::string_view::npos ? window : end + 1;
    line.append(buffer_, at_, take);
    at_ += take;
    chunk_left_ -= take;
    if (end != std::string_view::npos) return true;
  }
}

}  // namespace bench
