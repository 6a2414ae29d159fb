// The parts of a URL that url_problem() has accepted.
//
// Thread-safety: pure functions.
// Source:        Go's net/url.
#pragma once

#include <string>
#include <string_view>

namespace backplane::authentication {

struct UrlParts {
  std::string scheme;     // lower case
  bool has_user = false;  // the URL contains a user or a password
  std::string host;       // with the port, if there is one
  std::string path;       // not decoded
  std::string query, fragment;

  // "https://host:port"; the port is 443 if the URL has none.
  std::string origin() const;
  // path[?query]; "/" for an empty path.
  std::string target() const;
};
UrlParts url_parts(std::string_view url);
// Returns the URL to which `reference`, the value of a Location header, refers. Does not resolve relative paths: the result then has no
// host.
std::string resolved_url(const UrlParts& base, std::string_view reference);

}  // namespace backplane::authentication
