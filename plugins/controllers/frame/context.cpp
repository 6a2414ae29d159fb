#include "frame/context.hpp"

#include <algorithm>

#include "backplane/core/request.hpp"

namespace backplane::controllers {
namespace {

class NamedClient final : public HttpClient {
 public:
  NamedClient(std::shared_ptr<HttpClient> http, std::string agent) : http_(std::move(http)), agent_(std::move(agent)) {}
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    call.headers.emplace_back("User-Agent", agent_);
    constexpr auto kNone = std::chrono::steady_clock::time_point::max();
    if (!call.lasting && call.deadline == kNone) call.deadline = std::chrono::steady_clock::now() + kCallTimeout;
    return http_->call(std::move(call));
  }

 private:
  const std::shared_ptr<HttpClient> http_;
  const std::string agent_;
};

UserInfo user_of(std::string_view account) {
  UserInfo user;
  if (account.empty()) {
    user.name = "system:kube-controller-manager";
    user.groups = {"system:authenticated"};
  } else {
    user.name = "system:serviceaccount:kube-system:" + std::string(account);
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"};
  }
  return user;
}

Task<void> start_workers(Context context, std::shared_ptr<WorkQueue> queue, int workers, Reconcile reconcile,
                         std::vector<std::shared_ptr<SharedInformer>> informers) {
  for (const auto& informer : informers) {
    const bool synced = co_await informer->wait_synced();
    if (!synced) co_return;
  }
  if (context.term->ended()) co_return;
  spawn_workers(context.host, context.name, workers, std::move(queue), std::move(reconcile));
}

Task<void> start_body(Context context, std::function<Task<void>()> body, std::vector<std::shared_ptr<SharedInformer>> informers) {
  for (const auto& informer : informers) {
    const bool synced = co_await informer->wait_synced();
    if (!synced) co_return;
  }
  if (context.term->ended()) co_return;
  auto running = body();
  co_await std::move(running);
}

}  // namespace

void Context::work(std::shared_ptr<WorkQueue> queue, int workers, Reconcile reconcile,
                   std::vector<std::shared_ptr<SharedInformer>> informers) const {
  host.spawn(name + "/start", start_workers(*this, std::move(queue), workers, std::move(reconcile), std::move(informers)));
}

void Context::run(std::function<Task<void>()> body, std::vector<std::shared_ptr<SharedInformer>> informers) const {
  host.spawn(name, start_body(*this, std::move(body), std::move(informers)));
}

ApiClient controller_client(Host& host, const ControllerRow& row) {
  const std::string agent = "kube-controller-manager/backplane " + std::string(row.name);
  return ApiClient(std::make_shared<NamedClient>(host.client_as(user_of(row.account)), agent));
}

bool is_namespace_terminating(const Status& status) {
  if (status.ok() || status.details() == nullptr) return false;
  const auto& causes = status.details()->causes;
  return std::any_of(causes.begin(), causes.end(), [](const StatusCause& cause) { return cause.reason == "NamespaceTerminating"; });
}

}  // namespace backplane::controllers
