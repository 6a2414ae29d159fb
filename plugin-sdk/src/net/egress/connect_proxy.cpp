#include "net/egress/connect_proxy.hpp"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>

#include "backplane/core/metrics.hpp"
#include "backplane/core/server_slot.hpp"
#include "backplane/core/turns.hpp"
#include "net/egress/grpc_tunnel.hpp"

namespace backplane::egress {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostHeadBytes = 64 << 10;

Result<std::unique_ptr<ProxyStream>> open_stream(const ProxyAddress& proxy) {
  auto dialed = proxy.path.empty() ? dial_tcp(proxy.host, proxy.port) : dial_unix(proxy.path);
  if (!dialed.ok()) return std::move(dialed).status();
  Socket socket(*dialed);
  if (proxy.tls != nullptr) return tls_stream(std::move(socket), *proxy.tls);
  return plain_stream(std::move(socket));
}

// Reads only the head of the response, because the bytes after it belong to the new connection.
std::string read_head(ProxyStream& stream) {
  std::string head;
  while (!head.ends_with("\r\n\r\n") && !head.ends_with("\n\n") && head.size() < kMostHeadBytes) {
    char c = 0;
    if (!stream.read_byte(c)) return {};
    head += c;
  }
  return head.size() < kMostHeadBytes ? head : std::string();
}

// Requests a connection to `address` from the proxy.
Result<int> ask(ProxyStream& stream, const std::string& proxy, const std::string& address) {
  const bool asked = stream.send_all("CONNECT " + address + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  const std::string head = asked ? read_head(stream) : std::string();
  // The first line is "HTTP/1.1 200 OK".
  const auto space = head.find(' ');
  const std::string status = space == std::string::npos ? std::string() : head.substr(space + 1, head.find_first_of("\r\n") - space - 1);
  if (!head.starts_with("HTTP/1.") || status.size() < 3) {
    return service_unavailable("reading HTTP response from CONNECT to " + address + " via proxy " + proxy + " failed: unexpected EOF");
  }
  if (status.substr(0, 3) == "200") return stream.into_socket();
  return service_unavailable("proxy error from " + proxy + " while dialing " + address + ", code " + status.substr(0, 3) + ": " + status);
}

void count_failure(std::string_view protocol, std::string_view transport, std::string_view stage) {
  static Metric& failures = Metric::counter(
      "apiserver_egress_dialer_dial_failure_count",
      "[ALPHA] Dials through the egress proxy that failed, by protocol, transport and stage (connect: to the proxy, proxy: by the proxy).",
      {"protocol", "stage", "transport"});
  failures.add({protocol, stage, transport});
}

// Requests a connection to an address from a proxy to which it is connected.
using Asking = std::function<Result<int>(const std::string& address)>;

Result<Asking> connect_to(const ProxyAddress& proxy) {
  if (proxy.grpc) {
    auto dialed = dial_unix(proxy.path);
    if (!dialed.ok())
      return service_unavailable("connection error: desc = \"transport: Error while dialing: " + dialed.status().message() + "\"");
    return Asking([tunnel = open_tunnel(Socket(*dialed))](const std::string& address) { return dial_through(tunnel, address); });
  }
  auto stream = open_stream(proxy);
  if (!stream.ok()) return std::move(stream).status();
  return Asking([shared = std::shared_ptr<ProxyStream>(std::move(*stream)), name = proxy.text()](const std::string& address) {
    return ask(*shared, name, address);
  });
}

Result<int> dial(const ProxyAddress& proxy, const std::string& address) {
  static Metric& starts =
      Metric::counter("apiserver_egress_dialer_dial_start_total",
                      "[ALPHA] Dials begun through the egress proxy, by protocol and transport (tcp or uds).", {"protocol", "transport"});
  static Metric& durations =
      Metric::histogram("apiserver_egress_dialer_dial_duration_seconds",
                        "[ALPHA] Duration of dials through the egress proxy in seconds, by protocol and transport (tcp or uds).",
                        {"protocol", "transport"}, {0.005, 0.025, 0.1, 0.5, 2.5, 12.5});
  const std::string_view protocol = proxy.grpc ? "grpc" : "http_connect";
  const std::string_view transport = proxy.path.empty() ? "tcp" : "uds";
  const Clock::time_point began = Clock::now();
  starts.add({protocol, transport});
  auto asking = connect_to(proxy);
  if (!asking.ok()) {
    count_failure(protocol, transport, "connect");
    return std::move(asking).status();
  }
  auto got = (*asking)(address);
  if (!got.ok()) {
    count_failure(protocol, transport, "proxy");
    return got;
  }
  durations.observe({protocol, transport}, std::chrono::duration<double>(Clock::now() - began).count());
  return got;
}

struct Dials {
  Turns turns{kMostDials};
};
// Each server of the process has its own limit: if proxies of one server do not respond, the other servers are not delayed.
Turns& turns() {
  static PerServer<Dials> all;
  return all.here().turns;
}

// The result of a dial. It outlives a caller whose wait has timed out; its destructor closes the socket.
struct Outcome {
  ~Outcome() {
    if (fd.ok() && *fd >= 0) close(*fd);
  }
  Result<int> fd = -1;
  int take() { return std::exchange(*fd, -1); }
};

// Dials on a separate thread, so that a proxy that does not respond delays no other connection.
Task<Result<int>> dial_apart(std::shared_ptr<const ProxyAddress> proxy, std::string address) {
  Turns::Turn turn = co_await turns().take();
  const auto outcome = std::make_shared<Outcome>();
  Promise<bool> done;
  try {
    std::thread([proxy, address, outcome, done, slot = current_server_slot()] {
      const ServerScope server(slot);
      try {
        outcome->fd = dial(*proxy, address);
      } catch (const std::exception& error) {
        outcome->fd = internal_error("dialing the egress proxy failed: " + std::string(error.what()));
      }
      done.set(true);
    }).detach();
  } catch (const std::system_error& error) {
    co_return internal_error("no thread to dial the egress proxy: " + std::string(error.what()));
  }
  const bool finished = co_await done.future();
  (void)finished;
  if (!outcome->fd.ok()) co_return std::move(outcome->fd).status();
  co_return outcome->take();
}

}  // namespace

DialFunction connect_through(ProxyAddress proxy) {
  return [shared = std::make_shared<const ProxyAddress>(std::move(proxy))](std::string address) {
    return dial_apart(shared, std::move(address));
  };
}

}  // namespace backplane::egress
