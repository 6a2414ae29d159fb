// The plugin `core`: the legacy group, its storages, the system namespaces, and NamespaceLifecycle.
#include "backplane/plugin.hpp"

#include <array>
#include <cstdlib>

#include "accounts/openid.hpp"
#include "accounts/token_request.hpp"
#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/types/durations.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "components/statuses.hpp"
#include "connections/connections.hpp"
#include "kinds/kinds.hpp"
#include "namespaces/controller.hpp"
#include "namespaces/kubernetes_service.hpp"
#include "namespaces/lifecycle.hpp"
#include "namespaces/peer_lease.hpp"
#include "namespaces/storage.hpp"
#include "namespaces/system.hpp"
#include "peers/peer_proxy.hpp"
#include "pods/binding.hpp"
#include "pods/eviction.hpp"
#include "pods/resize.hpp"
#include "services/allocation.hpp"
#include "services/repair.hpp"

namespace backplane::core {
namespace {

using kit::GroupInstaller;
using workload::PodValidationOptions;

// Like kube-apiserver, accepts a negative --event-ttl. Events then have the shortest possible lifetime, one second.
std::chrono::seconds event_ttl(const Host& host) {
  const auto time = parse_duration(host.flag("event-ttl").value_or("1h"));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.value_or(std::chrono::hours(1)));
  return seconds.count() < 0 ? std::chrono::seconds(1) : seconds;
}

int number_of(const std::optional<std::string>& flag) { return flag ? std::atoi(flag->c_str()) : 0; }

KubernetesService kubernetes_service(const Host& host, std::string cluster_ip) {
  KubernetesService service;
  service.cluster_ip = std::move(cluster_ip);
  service.node_port = number_of(host.flag("kubernetes-service-node-port"));
  service.secure_port = number_of(host.flag("secure-port"));
  service.servers = number_of(host.flag("apiserver-count"));
  if (host.flag("endpoint-reconciler-type") != std::optional<std::string>("none") && host.resource_enabled({"", "v1", "endpoints"})) {
    service.advertise_address = host.flag("advertise-address").value_or("");
  }
  return service;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The signer is null if there is neither a signing key nor an external signer, or if --service-account-issuer is empty.
Result<TokenOptions> token_options(const Host& host, const std::shared_ptr<kit::ExternalSigner>& external) {
  TokenOptions out;
  const std::string key = host.flag("service-account-signing-key-file").value_or("");
  const auto issuers = list_of(host.flag("service-account-issuer").value_or(""));
  if ((key.empty() && external == nullptr) || issuers.empty()) return out;
  if (external != nullptr) {
    out.signer = make_external_issuer(external);
  } else {
    auto signer = kit::TokenSigner::from_file(key);
    if (!signer.ok()) return std::move(signer).status();
    out.signer = make_file_issuer(std::move(*signer));
  }
  out.issuer = issuers.front();
  out.audiences = list_of(host.flag("api-audiences").value_or(""));
  if (out.audiences.empty()) out.audiences = issuers;
  const auto longest = parse_duration(host.flag("service-account-max-token-expiration").value_or("0s"));
  if (longest) out.longest_seconds = std::chrono::duration_cast<std::chrono::seconds>(*longest).count();
  out.checks_uid = kit::gate_is_on(host, "TokenRequestServiceAccountUIDValidation");
  out.extends = host.flag("service-account-extend-token-expiration") != std::optional<std::string>("false");
  return out;
}

class CorePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto resources = make_resources(host);
    if (!resources.ok()) return std::move(resources).status();
    const PodValidationOptions options = workload::pod_validation_options(host);
    auto document = core_group({.pods = options,
                                .event_ttl = event_ttl(host),
                                .services = service_hooks(*resources),
                                .mutable_node_affinity = kit::gate_is_on(host, "MutablePVNodeAffinity")});
    if (!document.ok()) return std::move(document).status();
    GroupInstaller group(host, std::move(*document), {core_schemas()});
    if (Status status = group.add_kinds(); !status.ok()) return status;
    if (Status status = add_namespace_subresources(host, group); !status.ok()) return status;
    if (Status status = add_pod_subresources(host, group, options); !status.ok()) return status;
    auto signer = external_signer(host);
    if (!signer.ok()) return std::move(signer).status();
    if (Status status = add_token_requests(host, group, *signer); !status.ok()) return status;
    if (Status status = add_openid_paths(host, *signer); !status.ok()) return status;
    if (Status status = add_component_statuses(host, group); !status.ok()) return status;
    if (Status status = add_connections(host, group); !status.ok()) return status;
    if (Status status = group.install("core"); !status.ok()) return status;
    if (Status status = host.register_admission(make_namespace_lifecycle(group.store("namespaces"))); !status.ok()) return status;
    auto repair =
        std::make_shared<ServiceRepair>(group.store("services"), *resources, std::make_unique<WrittenEvents>(host), host.logger());
    if (Status status = add_repair(host, std::move(repair), (*resources)->addresses.shared_ranges()); !status.ok()) return status;
    return add_hooks(host, group.store("namespaces"), (*resources)->addresses.first_address());
  }

 private:
  static Result<std::shared_ptr<const ServiceResources>> make_resources(Host& host) {
    auto ranges = parse_ranges(host.flag("service-cluster-ip-range").value_or(""));
    if (!ranges.ok()) return std::move(ranges).status();
    const std::string text = host.flag("service-node-port-range").value_or("");
    auto ports = PortRange::parse(text.empty() ? "30000-32767" : text);
    if (!ports.ok()) return std::move(ports).status();
    auto allocations = host.make_storage(range_config());
    if (!allocations.ok()) return std::move(allocations).status();
    return std::make_shared<const ServiceResources>(
        ServiceResources{Addresses(std::make_shared<ServiceRanges>(std::move(*ranges)), [&host] { return find_addresses(host); }),
                         NodePorts(*ports, std::move(*allocations))});
  }

  // Returns the storage of IPAddresses that a plugin serves. If no plugin serves them, makes a private storage.
  static std::shared_ptr<StandardStorage> find_addresses(Host& host) {
    auto served = shared_role_of<StandardStorage>(host.find_storage({"networking.k8s.io", "v1", "ipaddresses"}));
    if (served != nullptr) return served;
    auto config = address_config();
    auto made = config.ok() ? host.make_storage(std::move(*config)) : Result<std::shared_ptr<StandardStorage>>(std::move(config).status());
    if (!made.ok()) host.logger().error("the storage of service addresses cannot be made: " + made.status().message());
    return made.ok() ? std::move(*made) : nullptr;
  }

  // Parses --service-cluster-ip-range, a list of CIDRs that are separated by commas.
  static Result<std::vector<AddressRange>> parse_ranges(std::string_view text) {
    if (text.empty()) text = "10.0.0.0/24";
    std::vector<AddressRange> out;
    for (std::size_t begin = 0; begin <= text.size();) {
      const auto end = std::min(text.find(',', begin), text.size());
      auto range = AddressRange::parse(text.substr(begin, end - begin));
      if (!range.ok()) return std::move(range).status();
      out.push_back(std::move(*range));
      begin = end + 1;
    }
    return out;
  }

  static Status add_repair(Host& host, std::shared_ptr<ServiceRepair> repair, std::shared_ptr<ServiceRanges> ranges) {
    if (!host.resource_enabled({"", "v1", "services"})) return {};
    return host.add_post_start_hook("start-service-ip-repair-controllers", [&host, repair, ranges](PostStartHookContext context) {
      return start_repair(host, repair, ranges, context);
    });
  }

  static Task<Status> start_repair(Host& host, std::shared_ptr<ServiceRepair> repair, std::shared_ptr<ServiceRanges> ranges,
                                   PostStartHookContext context) {
    auto informers = std::make_shared<SharedInformerFactory>(host);
    follow_service_cidrs(host, *informers, std::move(ranges));
    informers->start();
    const bool synced = co_await informers->wait_for_cache_sync();
    if (!synced) co_return Status();
    Status done = co_await repair->start(context.stop);
    if (!done.ok()) host.logger().error("repairing service addresses and node ports failed: " + done.message());
    host.spawn("service-ip-repair", keep_repairing(std::move(repair), std::move(informers), context.stop));
    co_return Status();
  }

  static Task<void> keep_repairing(std::shared_ptr<ServiceRepair> repair, std::shared_ptr<SharedInformerFactory>, Signal& stop) {
    co_await repair->run(stop);
  }

  static Status add_namespace_subresources(Host& host, GroupInstaller& group) {
    auto finalize = host.make_subresource(group.store("namespaces"), namespace_finalize_strategy());
    if (!finalize.ok()) return std::move(finalize).status();
    group.put("namespaces/finalize", make_finalize_storage(std::move(*finalize)));
    return {};
  }

  static Status add_pod_subresources(Host& host, GroupInstaller& group, PodValidationOptions options) {
    const auto pods = group.store("pods");
    auto ephemeral = host.make_subresource(pods, pod_ephemeral_containers_strategy(options));
    if (!ephemeral.ok()) return std::move(ephemeral).status();
    const ResizeGates gates{kit::gate_is_on(host, "InPlacePodLevelResourcesVerticalScaling"),
                            kit::gate_is_on(host, "InPlacePodVerticalScalingInitContainers")};
    auto resize = host.make_subresource(pods, pod_resize_strategy(options, gates));
    if (!resize.ok()) return std::move(resize).status();
    auto bound = host.make_subresource(pods, pod_binding_strategy());
    if (!bound.ok()) return std::move(bound).status();
    const Schema* binding = group.schemas()->find(GroupVersionKind{"", "v1", "Binding"});
    const Schema* eviction = group.schemas()->find(GroupVersionKind{"policy", "v1", "Eviction"});
    group.put("pods/ephemeralcontainers", std::move(*ephemeral));
    group.put("pods/resize", std::move(*resize));
    group.put("pods/binding", make_pod_binding(*bound, binding));
    group.put("bindings", make_bindings(*bound, binding));
    if (eviction != nullptr) {
      group.put("pods/eviction", make_eviction({pods, *bound, std::make_shared<ApiClient>(host.client()), eviction}));
    }
    return {};
  }

  static Status add_component_statuses(Host& host, GroupInstaller& group) {
    auto clients = make_component_clients(host);
    if (!clients.ok()) return std::move(clients).status();
    const Schema* schema = group.schemas()->find(GroupVersionKind{"", "v1", "ComponentStatus"});
    group.put("componentstatuses", make_component_statuses(std::move(*clients), schema));
    return {};
  }

  static Status add_connections(Host& host, GroupInstaller& group) {
    auto made = make_connections(host, {group.store("nodes"), group.store("pods"), group.store("services"), group.store("endpoints")});
    if (!made.ok()) return std::move(made).status();
    for (auto& [path, storage] : *made) group.put(path, std::move(storage));
    return {};
  }

  static Status add_token_requests(Host& host, GroupInstaller& group, const std::shared_ptr<kit::ExternalSigner>& external) {
    auto options = token_options(host, external);
    if (!options.ok() || options->signer == nullptr) return options.ok() ? Status() : std::move(options).status();
    const TokenStores stores{group.store("serviceaccounts"), group.store("pods"), group.store("secrets"), group.store("nodes")};
    const Schema* schema = group.schemas()->find(GroupVersionKind{"authentication.k8s.io", "v1", "TokenRequest"});
    group.put("serviceaccounts/token", make_token_requests(stores, std::move(*options), schema));
    return {};
  }

  static Status add_hooks(Host& host, std::shared_ptr<StandardStorage> namespaces, std::string first_address) {
    // Objects of a kind that --runtime-config disables cannot be created, so the hooks that create them are not registered.
    if (!host.resource_enabled({"", "v1", "namespaces"})) return {};
    Status status = add_namespaces(host, std::move(namespaces));
    if (!status.ok()) return status;
    if (host.resource_enabled({"", "v1", "services"})) {
      if (status.ok()) status = add_kubernetes_service(host, kubernetes_service(host, std::move(first_address)));
    }
    return status.ok() ? add_peers(host) : status;
  }

  using Election = std::shared_ptr<ControllerElection>;  // null: no namespace controller

  // One hook starts the creation of system namespaces and the namespace controller, because kube-apiserver has no hook for the latter.
  static Status add_namespaces(Host& host, std::shared_ptr<StandardStorage> namespaces) {
    Election election;
    if (host.flag("enable-namespace-controller") == std::optional<std::string>("true")) {
      auto made = ControllerElection::make(host);
      if (!made.ok()) return std::move(made).status();
      election = std::move(*made);
      Status status = host.add_pre_shutdown_hook("stop-namespace-controller", [election] { return election->resign(); });
      if (!status.ok()) return status;
    }
    return host.add_post_start_hook("start-system-namespaces-controller",
                                    [&host, namespaces = std::move(namespaces), election](PostStartHookContext context) {
                                      return start_namespaces(host, namespaces, election, context);
                                    });
  }

  static Task<Status> start_namespaces(Host& host, std::shared_ptr<StandardStorage> namespaces, Election election,
                                       PostStartHookContext context) {
    auto client = std::make_shared<ApiClient>(host.client());
    Status made = co_await make_system_namespaces(*client);
    if (!made.ok()) host.logger().error(made.message());
    host.spawn("system-namespaces-controller", keep_system_namespaces(client, context.stop, host.logger()));
    if (election != nullptr) start_namespace_controller(host, std::move(namespaces), std::move(election), context);
    co_return Status();
  }

  static Status add_kubernetes_service(Host& host, KubernetesService service) {
    std::optional<MasterLeases> leases;
    if (host.flag("endpoint-reconciler-type") != std::optional<std::string>("master-count")) {
      auto made = MasterLeases::make(host);
      if (!made.ok()) return std::move(made).status();
      leases = std::move(*made);
    }
    auto controller = std::make_shared<KubernetesServiceController>(host, std::move(service), std::move(leases));
    Status status =
        host.add_post_start_hook("bootstrap-controller", [controller](PostStartHookContext context) { return controller->start(context); });
    if (!status.ok()) return status;
    return host.add_pre_shutdown_hook("stop-kubernetes-service-controller", [controller] { return controller->stop(); });
  }

  static Status add_peers(Host& host) {
    const bool asks_peers = !host.flag("peer-ca-file").value_or("").empty();
    kit::PeerAddress address = kit::peer_address(host);
    if (!kit::gate_is_on(host, "UnknownVersionInteroperabilityProxy") || (!address.known() && !asks_peers)) return {};
    auto records = ServerRecords::make(host, "peerserverleases");
    if (!records.ok()) return std::move(records).status();
    Status status = asks_peers ? PeerProxy::install(host, *records) : Status();
    if (status.ok() && address.known()) status = add_peer_lease(host, std::move(*records), std::move(address));
    return status;
  }

  static Status add_peer_lease(Host& host, ServerRecords records, kit::PeerAddress address) {
    auto lease = std::make_shared<PeerLease>(host, std::move(records), std::move(address));
    constexpr const char* kHook = "peer-endpoint-reconciler-controller";
    Status status = host.add_post_start_hook(kHook, [lease](PostStartHookContext context) { return lease->start(context); });
    if (!status.ok()) return status;
    return host.add_pre_shutdown_hook(kHook, [lease] { return lease->stop(); });
  }
};

}  // namespace
}  // namespace backplane::core

BACKPLANE_PLUGIN(backplane::core::CorePlugin)
