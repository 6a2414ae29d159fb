// The client of a test, for requests and watches. send() blocks until the response is complete; watch() returns at once.
//
// Thread-safety: any thread that does not belong to an executor; an EventQueue from one thread at a time.
// Lifetime:      the destructor ends the watches. An EventQueue may outlive the connection.
// Errors:        a request without a response is a Response with the code 0.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/net/client.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane {

struct Response {
  int code = 0;
  std::string body;
};

// The events of one watch. A task of the connection adds them.
class EventQueue {
 public:
  // Waits for the head of the response. It has a body only if the code is not 200.
  Response head();
  // Returns the next line of the stream. Nothing: no line within `limit`, or the stream has ended.
  std::optional<std::string> next(std::chrono::milliseconds limit);
  bool ended() const;
  // Ends the watch.
  void close();

 private:
  friend class TestConnection;
  void set_head(Response head);
  void add(std::string_view bytes);
  void end();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Response> head_;
  std::deque<std::string> lines_;
  std::string rest_;
  bool ended_ = false;
  const std::shared_ptr<CallBreaker> breaker_ = std::make_shared<CallBreaker>();
};

class TestConnection {
 public:
  // Errors: kBadRequest for a configuration that cannot be used.
  static Result<std::unique_ptr<TestConnection>> open(ClientConfig config);
  ~TestConnection();

  Response send(std::string method, std::string target, std::string content_type = {}, std::string body = {});
  std::shared_ptr<EventQueue> watch(std::string target);

 private:
  TestConnection() = default;
  static Task<void> follow(std::shared_ptr<HttpClient> client, HttpCall call, std::shared_ptr<EventQueue> events);

  IoLoop loop_{"test-host"};
  LoggedTaskGroup tasks_;
  std::shared_ptr<HttpClient> client_;
  std::mutex mutex_;  // guards watches_
  std::vector<std::weak_ptr<EventQueue>> watches_;
};

}  // namespace backplane
