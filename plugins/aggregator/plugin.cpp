// The plugin aggregator: precedes every other delegate and maintains an APIService for each group version.
#include <backplane/net/certificate_flaws.hpp>
#include <backplane/plugin.hpp>
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/scheme.hpp"

#include "apiregistration_v1_json.hpp"
#include "autoregister.hpp"
#include "strategy.hpp"

namespace backplane {
namespace {

const GroupVersion kVersion{"apiregistration.k8s.io", "v1"};
constexpr int kGroupPriority = 20000;  // kube-aggregator lists its own group first
constexpr int kVersionPriority = 15;

class Completion final : public HealthCheck {
 public:
  explicit Completion(std::shared_ptr<Autoregister> autoregister) : autoregister_(std::move(autoregister)) {}
  std::string name() const override { return "autoregister-completion"; }
  Task<Status> check() override {
    if (autoregister_->complete()) co_return Status();
    co_return Status(Reason::kServiceUnavailable, "missing APIService: the first registration has not finished");
  }

 private:
  std::shared_ptr<Autoregister> autoregister_;
};

using Hook = Task<Status> (*)(std::shared_ptr<Autoregister>, PostStartHookContext);

Task<Status> start_informers(std::shared_ptr<Autoregister> autoregister, PostStartHookContext context) {
  context.stop.on_fire([autoregister] { autoregister->stop(); });
  autoregister->start_informer();
  co_return Status();
}

// The workers set the status of APIServices that are served here, and set up forwarding for the others.
Task<Status> start_workers(std::shared_ptr<Autoregister> autoregister, PostStartHookContext) {
  autoregister->start_workers();
  co_await autoregister->wait_synced();
  co_return Status();
}

Task<Status> start_checks(std::shared_ptr<Autoregister> autoregister, PostStartHookContext) {
  autoregister->remotes()->start_checks();
  co_return Status();
}

Task<Status> start_readings(std::shared_ptr<Autoregister> autoregister, PostStartHookContext) {
  autoregister->remotes()->start_readings();
  co_return Status();
}

// Only waits: the workers that read the discovery of servers also read their OpenAPI documents.
Task<Status> follow_openapi(std::shared_ptr<Autoregister> autoregister, PostStartHookContext) {
  co_await autoregister->wait_synced();
  co_return Status();
}

// Does nothing: every client of an aggregated server reads --proxy-client-cert-file and its key again when they change
// (ClientConfig::reload_interval).
Task<Status> follow_client_certificate(std::shared_ptr<Autoregister>, PostStartHookContext) { co_return Status(); }

bool has_client_certificate(const Host& host) {
  return !host.flag("proxy-client-cert-file").value_or("").empty() && !host.flag("proxy-client-key-file").value_or("").empty();
}

Task<Status> start_autoregistration(std::shared_ptr<Autoregister> autoregister, PostStartHookContext) {
  autoregister->start_registration();
  co_return Status();
}

Task<Status> wait_for_registration(std::shared_ptr<Autoregister> autoregister, std::shared_ptr<DynamicGroups> groups,
                                   std::shared_ptr<Signal> initiated, PostStartHookContext) {
  // The first change is empty, because no group version is forwarded at startup.
  Status changed = groups->change({});
  if (!changed.ok()) co_return changed;
  const bool complete = co_await autoregister->wait_complete();
  if (complete) initiated->fire();
  co_return Status();
}

class Aggregator final : public Plugin {
 public:
  Status provision(Host& host) override {
    show_certificate_flaws("apiserver_kube_aggregator");
    const std::string_view document = apiregistration_v1_json();
    auto schemas = SchemaSet::compile({&document, 1}, {meta_schemas()});
    if (!schemas.ok()) return std::move(schemas.status());

    ResourceConfig config;
    config.kind = {kVersion.group, kVersion.version, "APIService"};
    config.resource = "apiservices";
    config.categories = {"api-extensions"};
    config.schemas = *schemas;
    config.schema = (*schemas)->find(config.kind);
    config.strategy = make_apiservice_strategy();
    config.storage_prefix = kVersion.group + "/apiservices";
    config.stored_as_json = true;  // as kube-aggregator stores them
    auto store = host.make_storage(config);
    if (!store.ok()) return std::move(store.status());
    auto status_storage = host.make_subresource(*store, make_apiservice_status_strategy());
    if (!status_storage.ok()) return std::move(status_storage.status());
    const std::shared_ptr<Updater> updater = *status_storage;

    Status known = add_types(host.scheme(), *schemas);
    if (!known.ok()) return known;
    APIGroupInfo group;
    group.group = kVersion.group;
    group.prioritized_versions = {kVersion.version};
    group.storages[kVersion.version] = {{"apiservices", *store}, {"apiservices/status", *status_storage}};
    group.schemas[kVersion.version] = *schemas;
    group.group_priority_minimum = kGroupPriority;
    group.version_priority = kVersionPriority;
    Status installed = host.install_api_group(std::move(group));
    if (!installed.ok()) return installed;
    std::shared_ptr<DynamicGroups> groups = host.dynamic_groups();
    return add_hooks(host, std::make_shared<Autoregister>(host, *store, std::move(updater), groups), groups);
  }

 private:
  // Objects may have been stored in v1beta1, which differs only in its name.
  static Status add_types(Scheme& scheme, const std::shared_ptr<const SchemaSet>& schemas) {
    Status known = scheme.add_known_types(kVersion, schemas, "aggregator");
    for (const std::string& name : {std::string("APIService"), std::string("APIServiceList")}) {
      const GroupVersionKind now{kVersion.group, kVersion.version, name}, before{kVersion.group, "v1beta1", name};
      if (known.ok()) known = scheme.add_known_type(before, schemas->find(now), schemas, "aggregator");
      if (known.ok()) known = scheme.add_conversion(before, now, [](Object&) { return Status(); });
    }
    return known;
  }

  static Status add_hooks(Host& host, std::shared_ptr<Autoregister> autoregister, std::shared_ptr<DynamicGroups> groups) {
    // Until the first pass has ended, paths that an APIService may name get 503, not 404.
    auto initiated = host.register_mux_and_discovery_complete_signal("APIServiceRegistrationControllerInitiated");
    if (!initiated.ok()) return std::move(initiated.status());
    Status check = host.add_health_check(std::make_shared<Completion>(autoregister), {.boot_sequence = true});
    if (!check.ok()) return check;
    Status added;
    if (has_client_certificate(host))
      added = add_hook(host, "aggregator-reload-proxy-client-cert", follow_client_certificate, autoregister);
    if (added.ok()) added = add_hook(host, "start-kube-aggregator-informers", start_informers, autoregister);
    if (added.ok()) added = add_hook(host, "apiservice-status-local-available-controller", start_workers, autoregister);
    if (added.ok()) added = add_hook(host, "apiservice-status-remote-available-controller", start_checks, autoregister);
    if (added.ok()) {
      added = host.add_post_start_hook("apiservice-registration-controller",
                                       [autoregister, groups, signal = *initiated](PostStartHookContext context) {
                                         return wait_for_registration(autoregister, groups, signal, context);
                                       });
    }
    if (added.ok()) added = add_hook(host, "apiservice-discovery-controller", start_readings, autoregister);
    if (added.ok()) added = add_hook(host, "apiservice-openapi-controller", follow_openapi, autoregister);
    if (added.ok()) added = add_hook(host, "apiservice-openapiv3-controller", follow_openapi, autoregister);
    if (added.ok()) added = add_hook(host, "kube-apiserver-autoregistration", start_autoregistration, autoregister);
    return added;
  }

  static Status add_hook(Host& host, const char* name, Hook hook, std::shared_ptr<Autoregister> autoregister) {
    return host.add_post_start_hook(name, [hook, autoregister](PostStartHookContext context) { return hook(autoregister, context); });
  }
};

}  // namespace
}  // namespace backplane

using backplane::Aggregator;
BACKPLANE_PLUGIN(Aggregator)
