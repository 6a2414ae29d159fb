// An Exchange before another, whose HTML answers get links that lead through the proxy.  Everything else passes as it is.
//
// Thread-safety, errors: as Exchange.
// Lifetime:              borrows the exchange behind it.
#pragma once

#include <memory>
#include <optional>

#include "backplane/http.hpp"
#include "connections/html_links.hpp"
#include "connections/packed_text.hpp"

namespace backplane::core {

class LinkingExchange final : public Exchange {
 public:
  LinkingExchange(Exchange& behind, LinkRules rules) : behind_(behind), rules_(std::move(rules)) {}

  std::string_view method() const noexcept override { return behind_.method(); }
  std::string_view target() const noexcept override { return behind_.target(); }
  int http_major() const noexcept override { return behind_.http_major(); }
  std::string_view header(std::string_view name) const noexcept override { return behind_.header(name); }
  const Headers& headers() const noexcept override { return behind_.headers(); }
  std::string_view remote_address() const noexcept override { return behind_.remote_address(); }
  const PeerCertificate* peer_certificate() const noexcept override { return behind_.peer_certificate(); }
  bool peer_certificate_rejected() const noexcept override { return behind_.peer_certificate_rejected(); }
  Task<Result<std::string>> read_body(std::size_t max_bytes) override { return behind_.read_body(max_bytes); }
  Task<Result<std::string>> read_body_some() override { return behind_.read_body_some(); }
  void set_compressible(bool compressible) override { behind_.set_compressible(compressible); }
  Task<Status> switch_protocols(std::string_view protocol) override { return behind_.switch_protocols(protocol); }
  Task<std::string> read_some() override { return behind_.read_some(); }
  bool started() const noexcept override { return behind_.started(); }
  int response_code() const noexcept override { return behind_.response_code(); }
  void on_close(std::function<void()> callback) override { behind_.on_close(std::move(callback)); }
  bool closed() const noexcept override { return behind_.closed(); }
  void close_connection_after() override { behind_.close_connection_after(); }
  void abort() override { behind_.abort(); }

  void add_response_header(std::string name, std::string value) override;
  void set_response_header(std::string name, std::string value) override;
  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override;
  Task<Status> start(int code, std::string_view content_type) override;
  Task<Status> write(std::vector<SharedBytes> chunks) override;
  Task<void> finish() override;

 private:
  void note(std::string_view name, std::string_view value);
  void look_at(int code, std::string_view content_type);
  // What is to be sent in place of what has come; at the end, also what has been held back.
  std::vector<SharedBytes> rewritten(const std::vector<SharedBytes>& chunks, bool at_end);

  Exchange& behind_;
  const LinkRules rules_;
  std::string coding_;
  bool redirects_ = false;
  std::optional<HtmlLinks> links_;      // of an answer that is rewritten
  std::unique_ptr<PackedText> packed_;  // … and that is packed
};

}  // namespace backplane::core
