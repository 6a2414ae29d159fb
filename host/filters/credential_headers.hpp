// The names of headers with credentials. No filter or handler after WithAuthentication gets these headers, so none can forward
// them.
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
  // Authorization, the usual headers of front proxies (X-Remote-User …), and, if front proxies are accepted, those that `config` names.
  explicit CredentialHeaders(const RequestHeaderConfig& config);
  // Compares without case.
  bool contains(std::string_view header) const noexcept;

 private:
  std::vector<std::string> names_, prefixes_;  // in small letters
};

}  // namespace backplane
