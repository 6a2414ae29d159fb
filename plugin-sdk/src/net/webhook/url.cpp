#include <algorithm>

#include "backplane/net/webhook.hpp"

namespace backplane BACKPLANE_API {

WebhookUrl split_webhook_url(std::string_view url) {
  WebhookUrl out;
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return out;
  const std::size_t path = std::min(url.find('/', scheme + 3), url.size());
  const std::string_view authority = url.substr(scheme + 3, path - scheme - 3);
  out.server = url.substr(0, path);
  out.path = url.substr(path);
  const std::size_t end = authority.starts_with('[') ? authority.find(']') + 1 : std::min(authority.find(':'), authority.size());
  out.host = authority.substr(0, end);
  return out;
}

}  // namespace BACKPLANE_API
