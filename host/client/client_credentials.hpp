// Credentials and trusted CAs of a client, read again when the files of its configuration change.
//
// Thread-safety: any thread.
// Lifetime:      shared; credentials in use outlive a change.
// Errors:        load(): kBadRequest for a file that cannot be read, or is no certificate, key or authority. Later, files that cannot be
//                used are logged, and the former contents stay in use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/kit/published.hpp"
#include "backplane/net/client.hpp"
#include "transport/openssl_ptr.hpp"

namespace backplane {

struct ClientCredentials {
  std::shared_ptr<SSL_CTX> context;
  std::string token;
  int generation = 0;  // the newest has the highest
};

class CredentialFiles : public std::enable_shared_from_this<CredentialFiles> {
 public:
  static Result<std::shared_ptr<CredentialFiles>> load(ClientConfig config);

  std::shared_ptr<const ClientCredentials> current() const { return current_.get(); }
  // False: no credential is read from a file, so refresh() never does anything.
  bool due();
  // Checks the files if the interval has passed, and reads the changed ones, on the blocking pool.
  Task<void> refresh();

 private:
  explicit CredentialFiles(ClientConfig config);
  Status read();
  void look();
  std::string signature() const;

  const ClientConfig config_;
  const bool has_files_;
  kit::Published<ClientCredentials> current_{nullptr};
  std::atomic<std::chrono::steady_clock::rep> next_look_{0};
  std::mutex mutex_;  // guards the members below
  std::string seen_;  // the signature that the last reading was tried with
  ClientConfig texts_;
};

}  // namespace backplane
