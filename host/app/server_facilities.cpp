// The host's facilities for its plugins.
#include "app/api_audiences.hpp"
#include "app/server_parts.hpp"
#include "backplane/core/text.hpp"
#include "client/remote_client.hpp"
#include "http/local_client.hpp"
#include "registry/served_conversion.hpp"

namespace backplane {

// The names that the host has registered, which plugins cannot register.
std::map<std::string, std::string> host_names() {
  std::map<std::string, std::string> taken;
  for (const char* path : {"/",
                           "/api",
                           "/apis",
                           "/openapi/v2",
                           "/openapi/v3",
                           "/version",
                           "/healthz",
                           "/livez",
                           "/readyz",
                           "/metrics",
                           "/metrics/slis",
                           "/statusz",
                           "/flagz",
                           "/debug/chain",
                           "/debug/plugins",
                           "/debug/store/range",
                           "/debug/store/hold",
                           "/debug/store/release",
                           "/debug/store/facts",
                           "/debug/store/check"}) {
    taken.emplace(std::string("path ") + path, std::string(kTheHost));
  }
  for (const char* check : {"ping", "log", "loopback-serving-certificate", "etcd", "etcd-readiness", "informer-sync", "shutdown"}) {
    taken.emplace(std::string("check ") + check, std::string(kTheHost));
  }
  taken.emplace("storage " + std::string(kMemoryBackend), std::string(kTheHost));
  for (const char* hook : {"storage-readiness", "generic-apiserver-start-informers", "start-apiserver-admission-initializer",
                           "storage-object-count-tracker-hook", "max-in-flight-filter"}) {
    taken.emplace(std::string("poststarthook ") + hook, std::string(kTheHost));
  }
  taken.emplace("group version " + std::string(kPluginsGroup) + "/" + std::string(kPluginsVersion), std::string(kTheHost));
  return taken;
}

std::optional<std::string> ServerFacilities::flag(std::string_view name) const {
  if (name == "secure-port") return std::to_string(parts_.server->port());
  // The outer server issues the tokens and sets their audiences.
  if (parts_.extension && (name == "service-account-signing-key-file" || name == "api-audiences" || name == "service-account-issuer")) {
    return std::string();
  }
  if (name == "service-account-signing-key-file") return parts_.pki->token_key_file;
  if (name == "api-audiences") return joined(api_audiences(parts_.options().flags));
  // "feature-gates.Name": whether the gate is on.
  constexpr std::string_view kGate = "feature-gates.";
  if (name.starts_with(kGate)) return std::string(parts_.config.feature_gates().enabled(name.substr(kGate.size())) ? "true" : "false");
  // "changed.NAME": whether the command line sets the flag; "changed.": whether it sets any.
  constexpr std::string_view kChanged = "changed.";
  if (name.starts_with(kChanged)) {
    const FlagSet& flags = parts_.options().flags;
    const std::string_view of = name.substr(kChanged.size());
    return std::string((of.empty() ? flags.any_changed() : flags.changed(of)) ? "true" : "false");
  }
  auto text = parts_.options().flags.text(name);
  if (name == "service-account-issuer" && text && text->empty()) return std::string(kDefaultIssuer);
  return text;
}

bool ServerFacilities::resource_enabled(const GroupVersionResource& resource) const {
  // Plugins maintain objects of the core group only in a server that serves this group.
  if (parts_.extension && resource.group.empty()) return false;
  return parts_.config.enablement().resource_enabled(resource);
}

Status ServerFacilities::change(const std::string& delegate, GroupsChange change) {
  return parts_.router->change(delegate, std::move(change));
}

std::vector<GroupVersionInfo> ServerFacilities::group_versions() const { return parts_.router->group_versions(); }

void ServerFacilities::on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void* owner) {
  parts_.router->on_group_versions_changed(std::move(callback), owner);
}

void ServerFacilities::drop_callbacks(const void* owner) {
  if (routes_) parts_.router->drop_callbacks(owner);
}

Signal& ServerFacilities::groups_complete() { return parts_.router->groups_complete(); }

std::shared_ptr<RestStorage> ServerFacilities::find_storage(const GroupVersionResource& resource) const {
  if (parts_.extension) {
    if (auto outer = parts_.extension->find_storage(resource)) return outer;
  }
  return parts_.router->find_storage(resource);
}

Status ServerFacilities::publish_path(const std::string& delegate, PathRoute route) {
  return parts_.router->publish_path(delegate, std::move(route));
}

Status ServerFacilities::withdraw_path(const std::string& delegate, const std::string& path) {
  return parts_.router->withdraw_path(delegate, path);
}

std::shared_ptr<HttpClient> ServerFacilities::client(TaskGroup& tasks, std::optional<UserInfo> user) {
  auto local = make_local_client(parts_.loopback_root, tasks, user);
  return parts_.extension ? parts_.extension->client(std::move(local), std::move(user)) : local;
}

Result<std::shared_ptr<HttpClient>> ServerFacilities::make_client(TaskGroup& tasks, ClientConfig config) {
  return make_remote_client(parts_.background, tasks, std::move(config), &parts_.loops);
}

std::vector<StoredObjects> ServerFacilities::stored_objects() const {
  return parts_.caches ? parts_.caches->counts() : std::vector<StoredObjects>();
}

Status ServerFacilities::authorizer_order_changed() { return parts_.publish_authorization(); }

Status ServerFacilities::set_storage_transformers(const std::string& plugin, std::shared_ptr<const StorageTransformers> transformers) {
  return parts_.transformers->set(plugin, std::move(transformers));
}

Task<Result<Object>> ServerFacilities::convert(GroupVersionKind to, Object object) {
  auto storage = parts_.router->find_storage_of(to);
  return convert_served(std::move(storage), parts_.plugins->rows()->scheme, to, std::move(object));
}

}  // namespace backplane
