// For tests: an exchange that has only request headers.
//
// Thread-safety: one test.
#pragma once

#include "backplane/points/http.hpp"

namespace backplane::tracing {

class HeadersOnly final : public Exchange {
 public:
  Headers request_headers;

  std::string_view method() const noexcept override { return "GET"; }
  std::string_view target() const noexcept override { return "/api/v1/pods?limit=1"; }
  int http_major() const noexcept override { return 2; }
  std::string_view header(std::string_view name) const noexcept override {
    for (const auto& [key, value] : request_headers) {
      if (key == name) return value;
    }
    return {};
  }
  const Headers& headers() const noexcept override { return request_headers; }
  std::string_view remote_address() const noexcept override { return "[::1]:4000"; }
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
  int response_code() const noexcept override { return 200; }
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {}
  void abort() override {}

 protected:
  std::uint64_t add_close_callback(std::function<void()>) override { return 0; }
  void remove_close_callback(std::uint64_t) noexcept override {}
};

}  // namespace backplane::tracing
