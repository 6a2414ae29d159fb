// For tests only: an exchange without a connection. The constructor gets the request, and the members store the response.
//
// Thread-safety: one executor. The test may call abort() after the handler has ended, or on the executor.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "backplane/points/close_callbacks.hpp"
#include "backplane/points/http.hpp"

namespace backplane::testing {

class FakeExchange final : public Exchange {
 public:
  FakeExchange(std::string method, std::string target, Headers headers, std::string body)
      : method_(std::move(method)), target_(std::move(target)), headers_(std::move(headers)), body_(std::move(body)) {}

  // ---- set and read by the test
  int code = 0;
  std::string content_type;
  std::string response_body;
  Headers response_headers;
  std::vector<std::string> writes;        // one text per write() of a streamed body
  std::vector<std::size_t> write_pieces;  // the number of pieces of each write()
  const void* first_piece = nullptr;      // the address of the first bytes that respond() has sent
  bool streamed = false;
  bool compressible = false;
  bool finished = false;
  bool aborted = false;
  // Further writes fail, as if the client had disconnected.
  std::size_t fail_after_writes = static_cast<std::size_t>(-1);
  CloseCallbacks close_callbacks;
  const Executor* expected_executor = nullptr;  // the executor that the handler must use; null: any executor
  std::atomic<int> wrong_executor_calls{0};     // calls on other executors

  std::vector<std::string> headers_named(std::string_view name) const {
    std::vector<std::string> out;
    for (const auto& [key, value] : response_headers) {
      if (key == name) out.push_back(value);
    }
    return out;
  }

  // ---- Exchange
  std::string_view method() const noexcept override { return method_; }
  std::string_view target() const noexcept override { return target_; }
  int http_major() const noexcept override { return 1; }
  std::string_view header(std::string_view name) const noexcept override {
    for (const auto& [key, value] : headers_) {
      if (same_name(key, name)) return value;
    }
    return {};
  }
  const Headers& headers() const noexcept override { return headers_; }
  std::string_view remote_address() const noexcept override { return "127.0.0.1:1"; }
  const PeerCertificate* peer_certificate() const noexcept override { return nullptr; }
  Task<Result<std::string>> read_body(std::size_t max_bytes) override {
    if (body_.size() > max_bytes) co_return Status(Reason::kRequestEntityTooLarge, "limit is " + std::to_string(max_bytes));
    co_return body_;
  }

  void add_response_header(std::string name, std::string value) override {
    check_executor();
    if (!started()) response_headers.emplace_back(std::move(name), std::move(value));
  }
  void set_response_header(std::string name, std::string value) override {
    check_executor();
    std::erase_if(response_headers, [&](const Header& header) { return header.first == name; });
    add_response_header(std::move(name), std::move(value));
  }
  Task<void> respond(int status, std::string_view type, std::vector<SharedBytes> body) override {
    check_executor();
    code = status;
    content_type = type;
    if (!body.empty()) first_piece = body.front().view().data();
    for (const SharedBytes& piece : body) response_body.append(piece.view());
    finished = true;
    co_return;
  }
  void set_compressible(bool wanted) override {
    check_executor();
    compressible = wanted;
  }
  Task<Status> start(int status, std::string_view type) override {
    check_executor();
    code = status;
    content_type = type;
    streamed = true;
    co_return Status();
  }
  Task<Status> write(std::vector<SharedBytes> chunks) override {
    if (writes.size() >= fail_after_writes) co_return Status(Reason::kTimeout, "the peer has gone");
    std::string text;
    check_executor();
    for (const SharedBytes& piece : chunks) text.append(piece.view());
    response_body.append(text);
    writes.push_back(std::move(text));
    write_pieces.push_back(chunks.size());
    co_return Status();
  }
  Task<void> finish() override {
    check_executor();
    finished = true;
    co_return;
  }
  bool started() const noexcept override { return code != 0; }
  int response_code() const noexcept override { return code; }
  std::uint64_t add_close_callback(std::function<void()> callback) override { return close_callbacks.add(std::move(callback)); }
  void remove_close_callback(std::uint64_t id) noexcept override { close_callbacks.remove(id); }
  bool closed() const noexcept override { return aborted; }
  void close_connection_after() override {}
  void abort() override { aborted = true; }

 private:
  void check_executor() {
    if (expected_executor != nullptr && current_executor() != expected_executor) ++wrong_executor_calls;
  }
  static bool same_name(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((a[i] | 0x20) != (b[i] | 0x20)) return false;
    }
    return true;
  }

  std::string method_;
  std::string target_;
  Headers headers_;
  std::string body_;
};

}  // namespace backplane::testing
