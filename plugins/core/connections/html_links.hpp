// Links in HTML: those that lead to a backend's own host are made to lead through a proxy before it.
//
// The text passes in pieces; at most one tag is buffered, and a tag longer than kMaxTag is passed unchanged.
// Thread-safety: one executor.
// Errors:        none: what is no HTML passes as it is.
#pragma once

#include <string>
#include <string_view>

namespace backplane::core {

// Where a page comes from, and where it is seen.
struct LinkRules {
  std::string backend;       // "host:port"
  std::string request_host;  // of the Host header
  std::string prefix;        // the path of this server before the backend's
};

// path.Join of the parts of a path: no empty part, no "." and "..".  A slash at its end stays; an empty path too.
std::string clean_path(std::string_view path);
// The link as it is to be sent.
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
  std::string raw_;     // the element whose content is no markup: "script"
};

}  // namespace backplane::core
