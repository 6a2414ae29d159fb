#include "accounts/controllers.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kDefaultAccount = "default";
constexpr int kAccountWorkers = 1;

GroupVersionResource accounts() { return {"", "v1", "serviceaccounts"}; }

// The keys of the queue are names of namespaces.
struct ServiceAccounts {
  ApiClient api;
  std::shared_ptr<SharedInformer> namespaces, accounts_informer;

  Task<Status> reconcile(std::string ns) {
    const ObjectRef known = namespaces->indexer().get(ns);
    if (known == nullptr) co_return Status();
    if (get_string_path(decode(*known, json::storage_ptr()), "status.phase") != "Active") co_return Status();
    if (accounts_informer->indexer().get(object_key(ns, kDefaultAccount)) != nullptr) co_return Status();
    Object account;
    account["metadata"] = Object{{"name", kDefaultAccount}, {"namespace", ns}};
    auto made = co_await api.create(accounts(), ns, std::move(account));
    if (made.ok() || made.status().reason() == Reason::kAlreadyExists || is_namespace_terminating(made.status())) co_return Status();
    co_return std::move(made).status();
  }
};

}  // namespace

Status start_service_accounts(const Context& context) {
  const auto namespaces = context.term->informer({"", "v1", "namespaces"});
  const auto informer = context.term->informer(accounts());
  const auto queue = context.term->queue();
  ResourceEventHandler namespace_changes;
  namespace_changes.on_add = [queue](const ObjectRef& ns, bool) { queue->add(std::string(ns->name())); };
  namespace_changes.on_update = [queue](const ObjectRef&, const ObjectRef& ns) { queue->add(std::string(ns->name())); };
  context.term->handle(namespaces, std::move(namespace_changes));
  ResourceEventHandler account_changes;
  account_changes.on_delete = [queue](const ObjectRef& account, bool) {
    if (account->name() == kDefaultAccount) queue->add(std::string(account->ns()));
  };
  context.term->handle(informer, std::move(account_changes));
  const auto controller = std::make_shared<ServiceAccounts>(ServiceAccounts{context.api, namespaces, informer});
  context.work(queue, kAccountWorkers, [controller](std::string ns) { return controller->reconcile(std::move(ns)); },
               {namespaces, informer});
  return {};
}

}  // namespace backplane::controllers
