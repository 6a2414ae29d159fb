// An Exchange that forwards every call to another Exchange. Derive from it to change single calls.
//
// Thread-safety, errors: like Exchange.
// Lifetime:      refers to the wrapped exchange, which must outlive it.
#pragma once

#include "backplane/core/visibility.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// While the inner handler runs, RequestContext::exchange must point to the derived exchange. Restore it afterwards on every path, also
// after an exception.
//
//   class Counted final : public ForwardingExchange {
//    public:
//     using ForwardingExchange::ForwardingExchange;
//     Task<Status> write(std::vector<SharedBytes> chunks) override {
//       for (const SharedBytes& chunk : chunks) bytes += chunk.size();
//       return inner().write(std::move(chunks));
//     }
//     std::size_t bytes = 0;
//   };
class ForwardingExchange : public Exchange {
 public:
  // `inner`: the wrapped exchange.
  explicit ForwardingExchange(Exchange& inner) : inner_(inner) {}
  ~ForwardingExchange() override;

  std::string_view method() const noexcept override { return inner_.method(); }
  std::string_view target() const noexcept override { return inner_.target(); }
  int http_major() const noexcept override { return inner_.http_major(); }
  std::string_view header(std::string_view name) const noexcept override { return inner_.header(name); }
  const Headers& headers() const noexcept override { return inner_.headers(); }
  std::string_view remote_address() const noexcept override { return inner_.remote_address(); }
  const PeerCertificate* peer_certificate() const noexcept override { return inner_.peer_certificate(); }
  bool peer_certificate_rejected() const noexcept override { return inner_.peer_certificate_rejected(); }
  Task<Result<std::string>> read_body(std::size_t max_bytes) override { return inner_.read_body(max_bytes); }
  Task<Result<std::string>> read_body_some() override { return inner_.read_body_some(); }

  void add_response_header(std::string name, std::string value) override { inner_.add_response_header(std::move(name), std::move(value)); }
  void set_response_header(std::string name, std::string value) override { inner_.set_response_header(std::move(name), std::move(value)); }
  void set_compressible(bool compressible) override { inner_.set_compressible(compressible); }
  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override {
    return inner_.respond(code, content_type, std::move(body));
  }
  Task<Status> start(int code, std::string_view content_type) override { return inner_.start(code, content_type); }
  Task<Status> write(std::vector<SharedBytes> chunks) override { return inner_.write(std::move(chunks)); }
  Task<void> finish() override { return inner_.finish(); }
  Task<Status> switch_protocols(std::string_view protocol) override { return inner_.switch_protocols(protocol); }
  Task<std::string> read_some() override { return inner_.read_some(); }
  bool started() const noexcept override { return inner_.started(); }
  int response_code() const noexcept override { return inner_.response_code(); }

  std::uint64_t add_close_callback(std::function<void()> callback) override { return inner_.add_close_callback(std::move(callback)); }
  void remove_close_callback(std::uint64_t id) noexcept override { inner_.remove_close_callback(id); }
  bool closed() const noexcept override { return inner_.closed(); }
  void close_connection_after() override { inner_.close_connection_after(); }
  void abort() override { inner_.abort(); }
  bool peer_gone() const noexcept override { return inner_.peer_gone(); }

 protected:
  // The wrapped exchange.
  Exchange& inner() const noexcept { return inner_; }

 private:
  Exchange& inner_;
};

}  // namespace BACKPLANE_API
