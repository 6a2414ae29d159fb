#include "conformance/api.hpp"

#include <chrono>
#include <utility>

#include "client/remote_client.hpp"

namespace backplane::conformance {
namespace {

constexpr std::chrono::seconds kCallTimeout{30};

struct Reply {
  Answer answer;
  std::unique_ptr<HttpAnswer> open;  // the rest of the response to a watch
};

Object object_in(const std::string& body) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  Value value = json::parse(body, error, {}, options);
  return !error && value.is_object() ? std::move(value.get_object()) : Object();
}

Task<Reply> send_and_read(std::shared_ptr<HttpClient> client, HttpCall call) {
  Reply reply;
  const bool lasting = call.lasting;
  auto calling = client->call(std::move(call));
  auto got = co_await std::move(calling);
  if (!got.ok()) {
    reply.answer.body = got.status().message();
    co_return reply;
  }
  reply.answer.headers = (*got)->headers();
  if (lasting && (*got)->code() == 200) {
    reply.answer.code = 200;
    reply.open = std::move(*got);
    co_return reply;
  }
  auto reading = read_all(**got);
  auto body = co_await std::move(reading);
  if (!body.ok()) {
    reply.answer.body = body.status().message();
    co_return reply;
  }
  reply.answer.code = (*got)->code();
  reply.answer.body = std::move(*body);
  reply.answer.object = object_in(reply.answer.body);
  co_return reply;
}

Task<std::string> read_more(HttpAnswer& answer) {
  auto reading = answer.read();
  auto bytes = co_await std::move(reading);
  co_return bytes.ok() ? std::move(*bytes) : std::string();
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string_view Answer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return value;
  }
  return {};
}

EventStream::EventStream(Executor& executor, Answer head, std::unique_ptr<HttpAnswer> answer)
    : executor_(executor), head_(std::move(head)), answer_(std::move(answer)) {}

std::optional<Object> EventStream::next() {
  while (answer_ != nullptr) {
    const auto end = rest_.find('\n');
    if (end != std::string::npos) {
      Object event = object_in(rest_.substr(0, end));
      rest_.erase(0, end + 1);
      return event;
    }
    const std::string bytes = run_on(executor_, read_more(*answer_));
    if (bytes.empty()) answer_.reset();
    rest_ += bytes;
  }
  return std::nullopt;
}

Result<std::unique_ptr<Api>> Api::connect(ClientConfig config) {
  config.user_agent = "conformance/1";
  std::unique_ptr<Api> api(new Api);
  auto client = make_remote_client(api->loop_, api->tasks_, std::move(config));
  if (!client.ok()) return std::move(client.status());
  api->client_ = std::move(*client);
  api->loop_.start();
  return api;
}

Api::~Api() {
  if (client_ == nullptr) return;
  client_.reset();
  tasks_.close();
  run_on(loop_, tasks_.wait_all());
  loop_.stop();
}

Answer Api::send(std::string method, std::string target, std::string body, Headers headers) {
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  call.body = std::move(body);
  call.headers = std::move(headers);
  call.deadline = std::chrono::steady_clock::now() + kCallTimeout;
  return run_on(loop_, send_and_read(client_, std::move(call))).answer;
}

Answer Api::write(std::string method, std::string target, const Object& object) {
  return send(std::move(method), std::move(target), to_json(object), {{"Content-Type", std::string(kJson)}});
}

Answer Api::patch(std::string target, std::string_view type, std::string body) {
  return send("PATCH", std::move(target), std::move(body), {{"Content-Type", "application/" + std::string(type)}});
}

Answer Api::remove(std::string target, std::string body) {
  Headers headers;
  if (!body.empty()) headers.emplace_back("Content-Type", kJson);
  return send("DELETE", std::move(target), std::move(body), std::move(headers));
}

EventStream Api::watch(std::string target, std::string_view accept) {
  HttpCall call;
  call.target = std::move(target);
  call.headers.emplace_back("Accept", accept);
  call.lasting = true;
  call.deadline = std::chrono::steady_clock::now() + kCallTimeout;
  Reply reply = run_on(loop_, send_and_read(client_, std::move(call)));
  return EventStream(loop_, std::move(reply.answer), std::move(reply.open));
}

}  // namespace backplane::conformance
