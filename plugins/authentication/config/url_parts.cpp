#include "config/url_parts.hpp"

#include <algorithm>

namespace backplane::authentication {
namespace {

// Shortens `text` to the part before the first `mark`, and returns the part after it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t found = text.find(mark);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = text.substr(found + 1);
  text = text.substr(0, found);
  return rest;
}

bool has_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  return colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
}

}  // namespace

UrlParts url_parts(std::string_view url) {
  UrlParts out;
  out.fragment = cut(url, '#');
  out.query = cut(url, '?');
  const std::size_t colon = url.find(':');
  if (colon != std::string_view::npos && url.find('/') > colon) {
    for (const char c : url.substr(0, colon)) out.scheme.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
    url.remove_prefix(colon + 1);
  }
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    const std::size_t slash = std::min(url.find('/'), url.size());
    std::string_view authority = url.substr(0, slash);
    url.remove_prefix(slash);
    const std::size_t user = authority.rfind('@');
    out.has_user = user != std::string_view::npos;
    out.host = out.has_user ? authority.substr(user + 1) : authority;
  }
  out.path = url;
  return out;
}

std::string UrlParts::origin() const { return scheme + "://" + host + (has_port(host) ? "" : ":443"); }

std::string UrlParts::target() const { return (path.empty() ? "/" : path) + (query.empty() ? "" : "?" + query); }

std::string resolved_url(const UrlParts& base, std::string_view reference) {
  if (reference.starts_with("//")) return base.scheme + ":" + std::string(reference);
  if (reference.starts_with('/')) return base.scheme + "://" + base.host + std::string(reference);
  return std::string(reference);
}

}  // namespace backplane::authentication
