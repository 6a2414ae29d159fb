// The names of headers with credentials. WithAuthentication hides these headers from the inner filters and the handler, so that they cannot
// forward them.
//
// Thread-safety: immutable.
// Lifetime:      a value.
// Source:        apiserver/pkg/endpoints/filters/authentication.go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "security/request_header.hpp"

namespace backplane {

class CredentialHeaders {
 public:
  // The names are Authorization and the default headers of front proxies (X-Remote-User …). If `config` enables front proxies, the headers
  // that it names are added.
  explicit CredentialHeaders(const RequestHeaderConfig& config);
  // Compares without regard to case.
  bool contains(std::string_view header) const noexcept;

 private:
  std::vector<std::string> names_, prefixes_;  // lower-case
};

}  // namespace backplane
