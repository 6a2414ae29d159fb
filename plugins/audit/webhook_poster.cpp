#include "webhook_poster.hpp"

#include "backplane/core/task_set.hpp"
#include "backplane/host.hpp"
#include "backplane/kit/kubeconfig.hpp"
#include "backplane/net/certificate_flaws.hpp"
#include "backplane/net/egress.hpp"
#include "backplane/net/webhook.hpp"

namespace backplane::audit {
namespace {

using Clock = std::chrono::steady_clock;

// wait.Backoff of audit webhooks.
constexpr int kAttempts = 5;
constexpr std::chrono::seconds kTimeout{30};
constexpr std::string_view kTimeoutQuery = "?timeout=30s";
// The body of a response is ignored. A body of more than kMostAnswerBytes ends the call.
constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 20;
constexpr std::size_t kShownAnswerBytes = 256;

Status answer_error(int code, const std::string& body) {
  const std::string text = body.substr(0, kShownAnswerBytes);
  return service_unavailable("an error on the server (" + backplane::quoted(text) + ") has prevented the request from succeeding, code " +
                             std::to_string(code));
}

}  // namespace

Result<std::shared_ptr<WebhookPoster>> WebhookPoster::make(Host& host, const std::string& kubeconfig,
                                                           std::chrono::nanoseconds first_pause) {
  auto server = kit::read_kubeconfig(kubeconfig);
  if (!server.ok()) return std::move(server).status();
  auto egress = EgressSelector::of(host);
  if (!egress.ok()) return std::move(egress).status();
  ClientConfig config = std::move(server->client);
  config.dial = (*egress)->dialer(EgressType::kControlPlane);
  config.connect_timeout = kTimeout;
  config.call_timeout = kTimeout;
  config.user_agent = "kube-apiserver";
  const std::string address = config.server;
  auto client = host.make_client(std::move(config));
  if (!client.ok()) return std::move(client).status();
  std::string target = server->path + std::string(kTimeoutQuery);
  return std::make_shared<WebhookPoster>(count_certificate_flaws(std::move(*client), "apiserver_webhooks"), address + target, target,
                                         std::move(server->headers), first_pause);
}

Task<Status> WebhookPoster::post(std::string body) {
  const auto alive = shared_from_this();
  for (int tries = 1;; ++tries) {
    auto trying = attempt(body);
    Status status = co_await std::move(trying);
    if (status.ok() || tries == kAttempts) co_return status;
    auto pausing = pause(tries);
    const bool full = co_await std::move(pausing);
    if (full) continue;
    auto last = attempt(std::move(body));
    status = co_await std::move(last);
    co_return status;
  }
}

Task<Status> WebhookPoster::attempt(std::string body) {
  HttpCall call;
  call.method = "POST";
  call.target = target_;
  call.headers = headers_;
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("Accept", "application/json, */*");
  call.body = std::move(body);
  call.deadline = Clock::now() + kTimeout;
  const auto breaker = call.breaker = std::make_shared<CallBreaker>();
  {
    const std::lock_guard lock(mutex_);
    if (broken_) co_return service_unavailable("Post " + backplane::quoted(url_) + ": the server stops");
    calls_.insert(breaker);
  }
  Status status;
  auto calling = client_->call(std::move(call));
  auto answer = co_await std::move(calling);
  if (answer.ok()) {
    auto reading = read_all(**answer, kMostAnswerBytes);
    auto text = co_await std::move(reading);
    const int code = (*answer)->code();
    if (code < 200 || code > 206) status = answer_error(code, text.ok() ? *text : "");
  } else {
    status = service_unavailable("Post " + backplane::quoted(url_) + ": " + answer.status().message());
  }
  const std::lock_guard lock(mutex_);
  calls_.erase(breaker);
  co_return status;
}

Task<bool> WebhookPoster::pause(int attempt) {
  const WebhookRetries retries{kAttempts, std::chrono::duration_cast<std::chrono::milliseconds>(first_pause_)};
  const auto time = retry_pause(retries, attempt - 1);
  Promise<bool> end;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (retries_aborted_) co_return false;
    id = next_pause_++;
    pauses_.emplace(id, end);
  }
  auto waiting = within(time, end, true);
  const bool full = co_await std::move(waiting);
  const std::lock_guard lock(mutex_);
  pauses_.erase(id);
  co_return full;
}

void WebhookPoster::abort_retries(Executor& executor, std::chrono::nanoseconds limit) {
  std::map<std::uint64_t, Promise<bool>> pauses;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(retries_aborted_, true)) return;
    pauses.swap(pauses_);
  }
  for (const auto& [id, end] : pauses) end.set(false);
  executor.after(limit, [self = shared_from_this()] {
    std::set<std::shared_ptr<CallBreaker>> calls;
    {
      const std::lock_guard lock(self->mutex_);
      self->broken_ = true;
      calls.swap(self->calls_);
    }
    for (const auto& call : calls) call->break_off(service_unavailable("the server stops"));
  });
}

}  // namespace backplane::audit
