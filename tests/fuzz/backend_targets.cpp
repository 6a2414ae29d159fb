#include "backend_targets.hpp"

#include "client/remote_session.hpp"
#include "http/http2_session.hpp"
#include "http/http_test_support.hpp"
#include "require.hpp"

namespace backplane::fuzz {
namespace {

using MakeSession = std::unique_ptr<RemoteSession> (*)(RemotePort& port, std::string authority);

std::unique_ptr<RemoteSession> make_http2(RemotePort& port, std::string authority) {
  return make_http2_client_session(port, std::move(authority), {RemoteCall::kWindow, 4 << 20});
}

constexpr std::size_t kTurn = 64 << 10;
constexpr std::size_t kMostPiece = 1 + 16 * 255;

class Port final : public RemotePort {
 public:
  void want_flush() override {}
  void want_read() override {}
  void has_room() override {}
  void flush_after(std::chrono::nanoseconds) override {}
};

// The request; the bits of `kind`, the first byte of the input, select it.
HttpCall call_of(unsigned kind) {
  HttpCall call;
  call.method = (kind & 1) != 0 ? "HEAD" : "GET";
  call.target = "/hello";
  call.upgrade = (kind & 2) != 0;
  return call;
}

// Makes one call over one connection, and runs the client step by step; the caller does not read the response.
void feed_session(MakeSession make, std::string_view bytes) {
  test::ManualExecutor executor;
  const ExecutorScope scope(&executor);
  Port port;
  const auto session = make(port, "backend:443");
  const auto call = std::make_shared<RemoteCall>(call_of(static_cast<unsigned char>(bytes[0])), executor);
  session->start(call);
  const std::size_t piece = 1 + 16 * static_cast<unsigned char>(bytes[1]);
  std::string out;
  session->fill(out, kTurn);
  for (std::size_t at = 2; at < bytes.size() && session->wants_input() && !session->finished(); at += piece) {
    session->receive(bytes.substr(at, piece));
    out.clear();
    session->fill(out, kTurn);
    FUZZ_REQUIRE(out.size() <= 2 * kTurn);
    FUZZ_REQUIRE(call->unread() <= RemoteCall::kWindow + kMostPiece);
  }
  session->receive_end();
  const auto again = session->lost(service_unavailable("EOF"));
  executor.run();
  // The caller gets an error, or the call is repeated on another connection.
  FUZZ_REQUIRE(call->over() || again.size() == 1);
}

}  // namespace

void http1_backend(std::string_view bytes) {
  if (bytes.size() > 2) feed_session(make_http1_client_session, bytes);
}

void http2_backend(std::string_view bytes) {
  if (bytes.size() > 2) feed_session(make_http2, bytes);
}

std::string http2_backend_seed() {
  test::H2Client client;
  client.request("GET", "/hello");
  test::ManualExecutor executor;
  const ExecutorScope scope(&executor);
  test::TestHandler handler;
  HandlerRunner runner(executor, handler, {});
  class Quiet final : public SessionTransport {
   public:
    void want_flush() override {}
    void want_read() override {}
  } transport;
  const auto session = Http2Session::make(transport, runner, std::make_shared<PeerInfo>());
  session->receive(client.output());
  executor.run();
  std::string out("\x00\x02", 2);
  session->fill(out, kTurn);
  session->connection_lost();
  executor.run();
  return out;
}

}  // namespace backplane::fuzz
