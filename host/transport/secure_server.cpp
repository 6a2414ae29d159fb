#include "transport/secure_server.hpp"

#include "transport/log.hpp"

namespace backplane {
namespace {

ConnectionOptions connection_options(const ServingOptions& options) {
  return {.handshake_timeout = options.handshake_timeout, .plain = false, .http2 = !options.disable_http2};
}

}  // namespace

SecureServer::SecureServer(ServingOptions options, LoopPool& loops, HttpHandler& root)
    : options_(std::move(options)),
      loops_(loops),
      server_(loops, root, connection_options(options_), options_.limits, options_.max_connections),
      watch_(std::make_shared<CertificateWatch>(options_)) {}

SecureServer::~SecureServer() { watch_->stop(); }

Status SecureServer::start() {
  const auto problems = validate(options_);
  if (!problems.empty()) return bad_request(problems.front());
  if (Status status = watch_->load(); !status.ok()) return status;
  const bool inherited = options_.inherited_socket >= 0;
  auto listening = inherited ? Result<FileDescriptor>(FileDescriptor(options_.inherited_socket)) : listen_tcp(options_);
  if (!listening.ok()) return std::move(listening.status());
  port_ = bound_port(listening->get());
  watch_->start(loops_.loop(0));
  server_.listen(std::move(*listening), [watch = watch_, keepalive = options_.tcp_keepalive](AcceptedSocket& socket) {
    tune_tcp(socket.fd.get(), keepalive);
    socket.contexts = watch->current();
  });
  if (inherited) {
    transport_log().info("Serving securely on a socket of the service manager port={}", port_);
  } else {
    transport_log().info("Serving securely on {}:{}", options_.bind_address, port_);
  }
  return {};
}

void SecureServer::stop_listening(std::function<void()> done) {
  watch_->stop();
  server_.stop_listening(std::move(done));
}

}  // namespace backplane
