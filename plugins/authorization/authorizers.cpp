#include "authorizers.hpp"

#include <set>

#include "abac/abac_authorizer.hpp"
#include "backplane/kit/watched_file.hpp"
#include "backplane/net/informer.hpp"
#include "config/reload.hpp"
#include "node/graph_populator.hpp"
#include "node/node_authorizer.hpp"

namespace backplane::authorization {
namespace {

std::set<std::string> modes_of(std::string_view list) {
  std::set<std::string> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) out.emplace(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

bool gate(const Host& host, std::string_view name) { return host.flag("feature-gates." + std::string(name)) == "true"; }

// Runs the informers of the authorizer Node from the time when the storages are open until the server stops. Until the lists are complete,
// the authorizer has no opinion on requests of nodes. This task is not a post-start hook: kube-apiserver has no hook for it, and /readyz
// shows hooks.
Task<void> follow_objects(Host& host, std::shared_ptr<SharedInformerFactory> informers) {
  const Promise<bool> begin;
  host.groups_complete().on_fire([begin] { begin.set(true); });
  host.stop_signal().on_fire([begin] { begin.set(false); });
  auto beginning = begin.future();
  const bool running = co_await beginning;
  if (!running) co_return;
  informers->start();
  auto stopping = host.stop_signal().wait();
  co_await std::move(stopping);
}

Status add_node(Host& host) {
  NodeFeatures features;
  features.cluster_trust_bundles = gate(host, "ClusterTrustBundle");
  features.credential_provider_tokens = gate(host, "KubeletServiceAccountTokenForCredentialProviders");
  features.pod_certificate_requests = gate(host, "PodCertificateRequest");
  auto graph = std::make_shared<NodeGraph>();
  auto informers = std::make_shared<SharedInformerFactory>(host);
  for (const GraphResource& row : graph_resources()) {
    if (row.resource.resource == "podcertificaterequests" && !features.pod_certificate_requests) continue;
    if (!host.resource_enabled(row.resource)) continue;
    informers->for_resource(row.resource)->add_event_handler(graph_handler(graph, row));
  }
  Status status = host.register_authorizer(std::make_shared<NodeAuthorizer>(graph, features));
  if (status.ok()) host.spawn("node-authorizer-graph", follow_objects(host, std::move(informers)));
  return status;
}

Status add_abac(Host& host) {
  const std::string file = host.flag("authorization-policy-file").value_or("");
  auto policy = read_abac_policy(file);
  if (!policy.ok()) return std::move(policy).status();
  if (policy->unversioned > 0) {
    host.logger().warn("Policy file " + file + " contained unversioned rules. See docs/operations.md for the file format.");
  }
  return host.register_authorizer(std::make_shared<AbacAuthorizer>(std::move(policy->rules)));
}

Status add_webhook(Host& host, const WebhookFactory& factory) {
  auto config = webhook_of_flags(host);
  if (!config.ok()) return std::move(config).status();
  auto authorizer = factory.make("default", *config);
  if (!authorizer.ok()) return bad_request("--authorization-webhook-config-file: " + authorizer.status().message());
  return host.register_authorizer(std::move(*authorizer));
}

Status add_configuration(Host& host, const WebhookFactory& factory, const std::string& file, std::string text, AuthorizationConfig config) {
  auto places = factory.places(config);
  if (!places.ok()) return bad_request("--authorization-config: " + places.status().message());
  Status status = host.set_authorizer_order(std::move(*places));
  if (!status.ok()) return status;
  auto reload = std::make_shared<ConfigurationReload>(host, factory, file, std::move(text), std::move(config));
  host.spawn("authorization-config", ConfigurationReload::run(std::move(reload)));
  return {};
}

}  // namespace

Status provision_authorizers(Host& host, std::shared_ptr<const SchemaSet> schemas) {
  const WebhookFactory factory(host, std::move(schemas));
  const std::string file = host.flag("authorization-config").value_or("");
  std::set<std::string> types = modes_of(host.flag("authorization-mode").value_or(""));
  std::string text;
  AuthorizationConfig config;
  if (!file.empty()) {
    auto content = kit::read_bounded_file(file);
    if (!content.ok()) return bad_request("--authorization-config: " + content.status().message());
    text = std::move(*content);
    auto loaded = load_configuration(text);
    if (!loaded.ok()) return bad_request("--authorization-config: " + loaded.status().message());
    config = std::move(*loaded);
    types.clear();
    for (const AuthorizerConfig& each : config.authorizers) types.insert(each.type);
  } else if (types.empty()) {
    types = {"Node"};  // without the flag, the host's order applies
  }
  Status status;
  if (types.contains("Node")) status = add_node(host);
  if (status.ok() && types.contains("ABAC")) status = add_abac(host);
  if (!status.ok()) return status;
  if (!file.empty()) return add_configuration(host, factory, file, std::move(text), std::move(config));
  return types.contains("Webhook") ? add_webhook(host, factory) : Status();
}

}  // namespace backplane::authorization
