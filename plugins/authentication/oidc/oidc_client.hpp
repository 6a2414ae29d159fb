// GET requests to an OpenID provider: its discovery document, its keys, and the endpoints of distributed claims.
// Only https is allowed, because an attacker can replace keys that are sent over plain HTTP. Redirects are followed like Go's client does.
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
  // Sends a GET request. `bearer`: a bearer token, which is not sent to other servers after a redirect. The call ends after 30 s or at
  // `deadline`, whichever is earlier. A body of more than kMostBytes is an error.
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
