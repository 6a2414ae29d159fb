// Defines find_etcd_stand_in() (etcd_stand_in.hpp).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

#include "app/etcd_stand_in.hpp"
#include "backplane/core/json_access.hpp"
#include "transport/sockets.hpp"

namespace backplane {
namespace {

constexpr timeval kSocketTimeout{0, 500'000};
constexpr std::size_t kMaxAnswer = 64 * 1024;

FileDescriptor connect_to(const LoopbackUrl& url) {
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_in);
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, url.address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(url.port);
  } else {
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    v6.sin6_port = htons(url.port);
    size = sizeof v6;
  }
  FileDescriptor fd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return {};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kSocketTimeout, sizeof kSocketTimeout);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kSocketTimeout, sizeof kSocketTimeout);  // also limits connect()
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return fd;
}

// The body of the answer to GET /version; empty if there is none.
std::string ask_version(int fd) {
  constexpr std::string_view kRequest = "GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (::send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kRequest.size())) return {};
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 1; got > 0 && text.size() < kMaxAnswer;) {
    got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const auto body = text.find("\r\n\r\n");
  return body == std::string::npos ? "" : text.substr(body + 4);
}

}  // namespace

std::optional<EtcdStandIn> find_etcd_stand_in(const std::vector<std::string>& servers) {
  const auto url = servers.size() == 1 ? parse_loopback_url(servers.front()) : std::nullopt;
  if (!url) return std::nullopt;
  const FileDescriptor fd = connect_to(*url);
  if (!fd.valid()) return std::nullopt;
  boost::system::error_code error;
  const Value value = boost::json::parse(ask_version(fd.get()), error);
  if (error || !value.is_object()) return std::nullopt;
  const Value* const own = value.get_object().if_contains("backplane");
  if (own == nullptr || !own->is_object()) return std::nullopt;
  EtcdStandIn found;
  found.data_dir = std::string(get_string(own->get_object(), "dataDir"));
  const Value* const unsafe = own->get_object().if_contains("unsafeNoFsync");
  found.unsafe_no_fsync = unsafe != nullptr && unsafe->is_bool() && unsafe->get_bool();
  if (found.data_dir.empty()) return std::nullopt;
  return found;
}

}  // namespace backplane
