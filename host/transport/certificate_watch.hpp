// Keeps the TLS contexts equal to the files they come from.
//
// Files are checked periodically (modification time, size and inode, so an atomic rename or a switched link is seen); a change is loaded on
// the blocking pool, and new contexts replace the old ones. Open connections keep their contexts, but client certificates are verified with
// the current authorities.
//
// Thread-safety: current() from any thread; start() and stop() once each.
// Lifetime:      shared with its timer.
// Errors:        files that cannot be used are logged once; their old contents stay in use together with the new contents of other files.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "backplane/core/task.hpp"
#include "backplane/kit/published.hpp"
#include "transport/tls_contexts.hpp"

namespace backplane {

class CertificateWatch final : public std::enable_shared_from_this<CertificateWatch> {
 public:
  explicit CertificateWatch(ServingOptions options);
  // Loads for the first time.
  Status load();
  std::shared_ptr<const TlsContexts> current() const { return current_.get(); }
  // Checks the files periodically from now on, on `executor`.
  void start(Executor& executor);
  void stop();
  // Loads at once if a file has changed; true if new contexts are in use now.
  bool refresh();

 private:
  void arm();
  std::string signature() const;
  bool refresh_group(std::size_t index);
  void put_to_use(std::shared_ptr<const TlsContexts> contexts);

  const ServingOptions options_;
  const std::shared_ptr<ClientTrust> trust_;
  TlsMaterial material_;  // the bytes in use
  kit::Published<TlsContexts> current_{nullptr};
  std::mutex refresh_mutex_;
  std::string seen_;  // the signature the last load was tried with
  Executor* executor_ = nullptr;
  std::mutex timer_mutex_;
  bool stopped_ = false;
  std::function<void()> cancel_timer_;
};

}  // namespace backplane
