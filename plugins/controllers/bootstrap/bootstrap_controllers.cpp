#include <algorithm>
#include <ctime>
#include <limits>
#include <map>

#include "bootstrap/controllers.hpp"
#include "bootstrap/tokens.hpp"
#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kSystemNamespace = "kube-system", kPublicNamespace = "kube-public", kClusterInfo = "cluster-info";
constexpr std::string_view kSignaturePrefix = "jws-kubeconfig-";
constexpr std::string_view kSign = "sign";
constexpr std::int64_t kLongestDelay = 86'400;

GroupVersionResource secrets() { return {"", "v1", "secrets"}; }
GroupVersionResource maps() { return {"", "v1", "configmaps"}; }

bool is_token(const Object& secret) { return get_string(secret, "type") == kBootstrapTokenType; }

struct BootstrapSigner {
  ApiClient api;
  std::shared_ptr<SharedInformer> secret_informer, map_informer;
  std::shared_ptr<WorkQueue> queue;

  Task<Status> sign(std::string) {
    auto map = cached(*map_informer, object_key(kPublicNamespace, kClusterInfo));
    if (!map || !has(object_or_empty(*map, "data"), "kubeconfig")) co_return Status();
    const std::string content(get_string(object_or_empty(*map, "data"), "kubeconfig"));
    Object& data = ensure_object(*map, "data");
    Object wanted;
    for (const auto& [key, value] : data) {
      if (!std::string_view(key).starts_with(kSignaturePrefix)) wanted[key] = value;
    }
    for (const auto& [id, token] : tokens()) wanted[std::string(kSignaturePrefix) + id] = detached_signature(content, token);
    if (wanted == data) co_return Status();
    data = std::move(wanted);
    auto written = co_await api.update(maps(), std::string(kPublicNamespace), std::move(*map));
    if (written.ok() || written.status().reason() == Reason::kConflict) co_return Status();
    co_return unless_gone(std::move(written).status());
  }

  // Returns the tokens that sign, by id. Also adds the next signature to the queue, for the time when the first of the tokens expires.
  std::map<std::string, BootstrapToken> tokens() const {
    std::map<std::string, BootstrapToken> out;
    const std::int64_t now = std::time(nullptr);
    std::int64_t next = kLongestDelay;
    for (const ObjectRef& entry : secret_informer->indexer().list()) {
      const Object secret = tree_of(*entry);
      auto token = signing_token(secret, now);
      if (!token) continue;
      next = std::min(next, seconds_to_expiry(secret, now).value_or(kLongestDelay));
      out.emplace(token->id, std::move(*token));
    }
    if (next < kLongestDelay) queue->add_after(std::string(kSign), std::chrono::seconds(next));
    return out;
  }
};

struct TokenCleaner {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;
  std::shared_ptr<WorkQueue> queue;

  Task<Status> reconcile(std::string key) {
    const auto secret = cached(*informer, key);
    if (!secret || !is_token(*secret)) co_return Status();
    const auto left = seconds_to_expiry(*secret, std::time(nullptr));
    if (!left) co_return Status();
    if (*left > 0) {
      queue->add_after(key, std::chrono::seconds(std::min(*left, kLongestDelay)));
      co_return Status();
    }
    DeleteOptions options;
    options.preconditions.uid = meta_text(*secret, "uid");
    auto deleted = co_await api.remove(secrets(), std::string(kSystemNamespace), std::string(meta_name(*secret)), std::move(options));
    if (deleted.ok() || deleted.status().reason() == Reason::kConflict) co_return Status();
    co_return unless_gone(std::move(deleted).status());
  }
};

}  // namespace

Status start_bootstrap_signer(const Context& context) {
  const auto secret_informer = context.term->informer(secrets(), std::string(kSystemNamespace));
  const auto map_informer = context.term->informer(maps(), std::string(kPublicNamespace));
  const auto queue = context.term->queue();
  const auto note = [queue](const ObjectRef& secret) {
    if (is_token(tree_of(*secret))) queue->add(std::string(kSign));
  };
  ResourceEventHandler secret_changes;
  secret_changes.on_add = [note](const ObjectRef& secret, bool) { note(secret); };
  secret_changes.on_update = [note](const ObjectRef&, const ObjectRef& secret) { note(secret); };
  secret_changes.on_delete = [note](const ObjectRef& secret, bool) { note(secret); };
  context.term->handle(secret_informer, std::move(secret_changes));
  const auto note_map = [queue](const ObjectRef& map) {
    if (map->name() == kClusterInfo) queue->add(std::string(kSign));
  };
  ResourceEventHandler map_changes;
  map_changes.on_add = [note_map](const ObjectRef& map, bool) { note_map(map); };
  map_changes.on_update = [note_map](const ObjectRef&, const ObjectRef& map) { note_map(map); };
  context.term->handle(map_informer, std::move(map_changes));
  const auto controller = std::make_shared<BootstrapSigner>(BootstrapSigner{context.api, secret_informer, map_informer, queue});
  context.work(queue, 1, [controller](std::string key) { return controller->sign(std::move(key)); }, {secret_informer, map_informer});
  return {};
}

Status start_token_cleaner(const Context& context) {
  const auto informer = context.term->informer(secrets(), std::string(kSystemNamespace));
  const auto queue = context.term->queue();
  context.term->handle(informer, enqueue_wanted(queue, is_token));
  const auto controller = std::make_shared<TokenCleaner>(TokenCleaner{context.api, informer, queue});
  context.work(queue, 1, [controller](std::string key) { return controller->reconcile(std::move(key)); }, {informer});
  return {};
}

}  // namespace backplane::controllers
