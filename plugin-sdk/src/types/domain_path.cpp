#include "backplane/types/domain_path.hpp"

#include <algorithm>

#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {

void validate_domain_path(std::string_view text, const std::string& path, FieldErrors& errors) {
  const auto slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == text.size()) {
    return errors.invalid(path, text, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  const std::string_view domain = text.substr(0, slash), rest = text.substr(slash + 1);
  for (const std::string& problem : is_dns1123_subdomain(domain)) errors.invalid(path, domain, problem);
  static constexpr std::string_view kMarks = "/-._~%!$&'()*+,;=:";
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
  };
  if (std::all_of(rest.begin(), rest.end(), allowed)) return;
  errors.invalid(path, rest, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
}

}  // namespace BACKPLANE_API
