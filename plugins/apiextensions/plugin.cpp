// The plugin apiextensions: stores CustomResourceDefinitions and serves the resources they define.
#include <backplane/net/certificate_flaws.hpp>
#include <backplane/net/service_resolver.hpp>
#include <backplane/plugin.hpp>
#include "backplane/rest/resource_config.hpp"

#include <array>

#include "apiextensions_v1_json.hpp"
#include "controller.hpp"
#include "definition.hpp"
#include "definition_strategy.hpp"
#include "definition_versions.hpp"
#include "rule_metrics.hpp"

namespace backplane {
namespace {

using apiextensions::Controller;

constexpr std::string_view kVersion = "v1";
constexpr std::string_view kKind = "CustomResourceDefinition";
constexpr std::string_view kResource = "customresourcedefinitions";
constexpr int kGroupPriority = 16700;
constexpr int kVersionPriority = 15;
constexpr std::chrono::seconds kEstablishingDelay{5};

Task<Status> start_informer(std::shared_ptr<Controller> controller, PostStartHookContext context) {
  context.stop.on_fire([controller] { controller->stop(); });
  controller->start_informer();
  co_return Status();
}

Task<Status> start_controller(std::shared_ptr<Controller> controller, PostStartHookContext) {
  controller->start();
  controller->start_resync();
  co_return Status();
}

// Succeeds when all formerly established resources are served, or when the server stops.
Task<Status> wait_for(std::shared_ptr<Signal> synced, PostStartHookContext context) {
  Promise<bool> over;
  synced->on_fire([over] { over.set(true); });
  context.stop.on_fire([over] { over.set(false); });
  co_await over.future();
  co_return Status();
}

class Apiextensions final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status stored = provision_definitions(host);
    if (!stored.ok()) return stored;
    // Until all established resources are served, an unknown path may belong to one of them.
    auto synced = host.register_mux_and_discovery_complete_signal("CRDInformerHasNotSynced");
    if (!synced.ok()) return std::move(synced.status());
    Controller::Parts parts;
    parts.host = &host;
    parts.definitions = definitions_;
    parts.status = status_;
    parts.groups = host.dynamic_groups();
    parts.services = make_service_resolver(host);
    parts.synced = *synced;
    // As upstream: with several servers, the others get this time to serve a definition that one server has accepted.
    if (const auto servers = host.flag("apiserver-count"); servers && *servers != "1") parts.establishing_delay = kEstablishingDelay;
    auto controller = std::make_shared<Controller>(std::move(parts));
    Status hooked = host.add_post_start_hook("start-apiextensions-informers",
                                             [controller](PostStartHookContext context) { return start_informer(controller, context); });
    if (!hooked.ok()) return hooked;
    hooked = host.add_post_start_hook("start-apiextensions-controllers",
                                      [controller](PostStartHookContext context) { return start_controller(controller, context); });
    if (!hooked.ok()) return hooked;
    return host.add_post_start_hook("crd-informer-synced",
                                    [signal = *synced](PostStartHookContext context) { return wait_for(signal, context); });
  }

 private:
  Status provision_definitions(Host& host) {
    show_certificate_flaws("apiserver_webhooks");
    apiextensions::show_rule_metrics();
    const std::array<std::string_view, 1> documents = {apiextensions_v1_json()};
    auto schemas = SchemaSet::embedded(documents);
    if (!schemas.ok()) return std::move(schemas.status());
    const GroupVersion gv{std::string(apiextensions::kGroup), std::string(kVersion)};
    const GroupVersionKind kind{gv.group, gv.version, std::string(kKind)};
    Status known = host.scheme().add_known_types(gv, *schemas, "apiextensions");
    if (known.ok()) known = apiextensions::add_definition_conversions(host.scheme());
    if (!known.ok()) return known;

    ResourceConfig config;
    config.kind = kind;
    config.encoded_as = apiextensions::written_definition();
    config.resource = kResource;
    config.short_names = {"crd", "crds"};
    config.categories = {"api-extensions"};
    config.schema = (*schemas)->find(kind);
    config.schemas = *schemas;
    config.strategy = apiextensions::make_definition_strategy();
    config.storage_prefix = gv.group + "/" + config.resource;
    if (config.schema == nullptr) return internal_error("the schema has no CustomResourceDefinition");
    auto definitions = host.make_storage(std::move(config));
    if (!definitions.ok()) return std::move(definitions.status());
    definitions_ = std::move(*definitions);
    auto status = host.make_subresource(definitions_, apiextensions::make_definition_status_strategy());
    if (!status.ok()) return std::move(status.status());
    status_ = std::move(*status);

    APIGroupInfo group;
    group.group = gv.group;
    group.prioritized_versions = {gv.version};
    group.storages[gv.version] = {{std::string(kResource), definitions_}, {std::string(kResource) + "/status", status_}};
    group.schemas[gv.version] = *schemas;
    group.group_priority_minimum = kGroupPriority;
    group.version_priority = kVersionPriority;
    return host.install_api_group(std::move(group));
  }

  std::shared_ptr<StandardStorage> definitions_;
  std::shared_ptr<SubresourceStorage> status_;
};

}  // namespace
}  // namespace backplane

using backplane::Apiextensions;
BACKPLANE_PLUGIN(Apiextensions)
