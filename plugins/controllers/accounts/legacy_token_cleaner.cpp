#include <algorithm>
#include <ctime>
#include <set>

#include "accounts/controllers.hpp"
#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr std::int64_t kDay = 86'400, kUnusedPeriod = 365 * kDay;  // --legacy-service-account-token-clean-up-period
constexpr std::chrono::hours kInterval{24};
constexpr std::string_view kLastUsed = "kubernetes.io/legacy-token-last-used";
constexpr std::string_view kInvalidSince = "kubernetes.io/legacy-token-invalid-since";

GroupVersionResource legacy_secrets() { return {"", "v1", "secrets"}; }

std::string date_of(std::int64_t unix) { return format_rfc3339(unix).substr(0, 10); }

bool is_date(std::string_view text) { return text.size() == 10 && parse_rfc3339(std::string(text) + "T00:00:00Z").has_value(); }

// Collects the names of the secrets to which a pod's spec refers.
void add_secret_names(const Object& node, std::set<std::string>& out) {
  for (const auto& [key, value] : node) {
    const Object* object = value.if_object();
    if (object != nullptr && (key == "secretKeyRef" || key == "secretRef")) out.emplace(get_string(*object, "name"));
    if (object != nullptr && key == "secret") {
      out.emplace(get_string(*object, "secretName"));
      out.emplace(get_string(*object, "name"));
    }
    if (object != nullptr) add_secret_names(*object, out);
    const Array* list = value.if_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Object* item = (*list)[i].if_object();
      if (item != nullptr && key == "imagePullSecrets") out.emplace(get_string(*item, "name"));
      if (item != nullptr) add_secret_names(*item, out);
    }
  }
}

struct LegacyTokenCleaner {
  Context context;
  std::shared_ptr<SharedInformer> accounts, secrets;

  Task<void> run() {
    bool more = true;
    while (more) {
      auto cleaning = clean();
      Status cleaned = co_await std::move(cleaning);
      if (!cleaned.ok()) context.host.logger().debug("cleaning legacy tokens failed error=" + quoted(cleaned.message()));
      auto pausing = context.term->sleep(kInterval);
      more = co_await std::move(pausing);
    }
  }

  Task<Status> clean() {
    const std::int64_t now = std::time(nullptr);
    ApiClient api = context.api;
    auto tracking = co_await api.get({"", "v1", "configmaps"}, "kube-system", "kube-apiserver-legacy-service-account-token-tracking");
    if (!tracking.ok()) co_return std::move(tracking).status();
    const auto since = parse_rfc3339(std::string(get_string(object_or_empty(*tracking, "data"), "since")) + "T00:00:00Z");
    if (!since || now < *since + kDay + kUnusedPeriod) co_return Status();
    const std::string limit = date_of(now - kUnusedPeriod);
    for (const ObjectRef& entry : secrets->indexer().list()) {
      const Object secret = tree_of(*entry);
      if (!is_unused(secret, now, limit)) continue;
      auto looking = is_mounted(secret);
      auto mounted = co_await std::move(looking);
      if (!mounted.ok()) co_return std::move(mounted).status();
      if (*mounted) continue;
      auto handling = handle(secret, now, limit);
      Status handled = co_await std::move(handling);
      if (!handled.ok()) co_return handled;
    }
    co_return Status();
  }

  bool is_unused(const Object& secret, std::int64_t now, const std::string& limit) const {
    if (get_string(secret, "type") != "kubernetes.io/service-account-token" || is_being_deleted(secret)) return false;
    const auto created = parse_rfc3339(meta_text(secret, "creationTimestamp"));
    if (!created || *created >= now - kUnusedPeriod) return false;
    const Object& labels = object_or_empty(object_or_empty(secret, "metadata"), "labels");
    if (has(labels, kLastUsed) && (!is_date(get_string(labels, kLastUsed)) || get_string(labels, kLastUsed) >= limit)) return false;
    return is_generated(secret);
  }

  // Returns true if the secret's service account lists the secret, as it does for generated secrets.
  bool is_generated(const Object& secret) const {
    const Object& annotations = object_or_empty(object_or_empty(secret, "metadata"), "annotations");
    const auto account =
        cached(*accounts, object_key(meta_namespace(secret), get_string(annotations, "kubernetes.io/service-account.name")));
    if (!account) return false;
    const std::string_view uid = get_string(annotations, "kubernetes.io/service-account.uid");
    if (!uid.empty() && uid != meta_text(*account, "uid")) return false;
    return find_item(*account, "secrets", "name", meta_name(secret)) != nullptr;
  }

  // Returns true if a pod refers to the secret. Reads the pods from the server's watch cache, because the check is too rare for an
  // informer.
  Task<Result<bool>> is_mounted(const Object& secret) const {
    const std::string name(meta_name(secret));
    std::set<std::string> names;
    auto reading = visit_stored(context.host, {"", "v1", "pods"}, std::string(meta_namespace(secret)),
                                [&](const ObjectEntry& pod) { add_secret_names(object_or_empty(tree_of(pod), "spec"), names); });
    Status read = co_await std::move(reading);
    if (!read.ok()) co_return read;
    co_return names.contains(name);
  }

  Task<Status> handle(const Object& secret, std::int64_t now, const std::string& limit) {
    const std::string ns(meta_namespace(secret)), name(meta_name(secret));
    const std::string invalid(get_string(object_or_empty(object_or_empty(secret, "metadata"), "labels"), kInvalidSince));
    ApiClient api = context.api;
    if (!is_date(invalid)) {
      Object patch;
      patch["metadata"] = Object{{"uid", meta_text(secret, "uid")}, {"labels", Object{{kInvalidSince, date_of(now)}}}};
      auto marked = co_await api.patch(legacy_secrets(), ns, name, PatchType::kMerge, std::move(patch));
      co_return marked.ok() ? Status() : unless_gone(std::move(marked).status());
    }
    if (invalid >= limit) co_return Status();
    DeleteOptions options;
    options.preconditions.resource_version = meta_text(secret, "resourceVersion");
    auto deleted = co_await api.remove(legacy_secrets(), ns, name, std::move(options));
    if (deleted.ok() || deleted.status().reason() == Reason::kConflict) co_return Status();
    co_return unless_gone(std::move(deleted).status());
  }
};

}  // namespace

Status start_legacy_token_cleaner(const Context& context) {
  const auto controller = std::make_shared<LegacyTokenCleaner>(
      LegacyTokenCleaner{context, context.term->informer({"", "v1", "serviceaccounts"}), context.term->informer({"", "v1", "secrets"})});
  const auto body = [controller] { return controller->run(); };
  context.run(body, {controller->accounts, controller->secrets});
  return {};
}

}  // namespace backplane::controllers
