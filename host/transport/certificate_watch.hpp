// Reloads the TLS contexts when their files change.
//
// The files are checked periodically. A check compares modification time, size and inode, so it detects an atomic rename and a changed
// symbolic link. Changed files are loaded on the blocking pool, and new contexts replace the old ones. Open connections keep their
// contexts, but their client certificates are verified with the current authorities.
//
// Thread-safety: start() is called once, after load(). The other methods may be called from any thread; refresh() blocks on files.
// Lifetime:      the timer shares the object.
// Errors:        load() returns the error. refresh() logs files that cannot be used, once for each change; their previous contents stay in
//                use, together with the new contents of other files.
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
  // Loads all files for the first time.
  Status load();
  std::shared_ptr<const TlsContexts> current() const { return current_.get(); }
  // Checks the files periodically, on `executor`.
  void start(Executor& executor);
  void stop();
  // Loads the files now if one has changed. Returns true if new contexts are in use.
  bool refresh();

 private:
  void arm();
  std::string signature() const;
  bool refresh_group(std::size_t index);
  void use_contexts(std::shared_ptr<const TlsContexts> contexts);

  const ServingOptions options_;
  const std::shared_ptr<ClientTrust> trust_;
  TlsMaterial material_;  // the contents of the files that are in use; guarded by refresh_mutex_
  kit::Published<TlsContexts> current_{nullptr};
  std::mutex refresh_mutex_;
  std::string seen_;  // the file signature at the last attempt to load; guarded by refresh_mutex_
  Executor* executor_ = nullptr;
  std::mutex timer_mutex_;
  bool stopped_ = false;
  std::function<void()> cancel_timer_;
};

}  // namespace backplane
