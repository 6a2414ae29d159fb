#include "net/egress/connect_proxy.hpp"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <thread>

#include "backplane/core/metrics.hpp"
#include "backplane/core/turns.hpp"

namespace backplane::egress {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostHeadBytes = 64 << 10;
constexpr std::string_view kProtocol = "http_connect";

Result<std::unique_ptr<ProxyStream>> open_stream(const ProxyAddress& proxy) {
  auto dialed = proxy.path.empty() ? dial_tcp(proxy.host, proxy.port) : dial_unix(proxy.path);
  if (!dialed.ok()) return std::move(dialed).status();
  Socket socket(*dialed);
  if (proxy.tls != nullptr) return tls_stream(std::move(socket), *proxy.tls);
  return plain_stream(std::move(socket));
}

// The head of the answer, and no byte behind it: what follows is the connection's.
std::string read_head(ProxyStream& stream) {
  std::string head;
  while (!head.ends_with("\r\n\r\n") && !head.ends_with("\n\n") && head.size() < kMostHeadBytes) {
    char c = 0;
    if (!stream.read_byte(c)) return {};
    head += c;
  }
  return head.size() < kMostHeadBytes ? head : std::string();
}

// Asks the proxy for the connection.
Result<int> ask(ProxyStream& stream, const std::string& proxy, const std::string& address) {
  const bool asked = stream.send_all("CONNECT " + address + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  const std::string head = asked ? read_head(stream) : std::string();
  // "HTTP/1.1 200 OK"
  const auto space = head.find(' ');
  const std::string status = space == std::string::npos ? std::string() : head.substr(space + 1, head.find_first_of("\r\n") - space - 1);
  if (!head.starts_with("HTTP/1.") || status.size() < 3) {
    return service_unavailable("reading HTTP response from CONNECT to " + address + " via proxy " + proxy + " failed: unexpected EOF");
  }
  if (status.substr(0, 3) == "200") return stream.into_socket();
  return service_unavailable("proxy error from " + proxy + " while dialing " + address + ", code " + status.substr(0, 3) + ": " + status);
}

void count_failure(std::string_view transport, std::string_view stage) {
  static Metric& failures = Metric::counter(
      "apiserver_egress_dialer_dial_failure_count",
      "[ALPHA] Dials through the egress proxy that failed, by protocol, transport and stage (connect: to the proxy, proxy: by the proxy).",
      {"protocol", "stage", "transport"});
  failures.add({kProtocol, stage, transport});
}

Result<int> dial(const ProxyAddress& proxy, const std::string& address) {
  static Metric& starts =
      Metric::counter("apiserver_egress_dialer_dial_start_total",
                      "[ALPHA] Dials begun through the egress proxy, by protocol and transport (tcp or uds).", {"protocol", "transport"});
  static Metric& durations =
      Metric::histogram("apiserver_egress_dialer_dial_duration_seconds",
                        "[ALPHA] How long dials through the egress proxy took, in seconds, by protocol and transport (tcp or uds).",
                        {"protocol", "transport"}, {0.005, 0.025, 0.1, 0.5, 2.5, 12.5});
  const std::string_view transport = proxy.path.empty() ? "tcp" : "uds";
  const Clock::time_point began = Clock::now();
  starts.add({kProtocol, transport});
  auto stream = open_stream(proxy);
  if (!stream.ok()) {
    count_failure(transport, "connect");
    return std::move(stream).status();
  }
  auto got = ask(**stream, proxy.text(), address);
  if (!got.ok()) {
    count_failure(transport, "proxy");
    return got;
  }
  durations.observe({kProtocol, transport}, std::chrono::duration<double>(Clock::now() - began).count());
  return got;
}

Turns& turns() {
  static Turns all(kMostDials);
  return all;
}

// Outlives a caller who has given up; then nobody takes the socket.
struct Outcome {
  ~Outcome() {
    if (fd.ok() && *fd >= 0) close(*fd);
  }
  Result<int> fd = -1;
  int take() { return std::exchange(*fd, -1); }
};

// On a thread of its own: a proxy that hangs delays no other connection.
Task<Result<int>> dial_apart(std::shared_ptr<const ProxyAddress> proxy, std::string address) {
  Turns::Turn turn = co_await turns().take();
  const auto outcome = std::make_shared<Outcome>();
  Promise<bool> done;
  try {
    std::thread([proxy, address, outcome, done] {
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
  const bool told = co_await done.future();
  (void)told;
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
