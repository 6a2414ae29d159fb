// GET requests to an OpenID provider: its discovery document, its keys, and the endpoints of distributed claims.
// Only https is allowed: keys that arrive over plain HTTP can be replaced by an attacker. Redirects are followed as Go's client follows
// them.
// Thread-safety: any executor, any number of calls at once.
// Lifetime:      shared; the host outlives it.
// Errors:        `Get "URL": …` with the reason of the connection's error, kBadRequest for a URL that is not https.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/net/client.hpp"

namespace backplane {
class Host;
}

namespace backplane::authentication {

struct OidcReply {
  int code = 0;
  Headers headers;
  std::string body;

  // "404 Not Found".
  std::string status_line() const;
  std::string_view header(std::string_view name) const noexcept;
};

class OidcClient {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  // `certificate_authority`: PEM, empty for the system's trust store. `dial`: empty for direct connections.
  OidcClient(Host& host, std::string certificate_authority, DialFunction dial)
      : host_(host), certificate_authority_(std::move(certificate_authority)), dial_(std::move(dial)) {}

  using Deadline = std::chrono::steady_clock::time_point;
  // `bearer`: sent as a bearer token, but not to another server that the URL redirects to. At most 30 s, not after `deadline`, and
  // kMostBytes of body.
  Task<Result<OidcReply>> get(std::string url, std::string bearer = {}, Deadline deadline = Deadline::max());

 private:
  Result<std::shared_ptr<HttpClient>> client_for(const std::string& origin);
  Task<Result<OidcReply>> get_once(const std::string& url, const std::string& bearer, Deadline deadline);

  Host& host_;
  const std::string certificate_authority_;
  const DialFunction dial_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<HttpClient>> clients_;
};

}  // namespace backplane::authentication
