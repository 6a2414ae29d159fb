#include "channel_address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

namespace backplane::etcd {
namespace {

addrinfo wishes(int flags) {
  addrinfo out{};
  out.ai_socktype = SOCK_STREAM;
  out.ai_flags = flags;
  return out;
}

}  // namespace

Channel::Address Channel::Address::of_path(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), std::min(path.size(), sizeof name.sun_path - 1));
  Address out;
  std::memcpy(&out.bytes, &name, sizeof name);
  out.size = sizeof name;
  return out;
}

std::optional<Channel::Address> Channel::Address::of_number(const std::string& host, const std::string& port) {
  const addrinfo wished = wishes(AI_NUMERICHOST | AI_NUMERICSERV);
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &wished, &found) != 0) return std::nullopt;
  Address out;
  std::memcpy(&out.bytes, found->ai_addr, found->ai_addrlen);
  out.size = found->ai_addrlen;
  freeaddrinfo(found);
  return out;
}

std::string Channel::Address::look_up(std::string host, std::string port,
                                      std::function<void(std::vector<Address>, const std::string& error)> done) {
  // Nobody waits for it: it may take longer than anybody's patience.
  const auto work = [host = std::move(host), port = std::move(port), done = std::move(done)] {
    const addrinfo wished = wishes(AI_NUMERICSERV | AI_ADDRCONFIG);
    addrinfo* found = nullptr;
    std::vector<Address> out;
    const int error = getaddrinfo(host.c_str(), port.c_str(), &wished, &found);
    for (const addrinfo* each = error == 0 ? found : nullptr; each != nullptr; each = each->ai_next) {
      Address& address = out.emplace_back();
      std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
      address.size = each->ai_addrlen;
    }
    if (error == 0) freeaddrinfo(found);
    done(std::move(out), error == 0 ? "" : gai_strerror(error));
  };
  try {
    std::thread(work).detach();
    return "";
  } catch (const std::system_error& error) {
    return error.what();
  }
}

int Channel::Address::connect() const {
  const int made = socket(bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  if (bytes.ss_family != AF_UNIX) {
    const int yes = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  if (::connect(made, reinterpret_cast<const sockaddr*>(&bytes), size) == 0 || errno == EINPROGRESS) return made;
  const int why = errno;
  ::close(made);
  errno = why;
  return -1;
}

}  // namespace backplane::etcd
