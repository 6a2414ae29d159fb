// For tests: the chain of filters around a test's handler.
//
// Thread-safety: each object belongs to one test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "base/io_loop.hpp"
#include "filters/handler_chain.hpp"
#include "security/users.hpp"

namespace backplane::filters_testing {

// A request as the transport passes it to the chain, and the response to it.
class TestExchange final : public Exchange {
 public:
  std::string request_method = "GET";
  std::string request_target = "/readyz";
  Headers request_headers;
  int major = 1;

  int code = 0;
  std::string type;
  std::string body;
  Headers response_headers;
  bool finished = false;
  bool closing = false;
  std::atomic<bool> aborted{false};
  const Executor* expected_executor = nullptr;  // the executor that the chain must use; null: any executor
  std::atomic<int> wrong_executor_calls{0};     // calls on other executors
  NamedSignal* responding = nullptr;            // if set, respond() waits for this signal after it has sent the head; abort() fires it

  std::string response_header(std::string_view name) const {
    for (const auto& [key, value] : response_headers) {
      if (key == name) return value;
    }
    return "";
  }

  std::string_view method() const noexcept override { return request_method; }
  std::string_view target() const noexcept override { return request_target; }
  int http_major() const noexcept override { return major; }
  std::string_view header(std::string_view name) const noexcept override {
    for (const auto& [key, value] : request_headers) {
      if (key == name) return value;
    }
    return {};
  }
  const Headers& headers() const noexcept override { return request_headers; }
  std::string_view remote_address() const noexcept override { return "127.0.0.1:1"; }
  const PeerCertificate* peer_certificate() const noexcept override { return nullptr; }
  Task<Result<std::string>> read_body(std::size_t) override { co_return std::string(); }
  void add_response_header(std::string name, std::string value) override {
    check_executor();
    response_headers.emplace_back(std::move(name), std::move(value));
  }
  void set_response_header(std::string name, std::string value) override {
    std::erase_if(response_headers, [&](const Header& header) { return header.first == name; });
    add_response_header(std::move(name), std::move(value));
  }
  Task<void> respond(int c, std::string_view content_type, std::vector<SharedBytes> chunks) override {
    check_executor();
    code = c;
    type = content_type;
    for (const auto& chunk : chunks) body += chunk.view();
    if (responding != nullptr) co_await responding->wait();
    finished = true;
  }
  Task<Status> start(int c, std::string_view content_type) override {
    check_executor();
    code = c;
    type = content_type;
    co_return Status();
  }
  void set_compressible(bool) override {}
  Task<Status> write(std::vector<SharedBytes> chunks) override {
    check_executor();
    for (const auto& chunk : chunks) body += chunk.view();
    co_return Status();
  }
  Task<void> finish() override {
    finished = true;
    co_return;
  }
  bool started() const noexcept override { return code != 0; }
  int response_code() const noexcept override { return code; }
  std::uint64_t add_close_callback(std::function<void()>) override { return 1; }
  void remove_close_callback(std::uint64_t) noexcept override {}
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {
    check_executor();
    closing = true;
  }
  void abort() override {
    aborted = true;
    if (responding != nullptr) responding->fire();
  }

 private:
  void check_executor() {
    if (expected_executor != nullptr && current_executor() != expected_executor) ++wrong_executor_calls;
  }
};

// The handler that the chain calls instead of the router.
class TestHandler final : public HttpHandler {
 public:
  std::function<Task<void>(RequestContext&, Exchange&)> answer = ok;
  int calls = 0;

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    ++calls;
    seen = context.info.verb;
    user = context.user->name;
    mux_incomplete = context.mux_incomplete;
    deadline = context.deadline - context.received;
    token = exchange.header("Authorization");
    headers = exchange.headers();
    of_context = context.exchange == &exchange;
    co_await answer(context, exchange);
  }
  static Task<void> ok(RequestContext&, Exchange& exchange) {
    std::vector<SharedBytes> body;
    body.emplace_back(std::string("ok"));
    co_await exchange.respond(200, "text/plain", std::move(body));
  }
  std::string seen;
  std::string user;
  bool mux_incomplete = false;
  std::chrono::nanoseconds deadline{};
  std::string token;
  Headers headers;
  bool of_context = false;
};

// A handler with a bug.
inline Task<void> throws(RequestContext&, Exchange&) {
  throw std::runtime_error("a bug");
  co_return;
}

struct Filters : ::testing::Test {
  Filters() {
    loop.start();
    config.authentication = &loopback;
    config.authorization = &authorization;
    config.mux_and_discovery_complete = &mux;
    config.not_accepting_new_request = &not_accepting;
    config.short_requests = &short_requests;
    config.watches = &watches;
    config.in_flight = &in_flight;
    config.metrics = &metrics;
  }

  static Task<void> send(HandlerChain& chain, TestExchange& exchange) {
    RequestContext context;
    co_await chain.handle(context, exchange);
  }
  void ask(TestExchange& exchange) {
    HandlerChain chain(config, handler);
    run_on(loop, send(chain, exchange));
  }

  IoLoop loop{"test"};
  FixedAuthentication loopback{loopback_user()};
  UnionAuthentication by_credential{{}};
  Authorization authorization{{make_public_info()}};
  NamedSignal mux{"MuxAndDiscoveryComplete"};
  NamedSignal not_accepting{"NotAcceptingNewRequest"};
  WaitGroup short_requests;
  PacedWaitGroup watches;
  InFlightLimits in_flight{400, 200};
  RequestMetrics metrics;
  ChainConfig config;
  TestHandler handler;
};

}  // namespace backplane::filters_testing
