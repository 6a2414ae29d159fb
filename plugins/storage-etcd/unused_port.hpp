// For tests: finds a free port on which a server can listen later.
//
// Thread-safety: any thread.
// Errors:        none; another test that searches at the same time may take the port first.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

namespace backplane::etcd {

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline bool binds(int socket, int port) {
  const sockaddr_in address = loopback(port);
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A free port below the system's ephemeral ports. Ephemeral ports are unsuitable: another connection could get the port, and a client that
// connects to an unused ephemeral port may be connected to itself.
inline int unused_port() {
  constexpr int kFirst = 15'000, kCount = 15'000;
  static std::atomic<unsigned> next{static_cast<unsigned>(getpid()) * 31U};
  for (;;) {
    const int port = kFirst + static_cast<int>(next++ % kCount);
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    const bool free = binds(probe, port);
    close(probe);
    if (free) return port;
  }
}

}  // namespace backplane::etcd
