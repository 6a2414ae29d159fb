#include "plugin/staging_host.hpp"

#include <algorithm>

#include "backplane/core/server_slot.hpp"
#include "plugin/fenced_hooks.hpp"
#include "plugin/log.hpp"
#include "plugin/registration_checks.hpp"

namespace backplane {

// ---- names

TakenNames::TakenNames(const std::map<std::string, std::string>& taken) {
  for (const auto& [name, registrant] : taken) taken_ = taken_.with(name, registrant);
}

Status TakenNames::take(const std::string& kind, const std::string& name, const std::string& registrant) {
  const std::string key = kind + " " + name;
  if (const std::string* first = taken_.find(key)) return Status(Reason::kAlreadyExists, key + " is already registered by " + *first);
  taken_ = taken_.with(key, registrant);
  return {};
}

const std::string* TakenNames::registrant(const std::string& kind, const std::string& name) const { return taken_.find(kind + " " + name); }

void TakenNames::release(const std::string& registrant) {
  PersistentMap<std::string> left = taken_;
  taken_.each([&](const std::string& name, const std::string& by) {
    if (by == registrant) left = left.without(name);
  });
  taken_ = std::move(left);
}

TakenNames TakenNames::without(const std::string& registrant) const {
  TakenNames out = *this;
  out.release(registrant);
  return out;
}

// ---- a change

namespace {

std::shared_ptr<RestStorage> storage_in(const std::vector<TargetRef>& targets, const GroupVersionResource& resource) {
  for (const auto& target : targets) {
    for (const auto& group : target->groups) {
      const auto version = group.storages.find(resource.version);
      if (group.group != resource.group || version == group.storages.end()) continue;
      const auto found = version->second.find(resource.resource);
      if (found != version->second.end()) return found->second;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<std::shared_ptr<RestStorage>> UnpublishedTargets::find(const GroupVersionResource& resource) const {
  if (auto found = storage_in(next, resource)) return found;
  if (storage_in(former, resource)) return nullptr;
  return std::nullopt;
}

// ---- parts

class StagingHost::PluginLogger final : public Logger {
 public:
  explicit PluginLogger(const std::string& plugin) : logger_(folder_logger("plugin/" + plugin)) {}
  void error(std::string_view text) override { log(LogLevel::kError, text); }
  void warn(std::string_view text) override { log(LogLevel::kWarn, text); }
  void info(std::string_view text) override { log(LogLevel::kInfo, text); }
  void debug(std::string_view text) override { log(LogLevel::kDebug, text); }

 private:
  // The line belongs to the server also if a thread of the plugin or of its libraries, which has no server slot, logs it.
  void log(LogLevel level, std::string_view text) {
    const ServerScope server(slot_);
    logger_.log(level, text);
  }

  FolderLog& logger_;
  const ServerSlot slot_ = current_server_slot();
};

namespace {

void tie_storages(const Hold& hold, std::map<std::string, std::shared_ptr<RestStorage>>& storages) {
  for (auto& [_, storage] : storages) storage = tied(hold, std::move(storage));
}

}  // namespace

class StagingHost::PublishedGroups final : public DynamicGroups {
 public:
  PublishedGroups(std::string plugin, HostServices& services, const Hold& hold, std::shared_ptr<const std::atomic<bool>> committed)
      : plugin_(std::move(plugin)), services_(services), hold_(hold), committed_(std::move(committed)) {}
  Status change(GroupsChange change) override {
    if (!committed_->load(std::memory_order_acquire)) {
      return service_unavailable("groups can be published once the server starts: do it in a post-start hook");
    }
    for (const auto& resource : change.put) {
      Status status = check_published(resource);
      if (!status.ok()) return status;
    }
    for (const auto& version : change.forwarded) {
      Status status = check_forwarded(version);
      if (!status.ok()) return status;
    }
    auto names = EquivalentResourceTable::names_of(change);
    tie(change);
    Status changed = services_.api.change(plugin_, std::move(change));
    if (!changed.ok()) return changed;
    services_.equivalents.apply(std::move(names));
    services_.stores.end_replaced(hold_.lock());
    return changed;
  }

 private:
  void tie(GroupsChange& change) const {
    const Hold hold = hold_.lock();
    for (auto& resource : change.put) {
      for (auto& version : resource.versions) tie_storages(hold, version.storages);
    }
    for (auto& version : change.forwarded) version.handler = tied(hold, std::move(version.handler));
  }

  std::string plugin_;
  HostServices& services_;
  std::weak_ptr<const void> hold_;  // the plugin may keep a reference to this object
  std::shared_ptr<const std::atomic<bool>> committed_;
};

class StagingHost::PublishedPaths final : public DynamicPaths {
 public:
  PublishedPaths(std::string plugin, HostServices& services, const Hold& hold, std::shared_ptr<const std::atomic<bool>> committed)
      : plugin_(std::move(plugin)), services_(services), hold_(hold), committed_(std::move(committed)) {}
  Status publish(PathRoute route) override {
    if (!committed_->load(std::memory_order_acquire)) return not_started();
    auto status = check_path(route);
    if (!status.ok()) return status;
    route.handler = tied(hold_.lock(), std::move(route.handler));
    return services_.api.publish_path(plugin_, std::move(route));
  }
  Status withdraw(std::string path) override {
    return committed_->load(std::memory_order_acquire) ? services_.api.withdraw_path(plugin_, path) : not_started();
  }

 private:
  static Status not_started() { return service_unavailable("paths can be published once the server starts: do it in a post-start hook"); }

  std::string plugin_;
  HostServices& services_;
  std::weak_ptr<const void> hold_;
  std::shared_ptr<const std::atomic<bool>> committed_;
};

// ---- the host

StagingHost::StagingHost(std::string plugin, HostServices& services, TakenNames& names, GenerationParts parts)
    : plugin_(std::move(plugin)),
      services_(services),
      names_(names),
      parts_(std::move(parts)),
      hold_(parts_.hold),
      logger_(std::make_unique<PluginLogger>(plugin_)),
      stop_(plugin_, parts_.stop) {
  parts_.hold = nullptr;
  staged_.target.name = plugin_;
  staged_.target.watches = std::make_shared<OpenWatches>();
}

StagingHost::~StagingHost() = default;

StagedRegistrations StagingHost::commit() {
  committed_->store(true, std::memory_order_release);
  for (auto& callback : staged_.group_version_callbacks) services_.api.on_group_versions_changed(std::move(callback), this);
  for (auto& task : staged_.tasks) spawn(std::move(task.name), std::move(task.task));
  staged_.group_version_callbacks.clear();
  staged_.tasks.clear();
  return std::move(staged_);
}

Logger& StagingHost::logger() { return *logger_; }

Status StagingHost::admit(const std::string& kind, const std::string& name) {
  if (committed_->load(std::memory_order_acquire)) return too_late(kind);
  if (name.empty()) return bad_request("a " + kind + " without a name cannot be registered");
  return names_.take(kind, name, plugin_);
}

// Without both conversions, a storage of a version that is not the stored one would fail at its first request.
Status StagingHost::check_conversions(const ResourceConfig& config) {
  if (config.stored_kind.kind.empty() || config.converter != nullptr) return {};
  const auto print = [](const GroupVersionKind& kind) { return kind.group_version().to_string() + ", Kind=" + kind.kind; };
  const auto missing = [&](const GroupVersionKind& from, const GroupVersionKind& to) {
    return bad_request("resource " + backplane::quoted(config.resource) + ": there is no conversion from " + print(from) + " to " +
                       print(to) + ": add it to the Scheme before the storage is made");
  };
  if (!scheme().converts(config.kind, config.stored_kind)) return missing(config.kind, config.stored_kind);
  if (!scheme().converts(config.stored_kind, config.kind)) return missing(config.stored_kind, config.kind);
  return {};
}

Result<std::shared_ptr<StandardStorage>> StagingHost::make_storage(ResourceConfig config) {
  Status convertible = check_conversions(config);
  if (!convertible.ok()) return convertible;
  const std::string version = config.kind.group_version().to_string();
  const bool staged = !committed_->load(std::memory_order_acquire) && config.stored_kind.kind.empty() && config.strategy != nullptr;
  std::optional<StoredKindFacts> facts;
  if (staged) facts = stored_kind_facts(config);
  auto made = make_store(services_.stores, std::move(config), hold());
  if (made.ok() && facts) staged_.stored_kinds.push_back(std::move(*facts));
  const std::string* first = names_.registrant("group version", version);
  if (made.ok() || first == nullptr || *first == plugin_) return made;
  return Status(Reason::kAlreadyExists, made.status().message() + ": group version " + version + " is already registered by " + *first);
}

Result<std::shared_ptr<SubresourceStorage>> StagingHost::make_subresource(std::shared_ptr<StandardStorage> parent,
                                                                          std::shared_ptr<const Strategy> strategy,
                                                                          std::shared_ptr<const Strategy> own) {
  return make_subresource_store(std::move(parent), std::move(strategy), std::move(own));
}

Result<std::shared_ptr<SubresourceStorage>> StagingHost::make_scale(std::shared_ptr<StandardStorage> parent, ScalePaths paths) {
  return make_scale_store(std::move(parent), std::move(paths));
}

Status StagingHost::install_api_group(APIGroupInfo info) {
  if (info.prioritized_versions.empty()) {
    for (std::string& version : scheme().prioritized_versions(info.group)) {
      if (info.storages.contains(version)) info.prioritized_versions.push_back(std::move(version));
    }
  }
  auto status = check_group(info);
  for (auto version = info.prioritized_versions.begin(); status.ok() && version != info.prioritized_versions.end(); ++version) {
    status = admit("group version", GroupVersion{info.group, *version}.to_string());
  }
  if (!status.ok()) return status;
  for (auto& [_, storages] : info.storages) tie_storages(hold(), storages);
  for (auto& [_, schemas] : info.schemas) schemas = tied(hold(), std::move(schemas));
  staged_.target.groups.push_back(std::move(info));
  return status;
}

std::shared_ptr<DynamicGroups> StagingHost::dynamic_groups() {
  staged_.target.publishes_at_run_time = true;
  return std::make_shared<PublishedGroups>(plugin_, services_, hold(), committed_);
}

std::vector<GroupVersionInfo> StagingHost::group_versions() const { return services_.api.group_versions(); }

void StagingHost::on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback) {
  if (!callback) return;
  std::function<void(const GroupVersionsChange&)> fenced = [plugin = plugin_,
                                                            callback = std::move(callback)](const GroupVersionsChange& change) {
    fenced_callback(plugin, "callback of on_group_versions_changed()", [&] { callback(change); })();
  };
  fenced = tied(hold(), std::move(fenced));
  if (committed_->load(std::memory_order_acquire)) {
    services_.api.on_group_versions_changed(std::move(fenced), this);
  } else {
    staged_.group_version_callbacks.push_back(std::move(fenced));
  }
}

Signal& StagingHost::groups_complete() {
  // The host makes the signal when the groups are installed.
  std::call_once(groups_complete_made_, [this] { groups_complete_.emplace(plugin_, services_.api.groups_complete()); });
  return *groups_complete_;
}

std::shared_ptr<HttpClient> StagingHost::client() { return services_.access.client(parts_.tasks, std::nullopt); }
std::shared_ptr<HttpClient> StagingHost::client_as(UserInfo user) { return services_.access.client(parts_.tasks, std::move(user)); }
Result<std::shared_ptr<HttpClient>> StagingHost::make_client(ClientConfig config) {
  return services_.access.make_client(parts_.tasks, std::move(config));
}

std::shared_ptr<RestStorage> StagingHost::find_storage(const GroupVersionResource& resource) const {
  if (!committed_->load(std::memory_order_acquire)) return nullptr;
  if (const auto unpublished = unpublished_.get()) {
    if (auto found = unpublished->find(resource)) return services_.settings.resource_enabled(resource) ? *found : nullptr;
  }
  return services_.api.find_storage(resource);
}

bool StagingHost::resource_enabled(const GroupVersionResource& resource) const { return services_.settings.resource_enabled(resource); }

Status StagingHost::handle(PathRoute route) {
  auto status = check_path(route);
  if (status.ok()) status = admit("path", route.path + (route.prefix ? " and below" : ""));
  if (!status.ok()) return status;
  route.handler = registered(std::move(route.handler));
  staged_.target.paths.push_back(std::move(route));
  return {};
}

std::shared_ptr<DynamicPaths> StagingHost::dynamic_paths() {
  staged_.target.publishes_paths = true;
  return std::make_shared<PublishedPaths>(plugin_, services_, hold(), committed_);
}

Status StagingHost::add_post_start_hook(std::string name, PostStartHook hook) {
  if (!hook) return bad_request("hook func may not be nil: " + backplane::quoted(name));
  auto status = admit("poststarthook", name);
  if (!status.ok()) return status;
  const auto kept = std::make_shared<const PostStartHook>(std::move(hook));
  registered_.push_back(kept);
  PostStartHook fenced = [plugin = plugin_, name, kept, this](PostStartHookContext context) {
    return fenced_post_start(plugin, name, *kept, PostStartHookContext{context.executor, stop_});
  };
  staged_.target.post_start_hooks.push_back({std::move(name), tied(hold(), std::move(fenced)), plugin_});
  return {};
}

Status StagingHost::add_pre_shutdown_hook(std::string name, PreShutdownHook hook) {
  if (!hook) return bad_request("hook func may not be nil: " + backplane::quoted(name));
  auto status = admit("preshutdownhook", name);
  if (!status.ok()) return status;
  const auto kept = std::make_shared<const PreShutdownHook>(std::move(hook));
  registered_.push_back(kept);
  PreShutdownHook fenced = [plugin = plugin_, name, kept] { return fenced_pre_shutdown(plugin, name, *kept); };
  staged_.target.pre_shutdown_hooks.push_back({std::move(name), tied(hold(), std::move(fenced)), plugin_});
  return {};
}

Status StagingHost::add_health_check(std::shared_ptr<HealthCheck> check, HealthEndpoints where) {
  if (!check) return no_object("health check");
  auto name = check->name();
  auto status = admit("check", name);
  if (!status.ok()) return status;
  registered_.push_back(check);
  auto fenced = fenced_health_check(plugin_, std::move(name), std::move(check));
  staged_.target.health_checks.push_back({tied(hold(), std::move(fenced)), where, plugin_});
  return {};
}

Result<std::shared_ptr<Signal>> StagingHost::register_mux_and_discovery_complete_signal(std::string name) {
  auto status = admit("signal", name);
  if (!status.ok()) return status;
  auto signal = std::make_shared<NamedSignal>(name);
  staged_.target.mux_and_discovery_signals.emplace(std::move(name), signal);
  return std::shared_ptr<Signal>(std::move(signal));
}

Status StagingHost::register_storage_backend(std::string name, StorageBackendFactory factory) {
  if (!factory) return no_object("storage backend factory");
  auto status = admit("storage", name);
  if (!status.ok()) return status;
  auto fenced = fenced_factory(plugin_, name, std::move(factory));
  staged_.storage_backends.emplace(std::move(name), std::move(fenced));
  return {};
}

Status StagingHost::register_authenticator(std::shared_ptr<Authenticator> authenticator) {
  if (!authenticator) return no_object("authenticator");
  auto status = admit("authenticator", std::string(authenticator->name()));
  if (status.ok()) staged_.authenticators.push_back(registered(std::move(authenticator)));
  return status;
}

Status StagingHost::register_authorizer(std::shared_ptr<Authorizer> authorizer) {
  if (!authorizer) return no_object("authorizer");
  auto status = admit("authorizer", std::string(authorizer->name()));
  if (status.ok()) staged_.authorizers.push_back(registered(std::move(authorizer)));
  return status;
}

Status StagingHost::set_authorizer_order(std::vector<AuthorizerPlace> places) {
  for (AuthorizerPlace& place : places) {
    if (place.authorizer) place.authorizer = tied(hold(), std::move(place.authorizer));
  }
  if (!authorizer_order_) {
    if (auto status = admit("authorizer", "order"); !status.ok()) return status;
    authorizer_order_ = std::make_shared<AuthorizerOrder>();
    staged_.authorizer_order = authorizer_order_;
  }
  auto former = authorizer_order_->get();
  authorizer_order_->set(std::move(places));
  if (!committed_->load(std::memory_order_acquire)) return {};
  auto status = services_.access.authorizer_order_changed();
  if (!status.ok()) authorizer_order_->set(std::move(former));
  return status;
}

Status StagingHost::register_admission(AdmissionRegistration registration) {
  if (!registration.factory) return no_object("factory of an admission plugin");
  auto status = admit("admission", registration.name);
  if (!status.ok()) return status;
  registration.factory = fenced_admission(registration.name, std::move(registration.factory), hold());
  staged_.admission.push_back(std::move(registration));
  return {};
}

Status StagingHost::register_audit(AuditRegistration registration) {
  if (!registration.policy || !registration.sink) return no_object("audit policy or sink");
  auto status = admit("audit", std::string(registration.sink->name()));
  if (!status.ok()) return status;
  registration.policy = registered(std::move(registration.policy));
  registration.sink = registered(std::move(registration.sink));
  staged_.audit.push_back(std::move(registration));
  return {};
}

Status StagingHost::set_storage_transformers(std::shared_ptr<const StorageTransformers> transformers) {
  if (committed_->load(std::memory_order_acquire)) {
    return services_.access.set_storage_transformers(plugin_, tied(hold(), std::move(transformers)));
  }
  if (!transformers) return no_object("storage transformers");
  auto status = staged_.storage_transformers != nullptr ? Status() : admit("storage", "transformers");
  if (status.ok()) staged_.storage_transformers = registered(std::move(transformers));
  return status;
}

Task<Result<Object>> StagingHost::convert(GroupVersionKind to, Object object) {
  auto converting = services_.access.convert(std::move(to), std::move(object));
  auto converted = co_await std::move(converting);
  co_return converted;
}

Status StagingHost::register_request_gate(std::shared_ptr<RequestGate> gate) {
  if (!gate) return no_object("request gate");
  auto status = admit("request", "gate");
  if (status.ok()) staged_.request_gate = registered(std::move(gate));
  return status;
}

std::vector<StoredObjects> StagingHost::stored_objects() const { return services_.access.stored_objects(); }

Status StagingHost::register_peer_servers(std::shared_ptr<PeerServers> peers) {
  if (!peers) return no_object("peer servers");
  auto status = admit("peer", "servers");
  if (status.ok()) staged_.peer_servers = registered(std::move(peers));
  return status;
}

void StagingHost::spawn(std::string name, Task<void> task) {
  if (committed_->load(std::memory_order_acquire)) {
    parts_.tasks.spawn(executor(), plugin_ + ": " + name, std::move(task));
  } else {
    staged_.tasks.push_back({std::move(name), std::move(task)});
  }
}

std::optional<std::string> StagingHost::flag(std::string_view name) const { return services_.settings.flag(name); }

}  // namespace backplane
