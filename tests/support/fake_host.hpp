// A host for tests. Stores are maps. Work runs on the test's thread when the test requests it; timers fire if no other work is queued.
//
// Thread-safety: one thread.
#pragma once

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/points/audit.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/points/peers.hpp"
#include "backplane/points/request_gate.hpp"
#include "backplane/points/storage_transformer.hpp"
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/scheme.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/update_info.hpp"
#include "turn_executor.hpp"

namespace backplane::test {

class FakeStream final : public WatchStream {
 public:
  Task<Result<std::vector<WatchEvent>>> next() override {
    if (queue.empty() && !cancelled) {
      woken = Promise<bool>();
      auto waiting = woken.future();
      co_await waiting;
    }
    co_return std::exchange(queue, {});
  }
  void cancel() override {
    cancelled = true;
    woken.set(true);
  }
  void push(const WatchEvent& event) {
    queue.push_back(event);
    woken.set(true);
  }
  std::vector<WatchEvent> queue;
  Promise<bool> woken;
  bool cancelled = false;
};

// The stream that a FakeStore returns. It forwards to a FakeStream, which the store also holds and adds events to.
class StreamHandle final : public WatchStream {
 public:
  explicit StreamHandle(std::shared_ptr<FakeStream> stream) : stream_(std::move(stream)) {}
  Task<Result<std::vector<WatchEvent>>> next() override { return stream_->next(); }
  void cancel() override { stream_->cancel(); }

 private:
  std::shared_ptr<FakeStream> stream_;
};

class FakeStore final : public StandardStorage {
 public:
  explicit FakeStore(ResourceConfig given) : config(std::move(given)) {
    if (config.strategy == nullptr) config.strategy = std::make_shared<Strategy>();
  }

  GroupVersionKind kind() const override { return config.kind; }
  const Schema* schema() const override { return config.schema; }
  bool namespaced() const override { return config.strategy->facts().namespaced; }
  std::string singular_name() const override { return config.singular; }
  std::vector<std::string> short_names() const override { return config.short_names; }
  std::vector<std::string> categories() const override { return config.categories; }
  GroupVersionKind storage_version() const override { return config.kind; }
  const TableConvertor& table_convertor() const override { return config.strategy->table_convertor(); }
  std::string list_kind() const override { return config.list_kind; }
  std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const override {
    const auto& fields = config.strategy->facts().selectable;
    const auto found = std::find_if(fields.begin(), fields.end(), [label](const SelectableField& each) { return each.label == label; });
    if (found != fields.end()) return object.fields().at(static_cast<std::size_t>(found - fields.begin()));
    return std::nullopt;
  }

  Task<Result<ObjectRef>> get(RequestContext&, std::string name, GetOptions) override {
    const auto found = data.find(name);
    if (found == data.end()) co_return not_found(config.kind.group, config.resource, name);
    co_return found->second;
  }
  Task<Result<ListResult>> list(RequestContext&, ListOptions) override {
    std::vector<ObjectRef> entries;
    for (const auto& [name, entry] : data) entries.push_back(entry);
    ListResult result;
    result.revision = revision;
    result.items = make_cursor(std::move(entries));
    co_return result;
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext&, ListOptions options) override {
    streams.push_back(std::make_shared<FakeStream>());
    if (options.send_initial_events.value_or(false)) show_all(*streams.back());
    co_return std::unique_ptr<WatchStream>(std::make_unique<StreamHandle>(streams.back()));
  }
  Task<Result<ObjectRef>> create(RequestContext&, Object& object, WriteOptions) override {
    if (refuse_creates > 0 && refuse_creates-- > 0) co_return service_unavailable("not now");
    if (held_create) {
      auto until = held_create->future();
      co_await until;
    }
    ++creates;
    if (meta_text(object, "uid").empty()) ObjectMeta(object).set("uid", "uid-" + std::to_string(creates));
    co_return put(object, WatchEvent::Type::kAdded);
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions, bool) override {
    if (refuse_updates > 0 && refuse_updates-- > 0) co_return service_unavailable("not now");
    if (throw_on_update > 0 && throw_on_update-- > 0) throw std::runtime_error("broken");
    if (auto first = std::exchange(before_update, nullptr)) first();
    const auto found = data.find(name);
    if (found == data.end()) co_return not_found(config.kind.group, config.resource, name);
    const Object existing = decode(*found->second, context.arena());
    const Preconditions wanted = info.preconditions();
    if (wanted.uid && *wanted.uid != meta_text(existing, "uid"))
      co_return conflict(config.kind.group, config.resource, name, "another uid");
    auto updated = co_await info.updated_object(context, &existing);
    if (!updated.ok()) co_return std::move(updated.status());
    ++updates;
    UpdateResult result;
    const bool over = !meta_text(*updated, "deletionTimestamp").empty() && ObjectMeta(*updated).finalizers().empty();
    result.object = over ? erase(name) : put(*updated, WatchEvent::Type::kModified);
    co_return result;
  }
  Task<Result<DeleteResult>> remove(RequestContext&, std::string name, DeleteOptions) override {
    DeleteResult result;
    result.object = erase(name);
    result.deleted = true;
    co_return result;
  }
  Task<Result<ListResult>> remove_collection(RequestContext&, DeleteOptions, ListOptions) override {
    std::vector<std::string> names;
    for (const auto& [name, entry] : data) names.push_back(name);
    for (const std::string& name : names) {
      Object object = decode(*data.at(name), {});
      if (ObjectMeta(object).finalizers().empty()) erase(name);
    }
    co_return ListResult();
  }

  ObjectRef put(Object object, WatchEvent::Type type) {
    auto entry = std::make_shared<ObjectEntry>();
    ObjectMeta(object).set("resourceVersion", std::to_string(++revision));
    entry->set_identity({}, meta_namespace(object), meta_name(object));
    Labels labels;
    if (const Object* written = ObjectMeta(object).labels()) {
      for (const auto& label : *written) labels.emplace_back(label.key(), label.value().as_string());
    }
    entry->set_labels(labels);
    entry->revision = revision;
    std::vector<std::string> fields;
    for (const SelectableField& field : config.strategy->facts().selectable) fields.emplace_back(get_string_path(object, field.path));
    entry->set_fields(fields);
    entry->set_json(SharedBytes(to_json(Value(object))));
    data[std::string(entry->name())] = entry;
    notify(type, entry);
    return entry;
  }
  ObjectRef erase(const std::string& name) {
    const auto found = data.find(name);
    if (found == data.end()) return nullptr;
    auto entry = std::make_shared<ObjectEntry>(*found->second);
    data.erase(found);
    entry->revision = ++revision;
    notify(WatchEvent::Type::kDeleted, entry);
    return entry;
  }
  void notify(WatchEvent::Type type, const ObjectRef& entry) {
    for (const auto& stream : streams) stream->push(event_of(type, entry));
  }
  void show_all(FakeStream& stream) {
    for (const auto& [name, entry] : data) stream.push(event_of(WatchEvent::Type::kAdded, entry));
    auto end = std::make_shared<ObjectEntry>();
    end->revision = revision;
    end->set_json(SharedBytes(std::string(R"({"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}})")));
    stream.push(event_of(WatchEvent::Type::kBookmark, end));
  }
  static WatchEvent event_of(WatchEvent::Type type, ObjectRef entry) {
    WatchEvent event;
    event.type = type;
    event.object = std::move(entry);
    return event;
  }

  ResourceConfig config;
  int creates = 0;                           // the number of successful creates
  int updates = 0;                           // the number of successful updates
  int refuse_creates = 0;                    // the next `refuse_creates` creates fail
  int refuse_updates = 0;                    // the next `refuse_updates` updates fail
  int throw_on_update = 0;                   // the next `throw_on_update` updates throw
  std::function<void()> before_update;       // called once, before the next update
  std::optional<Promise<bool>> held_create;  // creates wait for this promise
  std::map<std::string, ObjectRef> data;
  std::vector<std::shared_ptr<FakeStream>> streams;
  Revision revision = 0;
};

// The subresources /status and /scale, which forward to the parent.
class FakeSubresource final : public SubresourceStorage {
 public:
  explicit FakeSubresource(std::shared_ptr<StandardStorage> parent) : parent_(std::move(parent)) {}
  GroupVersionKind kind() const override { return parent_->kind(); }
  const Schema* schema() const override { return parent_->schema(); }
  bool namespaced() const override { return parent_->namespaced(); }
  const TableConvertor* subresource_table() const noexcept override { return &parent_->table_convertor(); }
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    return parent_->get(context, std::move(name), std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool create) override {
    return parent_->update(context, std::move(name), info, std::move(options), create);
  }

 private:
  std::shared_ptr<StandardStorage> parent_;
};

class FakeSignal final : public Signal {
 public:
  std::string_view name() const noexcept override { return "test"; }
  void fire() override {
    if (std::exchange(fired_, true)) return;
    for (const auto& callback : std::exchange(callbacks_, {})) callback();
  }
  bool fired() const noexcept override { return fired_; }
  Task<void> wait() override {
    Promise<bool> over;
    on_fire([over] { over.set(true); });
    auto waiting = over.future();
    co_await waiting;
  }
  void on_fire(std::function<void()> callback) override {
    if (fired_)
      callback();
    else
      callbacks_.push_back(std::move(callback));
  }

 private:
  bool fired_ = false;
  std::vector<std::function<void()>> callbacks_;
};

class FakeGroups final : public DynamicGroups {
 public:
  Status change(GroupsChange change) override {
    ++times;
    for (const PublishedResource& each : change.put) {
      if (each.group == refused_group) return Status(Reason::kAlreadyExists, "served by another plugin");
    }
    for (const ForwardedVersion& each : change.forwarded) {
      std::erase(forwarded, each.group_version.to_string());
      forwarded.push_back(each.group_version.to_string());
      documents[forwarded.back()] = each.documents;
    }
    for (const GroupVersion& each : change.withdrawn) std::erase(forwarded, each.to_string());
    for (const GroupResource& each : change.removed) published.erase(each);
    for (PublishedResource& each : change.put) {
      ++puts;
      published[{each.group, each.resource}] = std::move(each);
    }
    return {};
  }
  std::map<GroupResource, PublishedResource> published;
  std::vector<std::string> forwarded;
  std::map<std::string, std::shared_ptr<const ForwardedDocuments>> documents;  // one for each forwarded version
  std::string refused_group;
  int times = 0;  // the number of changes made
  int puts = 0;   // the number of resources that they added
};

class SilentLogger final : public Logger {
 public:
  void error(std::string_view text) override { errors.emplace_back(text); }
  void warn(std::string_view) override {}
  void info(std::string_view) override {}
  void debug(std::string_view) override {}
  std::vector<std::string> errors;
};

class FakeHost : public Host {
 public:
  Logger& logger() override { return log; }
  Scheme& scheme() override { return types; }
  Result<std::shared_ptr<StandardStorage>> make_storage(ResourceConfig config) override {
    if (!config.stored_kind.kind.empty()) {
      views.push_back(std::make_shared<FakeStore>(std::move(config)));
      return std::shared_ptr<StandardStorage>(views.back());
    }
    stores.push_back(std::make_shared<FakeStore>(std::move(config)));
    return std::shared_ptr<StandardStorage>(stores.back());
  }
  Result<std::shared_ptr<SubresourceStorage>> make_subresource(std::shared_ptr<StandardStorage> parent, std::shared_ptr<const Strategy>,
                                                               std::shared_ptr<const Strategy>) override {
    return std::shared_ptr<SubresourceStorage>(std::make_shared<FakeSubresource>(std::move(parent)));
  }
  Result<std::shared_ptr<SubresourceStorage>> make_scale(std::shared_ptr<StandardStorage> parent, ScalePaths) override {
    return std::shared_ptr<SubresourceStorage>(std::make_shared<FakeSubresource>(std::move(parent)));
  }
  Status install_api_group(APIGroupInfo) override { return {}; }
  std::shared_ptr<DynamicGroups> dynamic_groups() override { return groups; }
  std::vector<GroupVersionInfo> group_versions() const override { return versions; }
  void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback) override { versions_changed = callback; }
  Signal& groups_complete() override { return all_groups; }
  std::shared_ptr<HttpClient> client() override { return own_client; }
  std::shared_ptr<HttpClient> client_as(UserInfo) override { return nullptr; }
  Result<std::shared_ptr<HttpClient>> make_client(ClientConfig config) override {
    return clients ? clients(std::move(config)) : bad_request("no client");
  }
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const override {
    const auto found = served.find(resource.resource);
    return found == served.end() ? nullptr : found->second;
  }
  bool resource_enabled(const GroupVersionResource&) const override { return true; }
  Status handle(PathRoute) override { return {}; }
  std::shared_ptr<DynamicPaths> dynamic_paths() override { return nullptr; }
  Status add_post_start_hook(std::string, PostStartHook) override { return {}; }
  Status add_pre_shutdown_hook(std::string, PreShutdownHook) override { return {}; }
  Status add_health_check(std::shared_ptr<HealthCheck>, HealthEndpoints) override { return {}; }
  Result<std::shared_ptr<Signal>> register_mux_and_discovery_complete_signal(std::string) override {
    return std::shared_ptr<Signal>(synced);
  }
  Status register_storage_backend(std::string, StorageBackendFactory) override { return {}; }
  Status register_authenticator(std::shared_ptr<Authenticator>) override { return {}; }
  Status register_authorizer(std::shared_ptr<Authorizer>) override { return {}; }
  Status set_authorizer_order(std::vector<AuthorizerPlace>) override { return {}; }
  Status register_admission(AdmissionRegistration) override { return {}; }
  Status register_audit(AuditRegistration) override { return {}; }
  Status set_storage_transformers(std::shared_ptr<const StorageTransformers>) override { return {}; }
  Status register_request_gate(std::shared_ptr<RequestGate>) override { return {}; }
  Status register_peer_servers(std::shared_ptr<PeerServers>) override { return {}; }
  std::vector<StoredObjects> stored_objects() const override { return {}; }
  Task<Result<Object>> convert(GroupVersionKind to, Object object) override {
    if (!converter) std::abort();
    co_return converter(to, std::move(object));
  }
  Authorizer& authorizer() override {
    if (all_authorizers == nullptr) std::abort();
    return *all_authorizers;
  }
  RuleResolver& rule_resolver() override { std::abort(); }
  TokenAuthenticator& token_authenticator() override { std::abort(); }
  const EquivalentResources& equivalent_resources() const override {
    if (equivalents == nullptr) std::abort();
    return *equivalents;
  }
  Executor& executor() override { return turns; }
  Executor& executor(std::string_view) override { return turns; }
  void spawn(std::string, Task<void> task) override {
    ++running;
    spawn_detached(turns, std::move(task), [this] { --running; });
  }
  Signal& stop_signal() override { return stop; }
  std::optional<std::string> flag(std::string_view name) const override {
    const auto found = flags.find(name);
    return found == flags.end() ? std::nullopt : std::optional<std::string>(found->second);
  }

  std::function<Result<std::shared_ptr<HttpClient>>(ClientConfig config)> clients;     // for make_client()
  std::shared_ptr<HttpClient> own_client;                                              // client()
  std::function<Result<Object>(const GroupVersionKind& to, Object object)> converter;  // for convert()
  std::shared_ptr<Authorizer> all_authorizers;                                         // authorizer()
  std::shared_ptr<const EquivalentResources> equivalents;                              // equivalent_resources()
  std::map<std::string, std::string, std::less<>> flags;
  TurnExecutor turns;
  SilentLogger log;
  Scheme types;
  FakeSignal stop;
  FakeSignal all_groups;
  std::vector<GroupVersionInfo> versions;
  std::function<void(const GroupVersionsChange&)> versions_changed;
  std::map<std::string, std::shared_ptr<RestStorage>> served;  // by resource, for find_storage()
  std::shared_ptr<FakeSignal> synced = std::make_shared<FakeSignal>();
  std::shared_ptr<FakeGroups> groups = std::make_shared<FakeGroups>();
  std::vector<std::shared_ptr<FakeStore>> stores;  // except views of others
  std::vector<std::shared_ptr<FakeStore>> views;
  int running = 0;
};

}  // namespace backplane::test
