// A process that signs service account tokens: the gRPC service ExternalJWTSigner of k8s.io/externaljwt v1, on a Unix socket.
//
// Plugins that use this header link OpenSSL::Crypto.
//
// Thread-safety: any thread.
// Lifetime:      shared; refresh() keeps it alive.
// Errors:        kBadRequest; the messages are upstream's (kubernetes/pkg/serviceaccount/externaljwt).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/logger.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/turns.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/kit/jose_key.hpp"
#include "backplane/net/grpc.hpp"

namespace backplane BACKPLANE_API {
class Host;
class Signal;
namespace kit BACKPLANE_API {

class ExternalSigner : public std::enable_shared_from_this<ExternalSigner> {
 public:
  // The keys of one response.
  struct Keys {
    KeySet verifying;                      // all
    std::vector<Object> published;         // JSON Web Keys of the keys that discovery may publish
    std::vector<std::string> unpublished;  // ids of the other keys, which must not sign
    std::chrono::steady_clock::time_point refresh;
  };
  using KeysRef = std::shared_ptr<const Keys>;

  // `client`: of the socket (make_client()). `logger` outlives the signer.
  ExternalSigner(std::shared_ptr<HttpClient> client, Logger& logger);
  // A client for the socket at `path`.
  static Result<std::shared_ptr<HttpClient>> make_client(Host& host, const std::string& path);

  // Fetches the keys and the longest validity, as the server starts. Waits at most a minute for the process.
  Task<Status> start();
  // Fetches the keys when the process recommends it, until `stop` fires.
  Task<void> refresh(Signal& stop);

  // The keys of the last valid response; empty before start().
  KeysRef keys() const;
  // The same, fetched again if none of them has the id.
  Task<KeysRef> keys_for(std::string key_id);
  // The longest validity that the process signs; 0 before start().
  std::int64_t longest_seconds() const noexcept { return longest_seconds_.load(); }
  // The token with these claims.
  Task<Result<std::string>> sign(std::string payload);

 private:
  Task<Status> fetch();
  Task<Status> fetch_metadata();
  // Waits for a connection within `limit`.
  Task<grpc::UnaryAnswer> call(std::string method, std::string request, std::chrono::seconds limit);
  Task<Result<std::string>> signed_token(std::string payload, std::string& code);
  Status check_header(std::string_view header) const;

  const std::shared_ptr<HttpClient> client_;
  Logger& logger_;
  mutable std::mutex mutex_;
  KeysRef keys_;
  Turns fetching_{1};
  std::atomic<std::int64_t> longest_seconds_{0};
};

// ---- messages of the service, for tests
//
// FetchKeysResponse. Errors: for responses that upstream refuses.
Result<ExternalSigner::Keys> read_external_keys(std::string_view message, std::chrono::steady_clock::time_point now);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
