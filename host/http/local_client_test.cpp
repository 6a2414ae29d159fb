#include "http/local_client.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <thread>

#include "base/io_loop.hpp"
#include "http/http_test_support.hpp"
#include "http/testing/pieces.hpp"

namespace backplane {
namespace {

using test::TestHandler;

class LocalClientTest : public testing::Test {
 protected:
  LocalClientTest() { loop_.start(); }
  ~LocalClientTest() override {
    handler_.release.set(true);
    tasks_.close();
    run_on(loop_, drained());
    loop_.stop();
  }
  Task<bool> drained() {
    co_await tasks_.wait_all();
    co_return true;
  }

  struct Got {
    int code = 0;
    std::string body;
    Status status;
  };
  Task<Got> fetch(HttpCall call) {
    Got got;
    auto answer = co_await client_->call(std::move(call));
    if (!answer.ok()) {
      got.status = std::move(answer).status();
      co_return got;
    }
    got.code = (*answer)->code();
    auto body = co_await read_all(**answer);
    if (body.ok()) got.body = std::move(*body);
    if (!body.ok()) got.status = std::move(body).status();
    co_return got;
  }
  Got get(std::string target, std::chrono::milliseconds within = std::chrono::hours(1)) {
    HttpCall call;
    call.target = std::move(target);
    call.deadline = std::chrono::steady_clock::now() + within;
    return run_on(loop_, fetch(std::move(call)));
  }
  // Reads one piece and destroys the response.
  Task<std::size_t> read_some_bytes(std::string target) {
    HttpCall call;
    call.target = std::move(target);
    auto answer = co_await client_->call(std::move(call));
    auto some = co_await (*answer)->read();
    co_return some.ok() ? some->size() : 0;
  }

  IoLoop loop_{"test"};
  TestHandler handler_;
  LoggedTaskGroup tasks_;
  std::shared_ptr<HttpClient> client_ = make_local_client(handler_, tasks_);
};

TEST_F(LocalClientTest, ACallOnBehalfOfAUserWithoutANameIsRefusedAndNotTheServersOwn) {
  UserInfo nobody;
  nobody.groups = {"somebody:else"};
  client_ = make_local_client(handler_, tasks_, nobody);
  EXPECT_EQ(get("/hello").status.reason(), Reason::kBadRequest);
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(LocalClientTest, GetsAndSends) {
  EXPECT_EQ(get("/hello").body, "hello");
  EXPECT_EQ(get("/stream").body, "part0\npart1\npart2\n");
  EXPECT_EQ(get("/large").body.size(), handler_.large_size);
  HttpCall echo;
  echo.method = "POST";
  echo.target = "/echo";
  echo.body = std::string(300'000, 'b');
  EXPECT_EQ(run_on(loop_, fetch(echo)).body, echo.body);
}

TEST_F(LocalClientTest, AHandlerMayWorkAndEndOnAnotherExecutor) {
  IoLoop foreign("foreign");
  foreign.start();
  handler_.foreign = &foreign;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(get("/other-executor").code, 200);
    EXPECT_EQ(get("/other-executor/stream").body.size(), 300'000u);
  }
  EXPECT_EQ(handler_.wrong_executor_calls, 0);
  // The last step of a handler runs after its response.
  tasks_.close();
  run_on(loop_, drained());
  foreign.stop();
}

Task<std::size_t> read_on_other_executor(HttpClient& client, Executor& reader) {
  HttpCall call;
  call.target = "/stream";
  auto calling = client.call(std::move(call));
  auto answer = co_await std::move(calling);
  co_await resume_on(reader);
  std::size_t size = 0;
  for (;;) {
    auto reading = (*answer)->read();
    auto some = co_await std::move(reading);
    EXPECT_EQ(current_executor(), &reader);
    if (!some.ok() || some->empty()) break;
    size += some->size();
  }
  co_return size;
}

TEST_F(LocalClientTest, AnAnswerIsReadFromAnyExecutor) {
  IoLoop reader("reader");
  reader.start();
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(run_on(loop_, read_on_other_executor(*client_, reader)), std::string_view("part0\npart1\npart2\n").size());
  EXPECT_EQ(handler_.wrong_executor_calls, 0);
  tasks_.close();
  run_on(loop_, drained());
  reader.stop();
}

// Continues on a thread without an executor.
struct OnThread {
  std::thread& thread;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) const { thread = std::thread(frame); }
  void await_resume() const noexcept {}
};

Task<Status> call_from_thread(HttpClient& client, std::thread& thread, Executor& back) {
  const OnThread on_thread{thread};
  co_await on_thread;
  HttpCall call;
  call.target = "/hello";
  auto calling = client.call(std::move(call));
  auto answer = co_await std::move(calling);
  co_await resume_on(back);
  co_return answer.ok() ? Status() : std::move(answer.status());
}

TEST_F(LocalClientTest, ACallFromAThreadWithoutAnExecutorIsAnError) {
  std::thread thread;
  EXPECT_EQ(run_on(loop_, call_from_thread(*client_, thread, loop_)).reason(), Reason::kInternalError);
  thread.join();
  EXPECT_EQ(handler_.calls, 0);
}

TEST_F(LocalClientTest, TheHandlerWaitsForAReaderAndIsNotifiedOfItsEnd) {
  EXPECT_GT(run_on(loop_, read_some_bytes("/endless")), 0u);
  tasks_.close();
  run_on(loop_, drained());
  EXPECT_EQ(handler_.closes, 1);
  EXPECT_LT(handler_.endless_written.load(), std::size_t{4} << 20);
}

HttpCall upload(std::string target, std::shared_ptr<BodySource> source) {
  HttpCall call;
  call.method = "POST";
  call.target = std::move(target);
  call.body_source = std::move(source);
  return call;
}

TEST_F(LocalClientTest, ABodyIsGivenAsItIsMade) {
  EXPECT_EQ(run_on(loop_, fetch(upload("/count", std::make_shared<test::Pieces>(100)))).body, "5000000");
  EXPECT_EQ(run_on(loop_, fetch(upload("/count", std::make_shared<test::Pieces>(0)))).body, "5000000") << "nothing is added";
}

TEST_F(LocalClientTest, NoMoreOfABodyIsMadeThanTheHandlerTakes) {
  const auto source = std::make_shared<test::Pieces>(1'000'000);
  HttpCall call = upload("/hold", source);
  call.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  EXPECT_EQ(run_on(loop_, fetch(call)).status.reason(), Reason::kTimeout);
  EXPECT_GT(source->made, 0u);
  EXPECT_LT(source->made, 10 * test::Pieces::kSize);
}

TEST_F(LocalClientTest, ABodyThatCannotBeMadeBreaksTheCallOff) {
  const auto source = std::make_shared<test::Pieces>(1);
  source->error = internal_error("the disk is gone");
  EXPECT_EQ(run_on(loop_, fetch(upload("/count", source))).status.message(), "Internal error occurred: the disk is gone");
}

TEST_F(LocalClientTest, ADeadlineEndsTheCall) {
  EXPECT_EQ(get("/hold", std::chrono::milliseconds(50)).status.reason(), Reason::kTimeout);
  EXPECT_EQ(get("/hello").body, "hello");
}

TEST_F(LocalClientTest, AHandlerThatThrowsOrLeavesIsAnError) {
  EXPECT_EQ(get("/throw").code, 500);
  const Got half = get("/unfinished");
  EXPECT_EQ(half.code, 200);
  EXPECT_FALSE(half.status.ok());
}

TEST_F(LocalClientTest, NothingIsCalledOnceTheServerStops) {
  tasks_.close();
  EXPECT_EQ(get("/hello").status.reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(handler_.calls, 0);
}

}  // namespace
}  // namespace backplane
