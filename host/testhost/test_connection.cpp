#include "testhost/test_connection.hpp"

#include <utility>

#include "client/remote_client.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kCallLimit{30};

Task<Response> send_and_read(std::shared_ptr<HttpClient> client, HttpCall call) {
  auto calling = client->call(std::move(call));
  auto got = co_await std::move(calling);
  if (!got.ok()) co_return Response{0, got.status().message()};
  auto reading = read_all(**got);
  auto body = co_await std::move(reading);
  if (!body.ok()) co_return Response{0, body.status().message()};
  co_return Response{(*got)->code(), std::move(*body)};
}

}  // namespace

Response EventQueue::head() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return head_.has_value(); });
  return *head_;
}

std::optional<std::string> EventQueue::next(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return ended_ || !lines_.empty(); });
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

bool EventQueue::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_ && lines_.empty();
}

void EventQueue::close() { breaker_->break_off(Status(Reason::kTimeout, "the watch is closed")); }

void EventQueue::set_head(Response head) {
  const std::lock_guard lock(mutex_);
  head_ = std::move(head);
  changed_.notify_all();
}

void EventQueue::add(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  rest_ += bytes;
  for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
    lines_.push_back(rest_.substr(0, end));
    rest_.erase(0, end + 1);
  }
  changed_.notify_all();
}

void EventQueue::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

Result<std::unique_ptr<TestConnection>> TestConnection::open(ClientConfig config) {
  config.user_agent = "backplane-testing/1";
  std::unique_ptr<TestConnection> connection(new TestConnection);
  auto client = make_remote_client(connection->loop_, connection->tasks_, std::move(config));
  if (!client.ok()) return std::move(client.status());
  connection->client_ = std::move(*client);
  connection->loop_.start();
  return connection;
}

TestConnection::~TestConnection() {
  if (client_ == nullptr) return;
  for (const auto& each : watches_) {
    if (const auto events = each.lock()) events->close();
  }
  client_.reset();
  tasks_.close();
  run_on(loop_, tasks_.wait_all());
  loop_.stop();
}

Response TestConnection::send(std::string method, std::string target, std::string content_type, std::string body) {
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  call.body = std::move(body);
  if (!content_type.empty()) call.headers.emplace_back("Content-Type", std::move(content_type));
  call.deadline = std::chrono::steady_clock::now() + kCallLimit;
  return run_on(loop_, send_and_read(client_, std::move(call)));
}

std::shared_ptr<EventQueue> TestConnection::watch(std::string target) {
  auto events = std::make_shared<EventQueue>();
  HttpCall call;
  call.target = std::move(target);
  call.lasting = true;
  call.breaker = events->breaker_;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(watches_, [](const auto& each) { return each.expired(); });
    watches_.push_back(events);
  }
  if (!tasks_.spawn(loop_, "watch", follow(client_, std::move(call), events))) {
    events->set_head({0, "the host has stopped"});
    events->end();
  }
  return events;
}

Task<void> TestConnection::follow(std::shared_ptr<HttpClient> client, HttpCall call, std::shared_ptr<EventQueue> events) {
  auto calling = client->call(std::move(call));
  auto got = co_await std::move(calling);
  client.reset();  // the response does not need the client
  if (!got.ok()) {
    events->set_head({0, got.status().message()});
  } else if ((*got)->code() != 200) {
    auto reading = read_all(**got);
    auto body = co_await std::move(reading);
    events->set_head({(*got)->code(), body.ok() ? std::move(*body) : body.status().message()});
  } else {
    events->set_head({200, {}});
    for (;;) {
      auto reading = (*got)->read();
      auto bytes = co_await std::move(reading);
      if (!bytes.ok() || bytes->empty()) break;
      events->add(*bytes);
    }
  }
  events->end();
}

}  // namespace backplane
