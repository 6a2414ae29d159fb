// Tests only: requests, objects and clocks for tests of bearer tokens.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "tokens/object_reader.hpp"
#include "tokens/token_source.hpp"
#include "turn_executor.hpp"

namespace backplane::authentication {

// A GET request for "/" that has only headers.
class HeaderExchange final : public Exchange {
 public:
  explicit HeaderExchange(Headers headers) : headers_(std::move(headers)) {}
  std::string_view method() const noexcept override { return "GET"; }
  std::string_view target() const noexcept override { return "/"; }
  int http_major() const noexcept override { return 1; }
  std::string_view header(std::string_view name) const noexcept override {
    for (const auto& [key, value] : headers_) {
      if (key == name) return value;
    }
    return {};
  }
  const Headers& headers() const noexcept override { return headers_; }
  std::string_view remote_address() const noexcept override { return {}; }
  const PeerCertificate* peer_certificate() const noexcept override { return nullptr; }
  Task<Result<std::string>> read_body(std::size_t) override { co_return std::string(); }
  void add_response_header(std::string, std::string) override {}
  void set_response_header(std::string, std::string) override {}
  Task<void> respond(int, std::string_view, std::vector<SharedBytes>) override { co_return; }
  Task<Status> start(int, std::string_view) override { co_return Status(); }
  void set_compressible(bool) override {}
  Task<Status> write(std::vector<SharedBytes>) override { co_return Status(); }
  Task<void> finish() override { co_return; }
  bool started() const noexcept override { return false; }
  int response_code() const noexcept override { return 0; }
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {}
  void abort() override {}

  std::uint64_t add_close_callback(std::function<void()>) override { return 0; }
  void remove_close_callback(std::uint64_t) noexcept override {}

 private:
  const Headers headers_;
};

// Objects by "resource/namespace/name".
class FakeObjects final : public ObjectReader {
 public:
  Task<Result<Object>> get(std::string resource, std::string ns, std::string name) override {
    if (!error.ok()) co_return error;
    const auto found = objects.find(resource + "/" + ns + "/" + name);
    if (found == objects.end()) co_return not_found("", resource, name);
    co_return found->second;
  }
  void put(const std::string& key, std::string_view text) { objects[key] = json::parse(text).get_object(); }

  std::map<std::string, Object> objects;
  Status error;
};

template <class T>
Task<void> keep_result(Task<T> task, std::optional<T>& result) {
  result = co_await std::move(task);
}

// Runs a task that waits for nothing outside `turns`.
template <class T>
T result_of(Task<T> task) {
  test::TurnExecutor turns;
  std::optional<T> result;
  turns.start(keep_result(std::move(task), result));
  turns.run_until_idle();
  return std::move(result.value());
}

// Returns the name of the user; "unknown" if there is none; the message of an error.
inline std::string outcome(const AuthenticationResult& result) {
  if (!result.ok()) return result.status().message();
  return result->has_value() ? (*result)->user.name : "unknown";
}

}  // namespace backplane::authentication
