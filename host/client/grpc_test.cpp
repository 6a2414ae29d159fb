#include "backplane/net/grpc.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "backplane/core/task_set.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"
#include "client/testing_http2_backend.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;
using grpc::CallOptions;
using grpc::CallStatus;
using grpc::Code;
using grpc::UnaryAnswer;
using test::Http2Backend;

std::string value_in(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

// The parameter selects TCP or a Unix socket.
class GrpcTest : public testing::TestWithParam<bool> {
 protected:
  GrpcTest() : loops_(1) {
    std::string pattern = testing::TempDir() + "grpc-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    backend_ = std::make_unique<Http2Backend>(GetParam() ? folder_ + "/s" : std::string());
    config_.server = backend_->url();
    config_.http2_prior_knowledge = true;
    loops_.start();
  }
  ~GrpcTest() override {
    client_.reset();
    tasks_.close();
    run_on(loop(), tasks_.wait_all());
    loops_.stop();
    backend_.reset();
    std::filesystem::remove_all(folder_);
  }
  IoLoop& loop() { return loops_.loop(0); }
  std::shared_ptr<HttpClient> client() {
    if (!client_) client_ = *make_remote_client(loop(), tasks_, config_);
    return client_;
  }
  UnaryAnswer call(std::string method, std::string request = "ask", CallOptions options = {}) {
    return run_on(loop(), grpc::unary(client(), std::move(method), std::move(request), std::move(options)));
  }

  LoopPool loops_;
  LoggedTaskGroup tasks_;
  std::string folder_;
  std::unique_ptr<Http2Backend> backend_;
  ClientConfig config_;
  std::shared_ptr<HttpClient> client_;
};

INSTANTIATE_TEST_SUITE_P(, GrpcTest, testing::Bool(), [](const auto& each) { return each.param ? "UnixSocket" : "Tcp"; });

// ---- unary calls

TEST_P(GrpcTest, AUnaryCallSendsAndReceivesOneMessage) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{700'000}}) {
    const UnaryAnswer answer = call("/unary", std::string(size, 'x'));
    EXPECT_TRUE(answer.status.ok()) << to_text(answer.status);
    EXPECT_EQ(answer.message, std::string(size, 'x'));
    EXPECT_EQ(value_in(answer.metadata, "x-test"), "yes");
    EXPECT_EQ(value_in(answer.metadata, "x-trailer"), "last");
  }
  EXPECT_EQ(backend_->connections(), 1);
}

TEST_P(GrpcTest, ARequestHasTheFieldsOfGrpcAndTheCallersMetadata) {
  CallOptions options;
  options.metadata = {{"hasleader", "true"}};
  options.deadline = std::chrono::steady_clock::now() + 60s;
  call("/unary", "ask", options);
  const Headers sent = backend_->last_request();
  EXPECT_EQ(value_in(sent, ":method"), "POST");
  EXPECT_EQ(value_in(sent, ":scheme"), "http");
  EXPECT_EQ(value_in(sent, "te"), "trailers");
  EXPECT_EQ(value_in(sent, "content-type"), "application/grpc");
  EXPECT_EQ(value_in(sent, "hasleader"), "true");
  const std::string timeout = value_in(sent, "grpc-timeout");
  EXPECT_TRUE(timeout.ends_with("m") && std::stoi(timeout) > 50'000 && std::stoi(timeout) <= 60'000) << timeout;
  EXPECT_EQ(value_in(sent, "content-length"), "");
}

TEST_P(GrpcTest, EachCallSendsItsOwnTimeout) {
  for (const auto left : {30s, 30s, 60s, 30s, 60s, 60s, 90s}) {
    CallOptions options;
    options.deadline = std::chrono::steady_clock::now() + left;
    EXPECT_TRUE(call("/unary", "ask", options).status.ok());
    const std::string timeout = value_in(backend_->last_request(), "grpc-timeout");
    EXPECT_TRUE(std::stoi(timeout) > (left - 10s) / 1ms && std::stoi(timeout) <= left / 1ms) << timeout;
  }
}

TEST_P(GrpcTest, AnAnswerWithoutMessagesIsAStatus) {
  const CallStatus status = call("/refused").status;
  EXPECT_EQ(status.code, Code::kPermissionDenied);
  EXPECT_EQ(status.message, "not you");
  EXPECT_EQ(to_text(status), "rpc error: code = PermissionDenied desc = not you");
}

TEST_P(GrpcTest, AnErrorInTheTrailersCountsThoughAMessageHasArrived) {
  const UnaryAnswer answer = call("/late");
  EXPECT_EQ(answer.status.code, Code::kInternal);
  EXPECT_EQ(answer.status.message, "after the message");
  EXPECT_EQ(answer.message, "");
}

TEST_P(GrpcTest, AResponseThatIsNotGrpcIsAnError) {
  EXPECT_EQ(call("/page").status.code, Code::kUnimplemented);
  EXPECT_EQ(call("/compressed").status.code, Code::kInternal);
  EXPECT_EQ(call("/twice").status.code, Code::kInternal);
  EXPECT_EQ(call("/none").status.code, Code::kInternal);
}

// The server responds with the bytes of the request: zeros, which are empty messages.
TEST_P(GrpcTest, AUnaryCallEndsWithTheSecondMessage) {
  const CallStatus status = call("/endless").status;
  EXPECT_EQ(status.code, Code::kInternal);
  EXPECT_EQ(status.message, "cardinality violation: the answer to a unary call has several messages");
  backend_->wait_reset();
}

TEST_P(GrpcTest, ACallCanBeAbortedFromOutside) {
  CallOptions options;
  options.breaker = std::make_shared<CallBreaker>();
  options.breaker->break_off(service_unavailable("stopping"));
  const CallStatus status = call("/silent", "ask", options).status;
  EXPECT_EQ(status.code, Code::kUnavailable);
  EXPECT_EQ(status.message, "stopping");
}

// The server never extended the window, so the client waited until the deadline of the call.
TEST_P(GrpcTest, AnAnswerBeforeTheEndOfTheRequestEndsTheCall) {
  for (int i = 0; i < 3; ++i) {
    const CallStatus status = call("/deaf", std::string(200'000, 'x')).status;
    EXPECT_EQ(status.code, Code::kPermissionDenied) << to_text(status);
  }
  EXPECT_EQ(backend_->connections(), 1);
}

TEST_P(GrpcTest, AMessageOverTheLimitIsRefused) {
  CallOptions options;
  options.max_message_bytes = 1000;
  const CallStatus status = call("/unary", std::string(1001, 'x'), options).status;
  EXPECT_EQ(status.code, Code::kResourceExhausted);
  EXPECT_EQ(status.message, "grpc: received message larger than max (1001 vs. 1000)");
  EXPECT_TRUE(call("/unary", std::string(1000, 'x'), options).status.ok());
}

TEST_P(GrpcTest, ADeadlineThatPassesEndsTheCallAndResetsItsStream) {
  EXPECT_TRUE(call("/unary").status.ok()) << "there is a connection";
  CallOptions options;
  options.deadline = std::chrono::steady_clock::now() + 200ms;
  const CallStatus status = call("/silent", "ask", options).status;
  EXPECT_EQ(status.code, Code::kDeadlineExceeded);
  EXPECT_FALSE(status.never_sent);
  backend_->wait_reset();
}

// ---- retries

TEST_P(GrpcTest, ACallThatReachesNoServerWasNeverSent) {
  backend_.reset();
  const CallStatus status = call("/unary").status;
  EXPECT_EQ(status.code, Code::kUnavailable);
  EXPECT_TRUE(status.never_sent);
  EXPECT_NE(status.message.find("connect: "), std::string::npos) << status.message;
}

TEST_P(GrpcTest, ACallThatTheServerRefusesTwiceWasNeverSent) {
  const CallStatus status = call("/reset").status;
  EXPECT_EQ(status.code, Code::kUnavailable);
  EXPECT_TRUE(status.never_sent) << status.message;
  EXPECT_EQ(backend_->connections(), 2);
}

Task<Result<int>> connect_never(Promise<int> promise, std::string) {
  const int socket = co_await promise.future();
  co_return socket;
}

TEST_P(GrpcTest, ACallThatFindsNoConnectionByItsTimeWasNeverSent) {
  Promise<int> never;
  config_.dial = [never](std::string address) { return connect_never(never, std::move(address)); };
  CallOptions options;
  options.send_by = std::chrono::steady_clock::now() + 50ms;
  options.deadline = std::chrono::steady_clock::now() + 60s;
  const CallStatus status = call("/unary", "ask", options).status;
  EXPECT_EQ(status.code, Code::kUnavailable);
  EXPECT_TRUE(status.never_sent);
  never.set(-1);
}

TEST_P(GrpcTest, ACallThatWasSentInTimeIsNotEndedByTheTimeToSendIt) {
  EXPECT_TRUE(call("/unary").status.ok()) << "there is a connection";
  CallOptions options;
  options.send_by = std::chrono::steady_clock::now() + 200ms;
  options.deadline = std::chrono::steady_clock::now() + 400ms;
  EXPECT_EQ(call("/silent", "ask", options).status.code, Code::kDeadlineExceeded);
}

TEST_P(GrpcTest, AServerThatStopsRespondingIsDisconnectedByKeepAlive) {
  config_.keep_alive = 30ms;
  config_.keep_alive_timeout = 30ms;
  EXPECT_TRUE(call("/unary").status.ok());
  backend_->stop_responding();
  const CallStatus status = call("/silent").status;
  EXPECT_EQ(status.code, Code::kUnavailable);
  EXPECT_FALSE(status.never_sent);
  EXPECT_EQ(status.message, "http2: client connection lost");
}

TEST_P(GrpcTest, AServerThatAnswersPingsKeepsItsCalls) {
  config_.keep_alive = 5ms;
  config_.keep_alive_timeout = 10s;
  EXPECT_TRUE(call("/unary").status.ok()) << "there is a connection";
  CallOptions options;
  options.deadline = std::chrono::steady_clock::now() + 500ms;
  EXPECT_EQ(call("/silent", "ask", options).status.code, Code::kDeadlineExceeded);
  EXPECT_GE(backend_->pings(), 2);
}

// ---- streams

Task<std::vector<std::string>> exchange_messages(std::shared_ptr<grpc::Stream> stream, std::vector<std::string> messages) {
  std::vector<std::string> received;
  for (const std::string& message : messages) {
    auto writing = stream->write(message);
    const bool written = co_await std::move(writing);
    EXPECT_TRUE(written);
    auto reading = stream->read();
    auto got = co_await std::move(reading);
    received.push_back(got.value_or("(ended)"));
  }
  stream->writes_done();
  auto reading = stream->read();
  auto end = co_await std::move(reading);
  EXPECT_FALSE(end);
  co_return received;
}

template <class T>
Task<std::vector<std::string>> open_and_exchange(T open, std::vector<std::string> messages, CallStatus& status) {
  const std::shared_ptr<grpc::Stream> stream = open();
  auto talking = exchange_messages(stream, std::move(messages));
  auto received = co_await std::move(talking);
  status = stream->status();
  co_return received;
}

TEST_P(GrpcTest, AStreamCarriesMessagesBothWaysAsTheyAreWritten) {
  const std::vector<std::string> messages = {"one", "", std::string(500'000, 'x'), "four"};
  CallStatus status(Code::kUnknown, "");
  const auto open = [this] { return grpc::open_stream(client(), "/stream"); };
  EXPECT_EQ(run_on(loop(), open_and_exchange(open, messages, status)), messages);
  EXPECT_TRUE(status.ok()) << to_text(status);
}

Task<CallStatus> read_to_end(std::shared_ptr<grpc::Stream> stream) {
  for (;;) {
    auto reading = stream->read();
    const auto message = co_await std::move(reading);
    if (!message) co_return stream->status();
  }
}
template <class T>
Task<CallStatus> open_and_read(T open) {
  const std::shared_ptr<grpc::Stream> stream = open();
  auto reading = read_to_end(stream);
  CallStatus status = co_await std::move(reading);
  auto writing = stream->write("late");
  const bool written = co_await std::move(writing);
  EXPECT_FALSE(written);
  co_return status;
}

TEST_P(GrpcTest, AStreamThatTheServerRefusesEndsWithItsStatus) {
  EXPECT_EQ(run_on(loop(), open_and_read([this] { return grpc::open_stream(client(), "/refused"); })).code, Code::kPermissionDenied);
  EXPECT_EQ(run_on(loop(), open_and_read([this] { return grpc::open_stream(client(), "/page"); })).code, Code::kUnimplemented);
}

template <class T>
Task<CallStatus> open_and_cancel(T open) {
  const std::shared_ptr<grpc::Stream> stream = open();
  auto writing = stream->write("one");
  const bool written = co_await std::move(writing);
  EXPECT_TRUE(written);
  auto reading = stream->read();
  auto got = co_await std::move(reading);
  EXPECT_EQ(got, "one");
  stream->cancel();
  auto ending = read_to_end(stream);
  CallStatus status = co_await std::move(ending);
  co_return status;
}

TEST_P(GrpcTest, ACancelledStreamIsReset) {
  EXPECT_EQ(run_on(loop(), open_and_cancel([this] { return grpc::open_stream(client(), "/stream"); })).code, Code::kCancelled);
  backend_->wait_reset();
}

Task<std::shared_ptr<grpc::Stream>> open_and_read_one(std::shared_ptr<HttpClient> client) {
  auto stream = grpc::open_stream(std::move(client), "/endless");
  auto reading = stream->read();
  const auto message = co_await std::move(reading);
  EXPECT_EQ(message, "");
  co_return stream;
}

// The server sends zeros, which are empty messages.
TEST_P(GrpcTest, AStreamThatIsNotReadIsNotFetchedBeyondAWindow) {
  std::shared_ptr<grpc::Stream> stream = run_on(loop(), open_and_read_one(client()));
  // Another call succeeds meanwhile.
  EXPECT_TRUE(call("/unary").status.ok());
  EXPECT_LE(backend_->sent_bytes(), 2u * config_.stream_window + 100'000);
  stream.reset();
  backend_->wait_reset();
}

}  // namespace
}  // namespace backplane
