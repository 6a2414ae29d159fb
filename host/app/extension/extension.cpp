#include "app/extension/extension.hpp"

#include <algorithm>

#include "app/extension/always_allow_paths.hpp"
#include "app/extension/namespace_check.hpp"
#include "app/extension/outer_client.hpp"
#include "app/extension/outer_storage.hpp"
#include "app/extension/outer_trust.hpp"
#include "base/log.hpp"
#include "routing/health.hpp"

namespace backplane {
namespace {

class ExtensionLogger final : public Logger {
 public:
  void error(std::string_view text) override { logger_.error(text); }
  void warn(std::string_view text) override { logger_.warn(text); }
  void info(std::string_view text) override { logger_.info(text); }
  void debug(std::string_view text) override { logger_.debug(text); }

 private:
  FolderLog& logger_ = folder_logger("runner");
};

Task<Status> registered(std::shared_ptr<Registrar> registrar) {
  co_return registrar ? registrar->state() : service_unavailable("the registration has not started");
}

}  // namespace

Extension::Extension(const ExtensionSettings& settings, std::shared_ptr<HttpClient> outer, Versions versions)
    : settings_(settings),
      outer_(std::move(outer)),
      api_(std::make_shared<ApiClient>(outer_)),
      versions_(std::move(versions)),
      logger_(std::make_unique<ExtensionLogger>()),
      namespaces_(SharedInformer::make("namespaces of the outer server", list_watch(api_, {"", "v1", "namespaces"}), *logger_)),
      namespace_check_(make_namespace_check(namespaces_, api_)) {}

Extension::~Extension() = default;

std::vector<Capability> Extension::capabilities(const ExtensionSettings& settings) {
  std::vector<Capability> out;
  for (const std::string& group : settings.outer_groups) out.push_back({"group:" + group, Version()});
  return out;
}

AuthorizerPlace Extension::authorizer() const {
  std::vector<std::string> paths = settings_.always_allow_paths;
  // kube-apiserver calls webhooks without credentials.
  if (settings_.admission_webhooks) paths.emplace_back("/admission-webhooks/*");
  return {"AlwaysAllowPaths", "always-allow-paths", make_always_allow_paths(std::move(paths))};
}

std::shared_ptr<HttpClient> Extension::client(std::shared_ptr<HttpClient> local, std::optional<UserInfo> user) const {
  return make_outer_client(
      std::move(local), outer_, [this](std::string_view group) { return is_local(group); }, std::move(user));
}

std::shared_ptr<RestStorage> Extension::find_storage(const GroupVersionResource& resource) const {
  return is_local(resource.group) ? nullptr : make_outer_storage(api_, resource);
}

bool Extension::is_ours(std::string_view plugin) const {
  return std::find(settings_.plugins.begin(), settings_.plugins.end(), plugin) != settings_.plugins.end();
}

bool Extension::is_local(std::string_view group) const {
  const auto versions = versions_();
  return std::any_of(versions.begin(), versions.end(), [&](const GroupVersionInfo& each) {
    return each.group_version.group == group && (settings_.api_groups || !is_ours(each.delegate));
  });
}

std::vector<GroupVersionInfo> Extension::served_versions() const {
  std::vector<GroupVersionInfo> out;
  for (GroupVersionInfo& each : versions_()) {
    if (settings_.api_groups && is_ours(each.delegate)) out.push_back(std::move(each));
  }
  return out;
}

Status Extension::use_tables(const PluginRows& rows, const AdmissionChain::Plugins& admission) {
  if (!settings_.admission_webhooks) return {};
  AdmissionChain::Plugins rules;
  for (const auto& plugin : admission) {
    for (std::size_t i = 0; i < rows.admission.size(); ++i) {
      if (rows.admission[i].name == plugin->name() && is_ours(rows.admission_owners[i]->name())) rules.push_back(plugin);
    }
  }
  auto made = RuleWebhooks::make(rules, settings_.webhook_resources);
  if (!made.ok()) return std::move(made).status();
  webhooks_ = std::move(*made);
  return {};
}

void Extension::publish(const AdmissionChain::Plugins& admission) {
  if (webhooks_) webhooks_->publish(admission);
  if (const auto registrar = registrar_.load()) registrar->apply_soon();
}

std::vector<RegisteredObject> Extension::objects(const RunnerAddress& address) const {
  auto out = webhooks_ ? webhook_objects(settings_, webhooks_->rules(), address) : std::vector<RegisteredObject>();
  auto services = api_service_objects(settings_, served_versions(), address);
  std::move(services.begin(), services.end(), std::back_inserter(out));
  return out;
}

std::vector<PathRoute> Extension::routes() const { return webhooks_ ? webhooks_->routes() : std::vector<PathRoute>(); }

std::shared_ptr<HealthCheck> Extension::health_check() const {
  return make_health_check("registration", [this] { return registered(registrar_.load()); });
}

Status Extension::start(TaskGroup& tasks, Executor& executor, Signal& stop, RunnerAddress address) {
  if (objects(address).empty()) {
    return bad_request("--plugin: there is nothing to register: the plugins serve no API group, and --admission-webhooks is not set");
  }
  tasks.spawn(executor, "namespaces of the outer server", namespaces_->run());
  stop.on_fire([namespaces = namespaces_] { namespaces->stop(); });
  follow_trust(api_, settings_.trust_dir, *logger_, executor, tasks, stop);
  auto registrar = std::make_shared<Registrar>(
      api_, [this, address] { return objects(address); }, *logger_);
  registrar->start(tasks, executor, stop);
  registrar_.store(std::move(registrar));
  return {};
}

Task<Status> Extension::stop() {
  const auto registrar = registrar_.load();
  if (!settings_.unregister || !registrar) co_return Status();
  auto removing = registrar->remove();
  co_return co_await std::move(removing);
}

}  // namespace backplane
