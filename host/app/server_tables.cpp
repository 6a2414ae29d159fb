// The tables that the server makes from its plugins' registrations: admission, authentication, authorization, routes.
#include <algorithm>
#include <set>

#include "admission/plugin_order.hpp"
#include "app/api_audiences.hpp"
#include "app/log.hpp"
#include "app/server_parts.hpp"
#include "backplane/core/text.hpp"

namespace backplane {
namespace {

// Admission plugins that kube-apiserver enables by default, that no loaded plugin offers, and that no flag disables.
std::vector<std::string> absent_admission(const std::vector<AdmissionRegistration>& offered, const std::vector<std::string>& disabled) {
  std::vector<std::string> names;
  for (const auto& each : upstream_admission_plugins()) {
    const auto is_it = [&](const AdmissionRegistration& other) { return other.name == each.name; };
    if (!each.on_by_default || std::any_of(offered.begin(), offered.end(), is_it)) continue;
    if (std::find(disabled.begin(), disabled.end(), each.name) == disabled.end()) names.emplace_back(each.name);
  }
  return names;
}

bool configures(const AdmissionConfiguration& configuration, std::string_view name) {
  return std::any_of(configuration.begin(), configuration.end(), [&](const auto& each) { return each.name == name; });
}

}  // namespace

bool offers_admission(const PluginRows& rows, std::string_view name) {
  return std::any_of(rows.admission.begin(), rows.admission.end(), [&](const AdmissionRegistration& each) { return each.name == name; });
}

// A name that no plugin offers is an error, unless a plugin does not run that might offer it: the configuration is then used when that
// plugin is enabled. A change also accepts the names of the configuration in effect: their plugins may have been disabled.
Result<AdmissionConfiguration> ServerParts::read_admission_file(const PluginRows& rows, const std::vector<std::string>& idle) const {
  const std::string& path = options().admission.control_config_file;
  if (path.empty()) return AdmissionConfiguration();
  auto read = read_admission_configuration(path);
  if (!read.ok() || !idle.empty()) return read;
  for (const auto& row : *read) {
    if (offers_admission(rows, row.name) || configures(admission_configuration, row.name)) continue;
    return bad_request("--admission-control-config-file configures " + backplane::quoted(row.name) + ", which no loaded plugin offers");
  }
  return read;
}

Result<AdmissionChain::Plugins> ServerParts::make_admission(const PluginRows& rows, const AdmissionConfiguration& configuration) const {
  auto order = admission_order(rows.admission);
  if (!order.ok()) return std::move(order.status());
  const auto& flags = options().admission;
  AdmissionChain::Plugins made;
  if (extension) made.push_back(extension->namespace_check());
  for (const auto& name : enabled_admission(*order, rows.admission, flags.enable, flags.disable)) {
    const auto registration =
        std::find_if(rows.admission.begin(), rows.admission.end(), [&](const auto& each) { return each.name == name; });
    AdmissionPluginConfig plugin_config;
    for (const auto& row : configuration) {
      if (row.name == name) plugin_config = row.config;
    }
    const auto& owner = rows.admission_owners[static_cast<std::size_t>(registration - rows.admission.begin())];
    auto plugin = owner->admission(*registration, plugin_config);
    if (!plugin.ok()) return bad_request("couldn't init admission plugin " + backplane::quoted(name) + ": " + plugin.status().message());
    made.push_back(std::move(*plugin));
  }
  return made;
}

void ServerParts::report_admission(const PluginRows& rows) const {
  app_log().info("Loaded admission controller(s) in the following order: {}", joined(admission.names(), ", "));
  std::set<std::string> named(options().admission.enable.begin(), options().admission.enable.end());
  for (const auto& row : admission_configuration) named.insert(row.name);
  std::erase_if(named, [&](const std::string& name) { return offers_admission(rows, name); });
  const auto idle = idle_plugins();
  if (!named.empty() && !idle.empty()) {
    app_log().warn("admission plugins that flags name do not run, and writes are not checked by them: {}; plugins that do not run: {}",
                   joined({named.begin(), named.end()}, ", "), joined(idle, ", "));
  }
  if (extension) return;  // kube-apiserver's plugins run in the outer server
  if (const auto absent = absent_admission(rows.admission, options().admission.disable); !absent.empty()) {
    app_log().warn("no loaded plugin has these default admission plugins of kube-apiserver: {}", joined(absent, ", "));
  }
}

std::vector<AuthorizerPlace> ServerParts::authorizer_places(const PluginRows& rows) const {
  return rows.authorizer_order ? rows.authorizer_order->get() : places_of_modes(options().authorization.modes);
}

Result<std::shared_ptr<Authorization>> ServerParts::make_authorization(const PluginRows& rows) const {
  auto places = authorizer_places(rows);
  auto plan = plan_authorization(places, rows.authorizers);
  const auto before = services.authorizer.current();
  // At startup, check_offers() reports authorizers that no plugin offers.
  if ((before || rows.authorizer_order) && !plan.not_offered.empty()) {
    return bad_request("no plugin offers the authorizer " + joined(plan.not_offered, ", "));
  }
  if (extension) plan.places.insert(plan.places.begin(), extension->authorizer());
  return std::make_shared<Authorization>(std::move(plan.places), before.get());
}

Status ServerParts::publish_authorization() {
  const std::lock_guard lock(publishing_authorization);
  auto authorization = make_authorization(*plugins->rows());
  if (authorization.ok()) services.authorizer.publish(std::move(*authorization));
  return authorization.status();
}

Result<ServerTables> ServerParts::make_tables(const PluginRows& rows, AdmissionConfiguration configuration) {
  ServerTables tables;
  auto plugins_in_order = make_admission(rows, configuration);
  if (!plugins_in_order.ok()) return std::move(plugins_in_order.status());
  tables.admission = std::move(*plugins_in_order);
  tables.admission_configuration = std::move(configuration);
  AuthenticationConfig authentication_config;
  authentication_config.anonymous = options().authentication.anonymous;
  authentication_config.plugins = rows.authenticators;
  authentication_config.request_header = options().authentication.request_header;
  authentication_config.api_audiences = api_audiences(options().flags);
  authentication_config.certificate_uids = config.feature_gates().enabled("AllowParsingUserUIDFromCertAuth");
  tables.authentication = std::make_shared<const UnionAuthentication>(std::move(authentication_config));
  tables.tokens = std::make_shared<UnionTokenAuthentication>(rows.authenticators);
  auto authorization = make_authorization(rows);
  if (!authorization.ok()) return std::move(authorization.status());
  tables.authorization = std::move(*authorization);
  tables.audit = rows.audit;
  tables.transforming_plugin = rows.transforming_plugin;
  tables.transformers = rows.storage_transformers;
  return tables;
}

void ServerParts::publish(ServerTables tables) {
  if (extension) extension->publish(tables.admission);
  admission.publish(std::move(tables.admission));
  admission_configuration = std::move(tables.admission_configuration);
  services.authorizer.publish(std::move(tables.authorization));
  services.tokens.publish(std::move(tables.tokens));
  authentication.publish(std::move(tables.authentication));
  audit.use_executor(background);
  audit.set(std::move(tables.audit));
  transformers->use_rows(tables.transforming_plugin, std::move(tables.transformers));
}

void ServerParts::use_scheme(const std::shared_ptr<const Scheme>& scheme) {
  router->use_scheme(scheme);
  stores.use_scheme(scheme);
  for (const StoreParts& store : all_stores) store.encoded->use_scheme(scheme);
}

Status ServerParts::publish_scheme_and_routes(const PluginRows& rows) {
  std::vector<PathRoute> routes;
  if (Status status = install_health(rows, routes); !status.ok()) return status;
  use_scheme(rows.scheme);
  routes.insert(routes.end(), own_routes.begin(), own_routes.end());
  std::vector<TargetRef> chain = rows.delegates;
  chain.push_back(plugin_objects.target());
  const auto retained = retained_targets(rows);
  if (retained.empty()) return router->compose(std::move(chain), std::move(routes));
  auto with_retained = chain;
  with_retained.insert(with_retained.end(), retained.begin(), retained.end());
  Status status = router->compose(std::move(with_retained), routes);
  if (status.ok()) return status;
  app_log().error("the groups of absent plugins are not served error={:?}", status.message());
  return router->compose(std::move(chain), std::move(routes));
}

}  // namespace backplane
