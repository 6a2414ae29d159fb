// Credentials and trusted CAs of a client. They are read again when the files of the client's configuration change.
//
// Thread-safety: any thread.
// Lifetime:      shared; a ClientCredentials object stays valid after a reload.
// Errors:        load() returns kBadRequest if a file cannot be read or does not contain a valid certificate, key or CA. After load(),
//                invalid files are logged, and the previous contents stay in use.
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
  int generation = 0;  // increases by one with each reload
};

class CredentialFiles : public std::enable_shared_from_this<CredentialFiles> {
 public:
  static Result<std::shared_ptr<CredentialFiles>> load(ClientConfig config);

  std::shared_ptr<const ClientCredentials> current() const { return current_.get(); }
  // Returns true if the credentials come from files and ClientConfig::reload_interval has passed since due() last returned true. The caller
  // then calls refresh().
  bool due();
  // Checks the files on the blocking pool, and reads all of them if one has changed.
  Task<void> refresh();

 private:
  explicit CredentialFiles(ClientConfig config);
  Status read();
  void look();
  std::string signature() const;

  const ClientConfig config_;
  const bool has_files_;
  kit::Published<ClientCredentials> current_{nullptr};
  std::atomic<std::chrono::steady_clock::rep> next_check_{0};
  std::mutex mutex_;  // guards seen_ and texts_
  std::string seen_;  // the file signature at the last attempt to read the files
  ClientConfig texts_;
};

}  // namespace backplane
