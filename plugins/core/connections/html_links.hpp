// Rewrites links in HTML so that links to the backend's host lead through the proxy.
//
// feed() converts the text piece by piece. At most one tag is buffered; a tag longer than kMaxTag is not rewritten.
// Thread-safety: one executor.
// Errors:        none: text that is not HTML is unchanged.
#pragma once

#include <string>
#include <string_view>

namespace backplane::core {

// The address of a page at the backend, and the address at this server.
struct LinkRules {
  std::string backend;       // "host:port"
  std::string request_host;  // the Host header of the client's request
  std::string prefix;        // the part of the request's path that precedes the backend's path
};

// Like Go's path.Join: removes empty parts and "." and resolves "..". Unlike path.Join, retains a slash at the end. An empty path stays
// empty.
std::string clean_path(std::string_view path);
// The rewritten link.
std::string rewrite_link(const LinkRules& rules, std::string_view link);

class HtmlLinks {
 public:
  static constexpr std::size_t kMaxTag = 64 << 10;

  explicit HtmlLinks(LinkRules rules) : rules_(std::move(rules)) {}
  std::string feed(std::string_view piece);
  // Returns the text that is still buffered, unchanged.
  std::string end();

 private:
  bool read_text(std::string& out);
  bool read_markup(std::string& out);
  void rewrite_tag(std::string& out, std::string_view tag);

  std::string_view unread() const noexcept { return std::string_view(held_).substr(at_); }

  const LinkRules rules_;
  std::string held_;
  std::size_t at_ = 0;  // the position in held_ up to which feed() has returned the text
  std::string raw_;     // the open element whose content is not markup, such as "script"; empty: none
};

}  // namespace backplane::core
