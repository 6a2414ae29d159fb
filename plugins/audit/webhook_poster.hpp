// Posts event lists to the server of a kubeconfig, and retries failed calls.
//
// Thread-safety: post() on any executor, any number at once; abort_retries() from any thread.
// Lifetime:      shared; a call keeps it alive.  The host outlives it.
// Errors:        the last attempt's, with client-go's message.
// Source:        k8s.io/apiserver/plugin/pkg/audit/webhook, pkg/util/webhook.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane {
class Host;
}

namespace backplane::audit {

class WebhookPoster : public std::enable_shared_from_this<WebhookPoster> {
 public:
  // `first_pause`: the pause between the first two attempts.
  static Result<std::shared_ptr<WebhookPoster>> make(Host& host, const std::string& kubeconfig, std::chrono::nanoseconds first_pause);
  WebhookPoster(std::shared_ptr<HttpClient> client, std::string url, std::string target, Headers headers,
                std::chrono::nanoseconds first_pause)
      : client_(std::move(client)),
        url_(std::move(url)),
        target_(std::move(target)),
        headers_(std::move(headers)),
        first_pause_(first_pause) {}

  // Sends `body` as application/json. Tries again after any error, up to five times in total.
  Task<Status> post(std::string body);
  // Ends all pauses; from now on there are none, and each call is tried once more at most.  Attempts in progress end after `limit`.
  void abort_retries(Executor& executor, std::chrono::nanoseconds limit);

 private:
  Task<Status> attempt(std::string body);
  // Waits before the next attempt. Returns false if abort_retries() has been called.
  Task<bool> pause(int attempt);

  const std::shared_ptr<HttpClient> client_;
  const std::string url_;     // for messages
  const std::string target_;  // the target of the request
  const Headers headers_;
  const std::chrono::nanoseconds first_pause_;

  std::mutex mutex_;
  bool retries_aborted_ = false;
  bool broken_ = false;
  std::set<std::shared_ptr<CallBreaker>> calls_;
  std::map<std::uint64_t, Promise<bool>> pauses_;
  std::uint64_t next_pause_ = 0;
};

}  // namespace backplane::audit
