// Posts reviews (TokenReview, SubjectAccessReview) to the server of a kubeconfig, as apiserver/pkg/util/webhook does.
//
// Thread-safety: post() on any executor, any number at once.
// Lifetime:      shared; the host must outlive it. A running post() owns a reference.
// Errors:        `Post "URL": …` if there was no response. For a response with an error code: the metav1.Status in its body, or client-go's
//                text for the code. Otherwise the errors of the decoder.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/kit/kubeconfig.hpp"
#include "backplane/net/webhook.hpp"

namespace backplane {

class Host;

namespace kit BACKPLANE_API {

// The result of one attempt, for metrics.
struct ReviewAttempt {
  enum class End : unsigned char { kSuccess, kError, kTimeout, kCancelled };
  End end = End::kSuccess;
  int code = 0;  // 0: no response
  std::chrono::nanoseconds took{};
};
// Returns upstream's label value: "success", "error", "timeout" or "canceled".
std::string_view review_result(ReviewAttempt::End end) noexcept;

struct ReviewWebhookOptions {
  ReviewWebhookOptions() { retries.attempts = 5; }
  std::chrono::milliseconds timeout{30'000};  // the limit of one attempt
  WebhookRetries retries;
  std::size_t max_answer_bytes = std::size_t{4} << 20;
};

// Returns the review in a response body, or an error.
using ReviewDecoder = std::function<Result<Object>(std::string_view body)>;
using ReviewObserver = std::function<void(const ReviewAttempt& attempt)>;

class ReviewWebhook : public std::enable_shared_from_this<ReviewWebhook> {
 public:
  // Connects through the control plane's egress proxy if one is configured. Errors: those of Host::make_client().
  static Result<std::shared_ptr<ReviewWebhook>> make(Host& host, KubeconfigServer server, ReviewWebhookOptions options = {});

  // Sends `body` as application/json. Returns the decoded response, or the last error, at `deadline` at the latest. An attempt is repeated
  // after a pause if the connection was lost, if the response is 429, 500, 504 or another error that client-go treats as internal, or if it
  // has a Retry-After header. `observe` is called after each attempt on the executor that awaits post(); it may be empty.
  Task<Result<Object>> post(std::string body, ReviewDecoder decode, std::chrono::steady_clock::time_point deadline, ReviewObserver observe);

 private:
  struct Attempt {
    Result<Object> answer;
    ReviewAttempt seen;
    bool may_be_repeated = false;
  };
  ReviewWebhook(std::shared_ptr<HttpClient> client, std::string url, std::string target, Headers headers, ReviewWebhookOptions options)
      : client_(std::move(client)), url_(std::move(url)), target_(std::move(target)), headers_(std::move(headers)), options_(options) {}
  Task<Attempt> attempt(const std::string& body, const ReviewDecoder& decode, std::chrono::steady_clock::time_point deadline);

  const std::shared_ptr<HttpClient> client_;
  const std::string url_;     // the URL in messages
  const std::string target_;  // the request target
  const Headers headers_;
  const ReviewWebhookOptions options_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
