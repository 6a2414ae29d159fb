#include <gtest/gtest.h>
#include <zlib.h>

#include "http/header_text.hpp"
#include "http/http1_session.hpp"
#include "http/http_test_support.hpp"

namespace backplane {
namespace {

using test::ManualExecutor;
using test::one_chunk;
using test::TestHandler;

// One HTTP/1.1 connection. The test passes the bytes itself.
class Http1 : public testing::Test, public SessionTransport {
 protected:
  void want_flush() override { ++flushes_; }
  void want_read() override {}

  ~Http1() override {
    if (session_) session_->connection_lost();
    executor_.run();
    handler_.release.set(true);
    executor_.run();
  }
  void open(HttpLimits limits = {}) {
    runner_ = std::make_unique<HandlerRunner>(executor_, handler_, limits);
    session_ = Http1Session::make(*this, *runner_, std::make_shared<PeerInfo>());
  }
  // Passes bytes to the session and returns its output after all work is done.
  std::string exchange(std::string_view bytes) {
    if (!bytes.empty()) session_->receive(bytes);
    std::string sent;
    for (;;) {
      executor_.run();
      std::string out;
      session_->fill(out, 64 << 10);
      if (out.empty()) return sent;
      sent += out;
    }
  }

  ManualExecutor executor_;
  ExecutorScope scope_{&executor_};
  TestHandler handler_;
  std::unique_ptr<HandlerRunner> runner_;
  std::shared_ptr<Http1Session> session_;
  int flushes_ = 0;
};

std::string body_of(const std::string& response) { return response.substr(response.find("\r\n\r\n") + 4); }

int count_of(std::string_view text, std::string_view what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

std::string gunzip(const std::string& packed) {
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
  std::string out(4 << 20, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  inflateEnd(&z);
  return out;
}

std::string dechunk(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t line = text.find("\r\n");
    const std::size_t size = std::stoul(std::string(text.substr(0, line)), nullptr, 16);
    if (size == 0) return out;
    out += text.substr(line + 2, size);
    text.remove_prefix(line + 2 + size + 2);
  }
}

TEST_F(Http1, AResponseHasCanonicalNamesDateAndLengthInNetHttpsOrder) {
  open();
  const std::string sent = exchange("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string start = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Test: yes\r\nDate: ";
  EXPECT_EQ(sent.substr(0, start.size()), start);
  EXPECT_TRUE(sent.ends_with(" GMT\r\nContent-Length: 5\r\n\r\nhello"));
  EXPECT_FALSE(session_->finished());
}

TEST_F(Http1, PipelinedRequestsAreAnsweredInOrderEvenWhenTheyArriveByteByByte) {
  open();
  const std::string requests =
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\noneGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n";
  std::string at_once = exchange(requests);
  std::string by_byte;
  for (const char c : requests) by_byte += exchange(std::string(1, c));
  for (const auto& sent : {at_once, by_byte}) {
    EXPECT_EQ(count_of(sent, "HTTP/1.1 200 OK"), 3);
    const std::size_t one = sent.find("\r\n\r\none");
    const std::size_t hello = sent.find("\r\n\r\nhello");
    const std::size_t two = sent.find("\r\n\r\ntwo");
    EXPECT_TRUE(one < hello && hello < two && two != std::string::npos);
  }
}

TEST_F(Http1, AStreamIsChunkedAndWhatIsReadyTogetherIsOneChunk) {
  open();
  const std::string sent = exchange("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(sent.find("Transfer-Encoding: chunked\r\n\r\n"), std::string::npos);
  EXPECT_EQ(sent.find("Content-Length"), std::string::npos);
  EXPECT_EQ(body_of(sent), "12\r\npart0\npart1\npart2\n\r\n0\r\n\r\n");
}

TEST_F(Http1, AnHttp10StreamEndsWithTheConnection) {
  open();
  const std::string sent = exchange("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(sent.starts_with("HTTP/1.0 200 OK\r\n"));
  EXPECT_EQ(body_of(sent), "part0\npart1\npart2\n");
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, HeadSendsTheLengthAndNoBody) {
  open();
  const std::string sent = exchange("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(sent.ends_with("Content-Length: 5\r\n\r\n"));
}

TEST_F(Http1, AHeaderBlockOverTheLimitIs431) {
  HttpLimits limits;
  limits.max_header_bytes = 8 << 10;
  open(limits);
  exchange("GET /hello HTTP/1.1\r\nHost: a\r\nX-Large: ");
  const std::string sent = exchange(std::string(16 << 10, 'a'));
  EXPECT_EQ(sent,
            "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
            "431 Request Header Fields Too Large");
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(Http1, OneMegabyteOfHeadersPasses) {
  open();
  const std::string sent = exchange("GET /hello HTTP/1.1\r\nHost: a\r\nX-Large: " + std::string((1 << 20) - 100, 'a') + "\r\n\r\n");
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 200 OK"));
}

TEST_F(Http1, ABodyOverTheHandlersLimitIs413BeforeItIsRead) {
  open();
  handler_.max_body = 10;
  const std::string sent = exchange("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\nabc");
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 413 Request Entity Too Large"));
  EXPECT_NE(body_of(sent).find("limit is 10"), std::string::npos);
  // The server does not read three megabytes only to keep a connection open.
  EXPECT_NE(sent.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(session_->finished());
}

// Regression: the connection was kept open, and then closed without a response if the rest of the body was long.
TEST_F(Http1, AnIncompleteChunkedBodyIsAnsweredWithCloseAndItsRestIsNotRead) {
  open();
  handler_.max_body = 10;
  const std::string sent = exchange("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n01234567890123456789\r\n");
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 413"));
  EXPECT_NE(sent.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, TheShortRestOfAnUnreadBodyIsDiscardedForTheNextRequest) {
  open();
  handler_.max_body = 10;
  std::string sent = exchange("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n0123456789");
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 413"));
  EXPECT_FALSE(session_->finished());
  sent = exchange("0123456789GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 200 OK"));
}

TEST_F(Http1, ExpectContinueIsAnsweredWhenTheBodyIsWanted) {
  open();
  EXPECT_EQ(exchange("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(exchange("ok").ends_with("\r\n\r\nok"));
}

TEST_F(Http1, ExpectContinueIsNotAnsweredWhenTheBodyIsRefused) {
  open();
  handler_.max_body = 1;
  const std::string sent = exchange("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(sent.starts_with("HTTP/1.1 413"));
  EXPECT_NE(sent.find("Connection: close\r\n"), std::string::npos);
}

TEST_F(Http1, WrongRequestsAreRefusedWithNetHttpsMessages) {
  struct Case {
    std::string_view request;
    std::string_view status;
  };
  for (const auto& [request, status] : std::initializer_list<Case>{
           {"GET /hello HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello", "HTTP/1.1 400 Bad Request\r\n"},
           {"nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 501 Not Implemented\r\n"},
           {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
           {"POST /echo HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", "HTTP/1.1 417 Expectation Failed\r\n"},
       }) {
    open();
    EXPECT_TRUE(exchange(request).starts_with(status)) << request;
    EXPECT_TRUE(session_->finished()) << request;
  }
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(Http1, ConnectionCloseIsHonouredFromBothSides) {
  open();
  EXPECT_NE(exchange("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(session_->finished());
  open();
  EXPECT_NE(exchange("GET /close HTTP/1.1\r\nHost: a\r\n\r\n").find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, AWriterWaitsWhileTheWindowIsFullAndGoesOnWhenTheSocketTakesBytes) {
  open();
  session_->receive("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  executor_.run();
  const std::size_t first = handler_.endless_written;
  EXPECT_LE(first, (256 << 10) + (64 << 10));
  executor_.run();
  EXPECT_EQ(handler_.endless_written, first);
  std::string out;
  session_->fill(out, 256 << 10);
  executor_.run();
  EXPECT_GT(handler_.endless_written, first);
}

TEST_F(Http1, TwoWritersThatWaitForASlowPeerBothContinueAndEnd) {
  open();
  session_->receive("GET /pair HTTP/1.1\r\nHost: a\r\n\r\n");
  executor_.run();
  std::string out;
  for (int i = 0; i < 8; ++i) {
    session_->fill(out, out.size() + (256 << 10));
    executor_.run();
  }
  EXPECT_GT(out.size(), std::size_t{1} << 20);
  session_->connection_lost();
  executor_.run();
  EXPECT_EQ(handler_.ended, 1);
  EXPECT_EQ(runner_->running(), 0u);
}

TEST_F(Http1, TheHandlerIsNotifiedOnceOfADisconnectAndLaterCallsReturn) {
  open();
  session_->receive("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  executor_.run();
  session_->connection_lost();
  executor_.run();
  EXPECT_EQ(handler_.closes, 1);
  EXPECT_EQ(handler_.ended, 1);
  EXPECT_EQ(runner_->running(), 0u);
}

TEST_F(Http1, AHalfClosedPeerCancelsTheRequestButGetsTheAnswer) {
  open();
  exchange("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  session_->receive_end();
  EXPECT_EQ(handler_.closes, 1);
  handler_.release.set(true);
  EXPECT_TRUE(exchange("").ends_with("released"));
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, AnExceptionOrAHalfResponseBreaksTheConnectionOff) {
  open();
  EXPECT_EQ(exchange("GET /throw HTTP/1.1\r\nHost: a\r\n\r\n"), "");
  EXPECT_TRUE(session_->finished());
  open();
  EXPECT_FALSE(exchange("GET /unfinished HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("0\r\n\r\n"));
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, DeadlinesCloseSlowHeadersAndIdleConnections) {
  const auto now = HttpSession::Clock::now();
  open();
  session_->tick(now + std::chrono::seconds(30));
  EXPECT_FALSE(session_->finished());
  exchange("GET /hel");
  session_->tick(now + std::chrono::seconds(40));
  EXPECT_TRUE(session_->finished());
  open();
  exchange("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  session_->tick(now + std::chrono::seconds(85));
  EXPECT_FALSE(session_->finished());
  session_->tick(now + std::chrono::seconds(100));
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, ABodyThatStopsComingIsATimeout) {
  open();
  exchange("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  session_->tick(HttpSession::Clock::now() + std::chrono::seconds(61));
  EXPECT_TRUE(exchange("").starts_with("HTTP/1.1 504 Gateway Timeout"));
}

// The body is produced in pieces, so that it is never in memory as a whole.
TEST_F(Http1, ALargeUploadThatIsReadSlowlyWaitsInTheSocket) {
  open();
  handler_.stepwise = true;
  constexpr std::size_t kSize = 16 << 20;
  const std::string piece(64 << 10, 'u');
  exchange("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n");
  std::string answer;
  for (std::size_t sent = 0; answer.empty();) {
    while (sent < kSize && session_->wants_input()) {
      answer += exchange(piece);
      sent += piece.size();
    }
    ASSERT_LE(sent, handler_.counted + (256 << 10) + 2 * (64 << 10)) << "no more is taken than the windows hold";
    handler_.step.set(true);
    answer += exchange("");
  }
  EXPECT_EQ(body_of(answer), std::to_string(kSize));
  EXPECT_LE(handler_.largest_piece, (256u << 10) + (64u << 10));
}

TEST_F(Http1, AChunkedUploadIsReadInPiecesToo) {
  open();
  const std::string answer =
      exchange("POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
  EXPECT_EQ(body_of(answer), "11");
}

TEST_F(Http1, APeerThatStopsInTheMiddleOfAnUploadIsATimeout) {
  open();
  exchange("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(handler_.counted, 3u);
  session_->tick(HttpSession::Clock::now() + std::chrono::seconds(61));
  exchange("");
  EXPECT_EQ(handler_.count_failure.reason(), Reason::kTimeout);
  EXPECT_EQ(handler_.count_failure.message(), "Timeout: the request body did not arrive in time");
}

TEST_F(Http1, ADisconnectDuringAnUploadIsAnErrorAndNoEndOfBody) {
  open();
  exchange("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  session_->receive_end();
  exchange("");
  EXPECT_EQ(handler_.counted, 3u);
  EXPECT_EQ(handler_.count_failure.reason(), Reason::kTimeout);
}

TEST_F(Http1, DrainClosesIdleConnectionsAndLetsTheRunningResponseOut) {
  open();
  exchange("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  session_->drain();
  EXPECT_TRUE(session_->finished());
  open();
  exchange("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  session_->drain();
  EXPECT_FALSE(session_->finished());
  handler_.release.set(true);
  const std::string sent = exchange("");
  EXPECT_NE(sent.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(sent.ends_with("released"));
  EXPECT_TRUE(session_->finished());
}

TEST_F(Http1, LargeResponsesAreGzippedWhenAskedAndSmallOnesAreNot) {
  open();
  std::string sent = exchange("GET /large HTTP/1.1\r\nHost: a\r\nAccept-Encoding: deflate, gzip\r\n\r\n");
  EXPECT_NE(sent.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_NE(sent.find("Vary: Accept-Encoding\r\n"), std::string::npos);
  EXPECT_EQ(gunzip(dechunk(body_of(sent))), std::string(handler_.large_size, 'x'));
  sent = exchange("GET /hello HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(sent.find("gzip"), std::string::npos);
  sent = exchange("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(sent.find("Content-Length: 400000\r\n"), std::string::npos);
}

class StreamingHandler final : public HttpHandler {
 public:
  std::optional<bool> compressible;
  std::size_t size = 0;
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    if (compressible) exchange.set_compressible(*compressible);
    Status status = co_await exchange.start(200, "application/json");
    for (std::size_t sent = 0; status.ok() && sent < size; sent += 1000) {
      auto chunk = one_chunk(std::string(1000, 'y'));
      status = co_await exchange.write(std::move(chunk));
    }
    co_await exchange.finish();
  }
};

class Http1Streams : public Http1 {
 protected:
  std::string get(std::optional<bool> compressible, std::size_t size) {
    StreamingHandler handler;
    handler.compressible = compressible;
    handler.size = size;
    runner_ = std::make_unique<HandlerRunner>(executor_, handler, HttpLimits{});
    session_ = Http1Session::make(*this, *runner_, std::make_shared<PeerInfo>());
    return exchange("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  }
};

TEST_F(Http1Streams, AreCompressedOnlyWhenTheHandlerSaysSo) {
  EXPECT_EQ(get(std::nullopt, 300'000).find("gzip"), std::string::npos);
  EXPECT_EQ(get(false, 300'000).find("gzip"), std::string::npos);
  const std::string sent = get(true, 300'000);
  EXPECT_NE(sent.find("Content-Encoding: gzip"), std::string::npos);
  EXPECT_EQ(gunzip(dechunk(body_of(sent))), std::string(300'000, 'y'));
}

TEST_F(Http1Streams, ThatMightBeCompressedAndStaySmallHaveALength) {
  const std::string sent = get(true, 2'000);
  EXPECT_NE(sent.find("Content-Length: 2000\r\n"), std::string::npos);
  EXPECT_EQ(sent.find("chunked"), std::string::npos);
}

TEST(HeaderText, LettersAreMadeSmallAndNothingElse) {
  for (int first = 0; first < 256; ++first) {
    for (const std::size_t size : {1U, 7U, 8U, 9U, 30U}) {
      const std::string text(size, static_cast<char>(first));
      const bool capital = first >= 'A' && first <= 'Z';
      const std::string small(size, static_cast<char>(capital ? first + ('a' - 'A') : first));
      EXPECT_EQ(lower_case(text), small) << first;
      EXPECT_EQ(equal_ignoring_case(text, small), true) << first;
      EXPECT_EQ(equal_ignoring_case("x" + text, "x" + std::string(size, 'q')), first == 'q' || first == 'Q') << first;
      std::string text_after = "AbC";
      append_lower_case(text_after, text);
      EXPECT_EQ(text_after, "AbC" + small) << first;
    }
  }
  EXPECT_EQ(lower_case("X-Kubernetes-PF-FlowSchema-UID"), "x-kubernetes-pf-flowschema-uid");
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("audit-id", "Audit-Ie"));
}

TEST(HeaderText, NamesBecomeCanonicalAndValuesCannotStartALine) {
  EXPECT_EQ(canonical_header_name("x-kubernetes-pf-flowschema-uid"), "X-Kubernetes-Pf-Flowschema-Uid");
  EXPECT_EQ(canonical_header_name("CONTENT-TYPE"), "Content-Type");
  EXPECT_EQ(canonical_header_name("odd name"), "odd name");
  for (const char* name : {"Content-Type", "X-Kubernetes-Pf-Flowschema-Uid", "Etag", "X--9a", "content-type", "Content-type", "ETag",
                           "odd name", "Odd Name"}) {
    const bool stays = canonical_header_name(name) == name;
    EXPECT_EQ(is_canonical_header_name(name), stays && std::string_view(name).find(' ') == std::string_view::npos) << name;
  }
  std::string value = "a\r\nb";
  strip_line_breaks(value);
  EXPECT_EQ(value, "a  b");
  for (std::size_t size = 1; size < 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'\r', '\n', '\0', '\t', '\x7f', '\xc3', ' '}) {
        std::string text(size, 'x');
        text[at] = c;
        std::string wanted = text;
        if (c == '\r' || c == '\n' || c == '\0') wanted[at] = ' ';
        strip_line_breaks(text);
        EXPECT_EQ(text, wanted);
      }
    }
  }
}

}  // namespace
}  // namespace backplane
