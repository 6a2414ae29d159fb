#include "transport/unix_server.hpp"

#include <unistd.h>

namespace backplane {
namespace {
constexpr std::size_t kMaxConnections = 64;
}  // namespace

UnixServer::UnixServer(std::string path, LoopPool& loops, HttpHandler& root, HttpLimits limits)
    : path_(std::move(path)), server_(loops, root, ConnectionOptions{.plain = true, .http2 = false}, limits, kMaxConnections) {}

UnixServer::~UnixServer() { unlink_path(); }

Status UnixServer::start() {
  auto listening = listen_unix(path_);
  if (!listening.ok()) return std::move(listening.status());
  bound_ = true;
  server_.listen(std::move(*listening), {});
  return {};
}

void UnixServer::stop_listening(std::function<void()> done) {
  unlink_path();
  server_.stop_listening(std::move(done));
}

void UnixServer::unlink_path() {
  if (std::exchange(bound_, false)) ::unlink(path_.c_str());
}

}  // namespace backplane
