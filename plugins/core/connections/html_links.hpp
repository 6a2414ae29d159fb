// Rewrites links in HTML: links to the backend's host become links through the proxy.
//
// The text passes in pieces; at most one tag is buffered, and a tag longer than kMaxTag is passed unchanged.
// Thread-safety: one executor.
// Errors:        none: text that is not HTML is unchanged.
#pragma once

#include <string>
#include <string_view>

namespace backplane::core {

// The address of a page at the backend, and the address at this server.
struct LinkRules {
  std::string backend;       // "host:port"
  std::string request_host;  // of the Host header
  std::string prefix;        // the path of this server before the backend's
};

// path.Join of the parts of a path: without empty parts, "." and "..". A slash at the end, and an empty path, are retained.
std::string clean_path(std::string_view path);
// The rewritten link.
std::string rewrite_link(const LinkRules& rules, std::string_view link);

class HtmlLinks {
 public:
  static constexpr std::size_t kMaxTag = 64 << 10;

  explicit HtmlLinks(LinkRules rules) : rules_(std::move(rules)) {}
  std::string feed(std::string_view piece);
  // The buffered text.
  std::string end();

 private:
  bool read_text(std::string& out);
  bool read_markup(std::string& out);
  void rewrite_tag(std::string& out, std::string_view tag);

  std::string_view unread() const noexcept { return std::string_view(held_).substr(at_); }

  const LinkRules rules_;
  std::string held_;
  std::size_t at_ = 0;  // the text before it has been forwarded
  std::string raw_;     // the current element whose content is no markup: "script"
};

}  // namespace backplane::core
