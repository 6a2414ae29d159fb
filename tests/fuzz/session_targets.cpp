#include "session_targets.hpp"

#include "http/http1_session.hpp"
#include "http/http2_session.hpp"
#include "http/http_test_support.hpp"
#include "require.hpp"

namespace backplane::fuzz {
namespace {

// The limit of the output of one connection.
constexpr std::size_t kMostOutput = 64 << 20;
constexpr std::size_t kTurn = 64 << 10;

// Runs one connection step by step. The first byte of the input selects the size of the pieces in which the rest arrives.
template <class Session>
class Connection final : public SessionTransport {
 public:
  void want_flush() override {}
  void want_read() override {}

  void feed_session(std::string_view bytes) {
    const ExecutorScope scope(&executor_);
    HandlerRunner runner(executor_, handler_, {});
    const auto session = Session::make(*this, runner, std::make_shared<PeerInfo>());
    const std::size_t piece = 1 + 16 * static_cast<unsigned char>(bytes.front());
    for (std::size_t at = 1; at < bytes.size() && !session->finished(); at += piece) {
      session->receive(bytes.substr(at, piece));
      flush(*session);
    }
    session->receive_end();
    flush(*session);
    session->tick(std::chrono::steady_clock::now() + std::chrono::hours(1));
    flush(*session);
    session->connection_lost();
    executor_.run();
    handler_.release.set(true);
    executor_.run();
    // Every handler that was called has returned.
    FUZZ_REQUIRE(runner.running() == 0);
  }

 private:
  void flush(Session& session) {
    // Reads a limited part of the output, because a response may be endless.
    for (int turn = 0; turn < 4; ++turn) {
      executor_.run();
      std::string out;
      session.fill(out, kTurn);
      FUZZ_REQUIRE(out.size() <= kMostOutput);
      if (out.empty()) return;
    }
  }

  test::ManualExecutor executor_;
  test::TestHandler handler_;
};

}  // namespace

void http1_session(std::string_view bytes) {
  if (!bytes.empty()) Connection<Http1Session>().feed_session(bytes);
}

void http2_session(std::string_view bytes) {
  if (!bytes.empty()) Connection<Http2Session>().feed_session(bytes);
}

std::string http2_seed() {
  test::H2Client client;
  client.request("GET", "/hello");
  client.request("GET", "/stream");
  client.request("GET", "/unfinished");
  return "\x02" + client.output();
}

}  // namespace backplane::fuzz
