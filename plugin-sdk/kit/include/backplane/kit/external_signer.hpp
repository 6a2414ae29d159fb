// The client of a process that signs service account tokens: the gRPC service ExternalJWTSigner of k8s.io/externaljwt v1, on a Unix socket.
//
// Plugins that use this header link OpenSSL::Crypto.
//
// Thread-safety: any thread.
// Lifetime:      shared; a running refresh() owns a reference.
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
    KeySet verifying;                      // all keys
    std::vector<Object> published;         // JSON Web Keys of those keys that discovery may publish
    std::vector<std::string> unpublished;  // ids of the other keys, which must not sign
    std::chrono::steady_clock::time_point refresh;
  };
  using KeysRef = std::shared_ptr<const Keys>;

  // `client`: a client for the socket (make_client()). `logger` must outlive the signer.
  ExternalSigner(std::shared_ptr<HttpClient> client, Logger& logger);
  // Returns a client for the socket at `path`.
  static Result<std::shared_ptr<HttpClient>> make_client(Host& host, const std::string& path);

  // Fetches the keys and the longest validity. Call it at startup. Waits at most a minute for the process.
  Task<Status> start();
  // Fetches the keys again whenever the process recommends it, until `stop` fires.
  Task<void> refresh(Signal& stop);

  // The keys of the last valid response; empty before start().
  KeysRef keys() const;
  // Returns keys(); if none of them has the id `key_id`, fetches the keys again first.
  Task<KeysRef> keys_for(std::string key_id);
  // The longest validity of tokens that the process signs, in seconds; 0 before start().
  std::int64_t longest_seconds() const noexcept { return longest_seconds_.load(); }
  // Returns a signed token with the claims `payload`.
  Task<Result<std::string>> sign(std::string payload);

 private:
  Task<Status> fetch();
  Task<Status> fetch_metadata();
  // Makes a call that waits for a connection and the response for at most `limit`.
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
// Parses a FetchKeysResponse. Errors: for responses that upstream refuses.
Result<ExternalSigner::Keys> read_external_keys(std::string_view message, std::chrono::steady_clock::time_point now);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
