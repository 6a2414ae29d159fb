// Wraps an Exchange, and rewrites links in HTML responses so that they lead through the proxy. Other responses are unchanged.
//
// Thread-safety, errors: as Exchange.
// Lifetime:              borrows the wrapped exchange.
#pragma once

#include <memory>
#include <optional>

#include "backplane/net/forwarding_exchange.hpp"
#include "connections/html_links.hpp"
#include "connections/packed_text.hpp"

namespace backplane::core {

class LinkingExchange final : public ForwardingExchange {
 public:
  LinkingExchange(Exchange& inner, LinkRules rules) : ForwardingExchange(inner), rules_(std::move(rules)) {}

  void add_response_header(std::string name, std::string value) override;
  void set_response_header(std::string name, std::string value) override;
  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override;
  Task<Status> start(int code, std::string_view content_type) override;
  Task<Status> write(std::vector<SharedBytes> chunks) override;
  Task<void> finish() override;

 private:
  void note(std::string_view name, std::string_view value);
  void link_if_table(int code, std::string_view content_type);
  // Returns the rewritten text of `chunks`. If `at_end` is true, appends the text that is still buffered.
  std::vector<SharedBytes> rewritten(const std::vector<SharedBytes>& chunks, bool at_end);

  const LinkRules rules_;
  std::string coding_;
  bool redirects_ = false;
  std::optional<HtmlLinks> links_;      // set if the response is rewritten
  std::unique_ptr<PackedText> packed_;  // set if the response is rewritten and compressed
};

}  // namespace backplane::core
