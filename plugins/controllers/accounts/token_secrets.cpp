#include <algorithm>

#include "accounts/controllers.hpp"
#include "backplane/kit/token_signer.hpp"
#include "backplane/types/base64.hpp"
#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kTokenType = "kubernetes.io/service-account-token";
constexpr std::string_view kNameKey = "kubernetes.io/service-account.name";
constexpr std::string_view kUidKey = "kubernetes.io/service-account.uid";
constexpr std::string_view kAccountIndex = "service-account";
constexpr int kTokenWorkers = 5;

GroupVersionResource token_secrets() { return {"", "v1", "secrets"}; }
GroupVersionResource token_accounts() { return {"", "v1", "serviceaccounts"}; }

// The service account to which a token secret belongs; an empty name: the secret is not a token secret.
struct AccountRef {
  std::string name, uid;  // the uid may be missing
};
AccountRef account_of(const Object& secret) {
  if (get_string(secret, "type") != kTokenType) return {};
  const Object& annotations = object_or_empty(object_or_empty(secret, "metadata"), "annotations");
  return {std::string(get_string(annotations, kNameKey)), std::string(get_string(annotations, kUidKey))};
}

bool belongs_to(const Object& secret, std::string_view account, std::string_view uid) {
  const AccountRef owner = account_of(secret);
  return !owner.name.empty() && owner.name == account && (owner.uid.empty() || owner.uid == uid);
}

// The keys of the queue: "secret NS/NAME"; "account NS/NAME UID" for a deleted account; "reference NS/ACCOUNT SECRET" for a deleted secret.
struct TokenSecrets {
  ApiClient api;
  std::shared_ptr<SharedInformer> secrets, accounts;
  std::shared_ptr<const kit::TokenSigner> signer;
  std::string root_ca;

  Task<Status> reconcile(std::string key) {
    const std::size_t first = key.find(' ');
    const std::string kind = key.substr(0, first);
    const std::size_t second = key.find(' ', first + 1);
    const auto [ns, name] = split_object_key(std::string_view(key).substr(first + 1, second - first - 1));
    const std::string rest = second == std::string::npos ? "" : key.substr(second + 1);
    if (kind == "secret") {
      auto filling = fill(ns, name);
      co_return co_await std::move(filling);
    }
    if (kind == "account") {
      auto deleting = delete_secrets(ns, name, rest);
      co_return co_await std::move(deleting);
    }
    auto dropping = drop_reference(ns, name, rest);
    co_return co_await std::move(dropping);
  }

  Task<Status> fill(std::string ns, std::string name) {
    const auto known = cached(*secrets, object_key(ns, name));
    if (!known || account_of(*known).name.empty() || is_being_deleted(*known)) co_return Status();
    const AccountRef owner = account_of(*known);
    auto finding = find_account(ns, owner);
    auto account = co_await std::move(finding);
    if (!account.ok()) co_return std::move(account).status();
    if (account->empty()) {
      auto deleting = delete_secret(ns, name, std::string(meta_text(*known, "uid")));
      co_return co_await std::move(deleting);
    }
    if (!needs_data(*known)) co_return Status();
    auto live = co_await api.get(token_secrets(), ns, name);
    if (!live.ok()) co_return unless_gone(std::move(live).status());
    // If the cached secret is stale, does nothing: an update event with the newer state follows.
    if (meta_text(*live, "resourceVersion") != meta_text(*known, "resourceVersion")) co_return Status();
    Status filled = set_data(*live, *account);
    if (!filled.ok()) co_return filled;
    auto written = co_await api.update(token_secrets(), ns, std::move(*live));
    const bool settled = written.ok() || written.status().reason() == Reason::kConflict;
    co_return settled ? Status() : unless_gone(std::move(written).status());
  }

  // Returns the account; an empty object: it does not exist.
  Task<Result<Object>> find_account(std::string ns, AccountRef owner) {
    const auto known = cached(*accounts, object_key(ns, owner.name));
    if (known && (owner.uid.empty() || meta_text(*known, "uid") == owner.uid)) co_return *known;
    auto live = co_await api.get(token_accounts(), ns, owner.name);
    if (!live.ok() && live.status().code() == 404) co_return Object();
    if (!live.ok()) co_return std::move(live).status();
    if (!owner.uid.empty() && meta_text(*live, "uid") != owner.uid) co_return Object();
    co_return std::move(live);
  }

  bool needs_data(const Object& secret) const {
    const Object& data = object_or_empty(secret, "data");
    return get_string(data, "ca.crt") != to_base64(root_ca) || get_string(data, "namespace").empty() || get_string(data, "token").empty();
  }

  Status set_data(Object& secret, const Object& account) const {
    const std::string ns(meta_namespace(secret));
    Object& data = ensure_object(secret, "data");
    data["ca.crt"] = to_base64(root_ca);
    if (get_string(data, "namespace").empty()) data["namespace"] = to_base64(ns);
    if (get_string(data, "token").empty()) {
      auto token = signer->sign(Object{{"iss", "kubernetes/serviceaccount"},
                                       {"kubernetes.io/serviceaccount/namespace", ns},
                                       {"kubernetes.io/serviceaccount/secret.name", meta_name(secret)},
                                       {"kubernetes.io/serviceaccount/service-account.name", meta_name(account)},
                                       {"kubernetes.io/serviceaccount/service-account.uid", meta_text(account, "uid")},
                                       {"sub", "system:serviceaccount:" + ns + ":" + std::string(meta_name(account))}});
      if (!token.ok()) return std::move(token).status();
      data["token"] = to_base64(*token);
    }
    Object& annotations = ObjectMeta(secret).mutable_annotations();
    annotations[kNameKey] = meta_name(account);
    annotations[kUidKey] = meta_text(account, "uid");
    return {};
  }

  Task<Status> delete_secret(std::string ns, std::string name, std::string uid) {
    DeleteOptions options;
    options.preconditions.uid = std::move(uid);
    auto deleted = co_await api.remove(token_secrets(), ns, name, std::move(options));
    if (deleted.ok() || deleted.status().reason() == Reason::kConflict) co_return Status();
    co_return unless_gone(std::move(deleted).status());
  }

  // Deletes the token secrets of a deleted account.
  Task<Status> delete_secrets(std::string ns, std::string account, std::string uid) {
    const auto known = cached(*accounts, object_key(ns, account));
    if (known && meta_text(*known, "uid") == uid) co_return Status();
    auto found = secrets->indexer().by_index(kAccountIndex, object_key(ns, account));
    Status last;
    for (const ObjectRef& entry : found.ok() ? *found : std::vector<ObjectRef>()) {
      const Object secret = tree_of(*entry);
      if (!belongs_to(secret, account, uid)) continue;
      auto deleting = delete_secret(ns, std::string(entry->name()), std::string(meta_text(secret, "uid")));
      Status deleted = co_await std::move(deleting);
      if (!deleted.ok()) last = std::move(deleted);
    }
    co_return last;
  }

  Task<Status> drop_reference(std::string ns, std::string account, std::string secret) {
    if (secrets->indexer().get(object_key(ns, secret)) != nullptr) co_return Status();
    auto live = co_await api.get(token_accounts(), ns, account);
    if (!live.ok()) co_return unless_gone(std::move(live).status());
    Array kept;
    each(*live, "secrets", [&](const Object& reference, std::size_t) {
      if (get_string(reference, "name") != secret) kept.push_back(reference);
    });
    if (kept.size() == count_of(*live, "secrets")) co_return Status();
    (*live)["secrets"] = std::move(kept);
    auto written = co_await api.update(token_accounts(), ns, std::move(*live));
    co_return written.ok() ? Status() : unless_gone(std::move(written).status());
  }
};

std::vector<std::string> account_keys(const ObjectEntry& entry) {
  const AccountRef owner = account_of(tree_of(entry));
  if (owner.name.empty()) return {};
  return {object_key(entry.ns(), owner.name)};
}

void follow_secrets(const Context& context, const TokenSecrets& parts, const std::shared_ptr<WorkQueue>& queue) {
  const auto note = [queue](const ObjectRef& secret) {
    if (!account_keys(*secret).empty()) queue->add("secret " + object_key(*secret));
  };
  ResourceEventHandler handler;
  handler.on_add = [note](const ObjectRef& secret, bool) { note(secret); };
  handler.on_update = [note](const ObjectRef&, const ObjectRef& secret) { note(secret); };
  handler.on_delete = [queue](const ObjectRef& secret, bool) {
    for (const std::string& account : account_keys(*secret)) queue->add("reference " + account + " " + std::string(secret->name()));
  };
  context.term->handle(parts.secrets, std::move(handler));
  ResourceEventHandler account_handler;
  account_handler.on_delete = [queue](const ObjectRef& account, bool) {
    queue->add("account " + object_key(*account) + " " + std::string(meta_text(tree_of(*account), "uid")));
  };
  context.term->handle(parts.accounts, std::move(account_handler));
}

}  // namespace

Status start_token_secrets(const Context& context) {
  const std::string key = context.host.flag("service-account-signing-key-file").value_or("");
  if (key.empty()) return {};
  auto signer = kit::TokenSigner::from_file(key);
  if (!signer.ok()) return std::move(signer).status();
  auto root_ca = read_root_ca(context.host);
  if (!root_ca.ok()) return std::move(root_ca).status();
  const auto controller = std::make_shared<TokenSecrets>(
      TokenSecrets{context.api, context.term->informer(token_secrets()), context.term->informer(token_accounts()), *signer, *root_ca});
  Status indexed = controller->secrets->indexer().add_indexers({{std::string(kAccountIndex), account_keys}});
  if (!indexed.ok()) return indexed;
  const auto queue = context.term->queue();
  follow_secrets(context, *controller, queue);
  context.work(queue, kTokenWorkers, [controller](std::string item) { return controller->reconcile(std::move(item)); },
               {controller->secrets, controller->accounts});
  return {};
}

}  // namespace backplane::controllers
