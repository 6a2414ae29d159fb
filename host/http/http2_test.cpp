#include <gtest/gtest.h>

#include "http/http2_session.hpp"
#include "http/http_test_support.hpp"

namespace backplane {
namespace {

using test::H2Client;
using test::ManualExecutor;
using test::TestHandler;

// The server session and a client session exchange bytes through strings.
class Http2 : public testing::Test, public SessionTransport {
 protected:
  void want_flush() override {}
  void want_read() override {}

  ~Http2() override {
    if (session_) session_->connection_lost();
    handler_.release.set(true);
    executor_.run();
  }
  void open(HttpLimits limits = {}, bool manual_windows = false) {
    runner_ = std::make_unique<HandlerRunner>(executor_, handler_, limits);
    session_ = Http2Session::make(*this, *runner_, std::make_shared<PeerInfo>());
    client_ = std::make_unique<H2Client>(manual_windows);
  }
  // Moves bytes until neither side has output.
  void exchange_output() {
    for (;;) {
      const std::string up = client_->output();
      if (!up.empty()) session_->receive(up);
      executor_.run();
      std::string down;
      session_->fill(down, 256 << 10);
      if (!down.empty()) {
        ASSERT_TRUE(client_->receive(down));
      }
      if (up.empty() && down.empty()) return;
    }
  }
  H2Client::Response& response(std::int32_t id) { return client_->responses[id]; }

  ManualExecutor executor_;
  ExecutorScope scope_{&executor_};
  TestHandler handler_;
  std::unique_ptr<HandlerRunner> runner_;
  std::shared_ptr<Http2Session> session_;
  std::unique_ptr<H2Client> client_;
};

TEST_F(Http2, SettingsAreThoseOfUpstream) {
  open();
  exchange_output();
  EXPECT_EQ(client_->settings[NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS], 100u);
  EXPECT_EQ(client_->settings[NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE], 262144u);
  EXPECT_EQ(client_->settings[NGHTTP2_SETTINGS_MAX_FRAME_SIZE], 262144u);
  EXPECT_EQ(nghttp2_session_get_remote_window_size(client_->session()), 262144 * 100);
}

TEST_F(Http2, AResponseHasLowerCaseNamesLengthAndDate) {
  open();
  const auto id = client_->request("GET", "/hello");
  exchange_output();
  EXPECT_EQ(response(id).code, 200);
  EXPECT_EQ(response(id).body, "hello");
  EXPECT_EQ(response(id).header("x-test"), "yes");
  EXPECT_EQ(response(id).header("content-type"), "text/plain");
  EXPECT_EQ(response(id).header("content-length"), "5");
  EXPECT_TRUE(response(id).header("date").ends_with("GMT"));
  EXPECT_TRUE(response(id).closed);
  EXPECT_EQ(response(id).error, 0u);
}

TEST_F(Http2, StreamsRunConcurrentlyAndABlockedOneBlocksNoOther) {
  open();
  const auto held = client_->request("GET", "/hold");
  const auto echo = client_->request("POST", "/echo", {}, std::string(600'000, 'b'));
  const auto stream = client_->request("GET", "/stream");
  const auto head = client_->request("HEAD", "/hello");
  exchange_output();
  EXPECT_FALSE(response(held).closed);
  EXPECT_EQ(response(echo).body.size(), 600'000u);
  EXPECT_EQ(response(stream).body, "part0\npart1\npart2\n");
  EXPECT_EQ(response(head).header("content-length"), "5");
  EXPECT_EQ(response(head).body, "");
  handler_.release.set(true);
  exchange_output();
  EXPECT_EQ(response(held).body, "released");
}

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string out;
  for (const int shift : {16, 8, 0}) out.push_back(static_cast<char>(payload.size() >> shift));
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(stream >> shift));
  return out.append(payload);
}

// For each refused stream, an RST_STREAM frame is queued until the peer reads it.
TEST_F(Http2, APeerThatFloodsRefusedStreamsAndReadsNothingIsEnded) {
  open();
  session_->receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(NGHTTP2_SETTINGS, 0, 0, ""));
  constexpr std::string_view kPathWithoutSlash("\x82\x87\x04\x01x", 5);  // GET, https, :path x
  std::uint32_t stream = 1;
  int rounds = 0;
  while (!session_->finished() && ++rounds < 100) {
    std::string burst;
    for (int i = 0; i < 1000; ++i, stream += 2) burst += frame(NGHTTP2_HEADERS, 0x5, stream, kPathWithoutSlash);
    session_->receive(burst);
  }
  EXPECT_TRUE(session_->finished());
  EXPECT_LE(rounds, 12) << "about ten thousand may wait";
}

TEST_F(Http2, ASlowReaderFillsOnlyItsWindow) {
  open({}, true);
  const auto endless = client_->request("GET", "/endless");
  exchange_output();
  const std::size_t stuck = handler_.endless_written;
  EXPECT_LE(response(endless).body.size(), 65'535u);
  EXPECT_LE(stuck, 65'535u + (256u << 10) + (64u << 10));
  exchange_output();
  EXPECT_EQ(handler_.endless_written, stuck);
  client_->consume(endless);
  const auto other = client_->request("GET", "/hello");
  exchange_output();
  EXPECT_EQ(response(other).body, "hello");
  for (int i = 0; i < 4; ++i) {  // the writer resumes when half of its window is free
    client_->consume(endless);
    exchange_output();
  }
  EXPECT_GT(handler_.endless_written, stuck);
}

TEST_F(Http2, AnUnreadUploadStopsAtTheStreamWindow) {
  HttpLimits limits;
  limits.h2_max_concurrent_streams = 1;
  open(limits);
  client_->request("POST", "/hold", {}, std::string(1 << 20, 'u'));
  exchange_output();
  EXPECT_EQ(nghttp2_session_get_remote_window_size(client_->session()), 0);
  handler_.release.set(true);
  exchange_output();
  // Bytes that are discarded after the response must not reduce the connection's window.
  EXPECT_EQ(nghttp2_session_get_remote_window_size(client_->session()), 262144);
}

TEST_F(Http2, ALargeUploadThatIsReadSlowlyWaitsWithItsSender) {
  open();
  handler_.stepwise = true;
  const auto id = client_->request("POST", "/count", {}, std::string(8 << 20, 'u'));
  exchange_output();
  EXPECT_EQ(handler_.counted, 0u);
  EXPECT_EQ(nghttp2_session_get_stream_remote_window_size(client_->session(), id), 0) << "the window is full and stays so";
  const auto other = client_->request("GET", "/hello");
  exchange_output();
  EXPECT_EQ(response(other).code, 200);
  for (int i = 0; i < 1000 && response(id).code == 0; ++i) {
    handler_.step.set(true);
    exchange_output();
  }
  EXPECT_EQ(response(id).body, std::to_string(8 << 20));
  EXPECT_LE(handler_.largest_piece, 256u << 10);
}

TEST_F(Http2, AResetInTheMiddleOfAnUploadIsAnErrorAndNoEnd) {
  open();
  handler_.stepwise = true;
  const auto id = client_->request("POST", "/count", {}, std::string(1 << 20, 'u'));
  exchange_output();
  handler_.step.set(true);
  exchange_output();
  client_->reset(id);
  exchange_output();
  handler_.step.set(true);
  exchange_output();
  EXPECT_EQ(handler_.count_failure.reason(), Reason::kTimeout);
}

TEST_F(Http2, AResetReachesTheHandlerOnceAndTheConnectionGoesOn) {
  open({}, true);
  const auto id = client_->request("GET", "/endless");
  exchange_output();
  client_->reset(id);
  exchange_output();
  EXPECT_EQ(handler_.closes, 1);
  EXPECT_EQ(handler_.ended, 1);
  const auto next = client_->request("GET", "/hello");
  exchange_output();
  EXPECT_EQ(response(next).code, 200);
}

// A DATA frame waits for room in the output, and its body is dropped together with the exchange.
TEST_F(Http2, AResponseBrokenOffWhileAFrameOfItWaitsIsResetAndTheConnectionGoesOn) {
  open();
  const auto id = client_->request("GET", "/endless");
  session_->receive(client_->output());
  executor_.run();
  std::string down;
  session_->fill(down, 1 << 10);
  ASSERT_TRUE(client_->receive(down));
  ASSERT_GT(response(id).body.size(), 0u);
  ASSERT_LT(response(id).body.size(), 65'535u) << "a frame of the first window waits";
  session_->tick(std::chrono::steady_clock::now() + std::chrono::hours(1));
  exchange_output();
  EXPECT_TRUE(response(id).closed);
  EXPECT_EQ(response(id).error, NGHTTP2_INTERNAL_ERROR);
  EXPECT_EQ(handler_.ended, 1);
  const auto next = client_->request("GET", "/hello");
  exchange_output();
  EXPECT_EQ(response(next).body, "hello");
}

TEST_F(Http2, ABodyOverTheLimitIs413AndAHeaderBlockOverTheLimitIs431) {
  HttpLimits limits;
  limits.max_header_bytes = 32 << 10;
  open(limits);
  handler_.max_body = 10;
  const auto body = client_->request("POST", "/echo", {{"content-length", "3000000"}}, std::string(3'000'000, 'x'));
  const auto headers = client_->request("GET", "/hello", {{"x-a", std::string(20'000, 'a')}, {"x-b", std::string(20'000, 'b')}});
  exchange_output();
  EXPECT_EQ(response(body).code, 413);
  EXPECT_EQ(response(headers).code, 431);
}

// Each further use of an indexed header costs the client one byte.
TEST_F(Http2, AHeaderListThatSwellsFarOverTheLimitEndsTheConnection) {
  HttpLimits limits;
  limits.max_header_bytes = 8 << 10;
  open(limits);
  exchange_output();
  const Headers swollen(20, Header("x-a", std::string(3'000, 'a')));
  client_->request("GET", "/hello", swollen);
  const std::string up = client_->output();
  ASSERT_LT(up.size(), limits.max_header_bytes);
  session_->receive(up);
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http2, ATrailerThatSwellsFarOverTheLimitEndsTheConnection) {
  HttpLimits limits;
  limits.max_header_bytes = 8 << 10;
  open(limits);
  exchange_output();
  nghttp2_hd_deflater* table = nullptr;
  ASSERT_EQ(nghttp2_hd_deflate_new(&table, 4096), 0);
  const auto block = [table](const Headers& headers) {
    std::vector<nghttp2_nv> pairs;
    for (const auto& [name, value] : headers) {
      pairs.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                       reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    std::string out(nghttp2_hd_deflate_bound(table, pairs.data(), pairs.size()), '\0');
    const ssize_t size = nghttp2_hd_deflate_hd(table, reinterpret_cast<std::uint8_t*>(out.data()), out.size(), pairs.data(), pairs.size());
    out.resize(static_cast<std::size_t>(size));
    return out;
  };
  const Headers head = {{":method", "POST"}, {":scheme", "https"}, {":path", "/echo"}, {":authority", "a"}};
  session_->receive(frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block(head)));
  EXPECT_FALSE(session_->finished());
  const Headers swollen(20, Header("x-a", std::string(3'000, 'a')));
  session_->receive(frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, block(swollen)));
  EXPECT_TRUE(session_->finished());
  nghttp2_hd_deflate_del(table);
}

TEST_F(Http2, ExpectContinueIsAnsweredBeforeTheBody) {
  open();
  const auto id = client_->request("POST", "/echo", {{"expect", "100-continue"}}, "ping");
  const std::string up = client_->output();
  const std::size_t body = up.rfind("ping") - 9;  // its frame header
  session_->receive(up.substr(0, body));
  exchange_output();
  EXPECT_EQ(response(id).code, 100);
  session_->receive(up.substr(body));
  exchange_output();
  EXPECT_EQ(response(id).code, 200);
  EXPECT_EQ(response(id).body, "ping");
}

TEST_F(Http2, ABrokenOffResponseIsAReset) {
  open();
  const auto thrown = client_->request("GET", "/throw");
  const auto half = client_->request("GET", "/unfinished");
  exchange_output();
  EXPECT_EQ(response(thrown).error, static_cast<std::uint32_t>(NGHTTP2_INTERNAL_ERROR));
  EXPECT_EQ(response(half).error, static_cast<std::uint32_t>(NGHTTP2_INTERNAL_ERROR));
}

TEST_F(Http2, DrainSendsTwoGoawaysAndFinishesWhatRuns) {
  open();
  const auto held = client_->request("GET", "/hold");
  exchange_output();
  session_->drain();
  exchange_output();
  ASSERT_EQ(client_->goaways.size(), 2u);
  EXPECT_EQ(client_->goaways[0], INT32_MAX);
  EXPECT_EQ(client_->goaways[1], held);
  EXPECT_FALSE(session_->finished());
  handler_.release.set(true);
  exchange_output();
  EXPECT_EQ(response(held).body, "released");
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http2, CloseConnectionAfterIsAGoaway) {
  open();
  const auto id = client_->request("GET", "/close");
  exchange_output();
  EXPECT_EQ(response(id).body, "hello");
  EXPECT_FALSE(client_->goaways.empty());
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http2, MoreResetsThanHandlersCanKeepUpWithEndTheConnection) {
  HttpLimits limits;
  limits.h2_max_concurrent_streams = 2;
  limits.h2_waiting_streams_factor = 4;
  open(limits);
  exchange_output();
  for (int i = 0; i < 12; ++i) {
    const auto id = client_->request("GET", "/hold");
    session_->receive(client_->output());
    client_->reset(id);
    session_->receive(client_->output());
  }
  EXPECT_LE(handler_.calls, 2);
  exchange_output();
  EXPECT_EQ(client_->goaway_error, static_cast<std::uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST_F(Http2, AFloodOfPingsEndsTheConnection) {
  open();
  exchange_output();
  for (int i = 0; i < 2'000; ++i) nghttp2_submit_ping(client_->session(), NGHTTP2_FLAG_NONE, nullptr);
  session_->receive(client_->output());
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http2, GarbageAndIdlenessEndTheConnection) {
  open();
  session_->receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(session_->finished());
  open();
  exchange_output();
  session_->tick(HttpSession::Clock::now() + std::chrono::seconds(91));
  exchange_output();
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http2, AStalledStreamIsCutAndTheOthersGoOn) {
  open({}, true);
  const auto endless = client_->request("GET", "/endless");
  const auto held = client_->request("GET", "/hold");
  exchange_output();
  session_->tick(HttpSession::Clock::now() + std::chrono::seconds(121));
  exchange_output();
  EXPECT_TRUE(response(endless).closed);
  EXPECT_FALSE(response(held).closed);
}

}  // namespace
}  // namespace backplane
