// For tests: several servers of Services that share one backend; each has separate caches, stores and hooks.
//
// Thread-safety: the test's thread. During a call, work runs on the servers' loops.
// Lifetime:      servers are destroyed before the backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/rest/update_info.hpp"
#include "base/io_loop.hpp"
#include "kinds/kinds.hpp"
#include "registry/store.hpp"
#include "services/allocation.hpp"
#include "services/repair.hpp"
#include "storage/memory_storage.hpp"

namespace backplane::core_test {

class NoAdmission final : public WriteAdmission {
 public:
  Task<Status> admit(AdmissionAttributes&) override { co_return Status(); }
  Task<Status> validate(const AdmissionAttributes&) override { co_return Status(); }
};

class Quiet final : public Logger {
 public:
  void error(std::string_view) override {}
  void warn(std::string_view) override {}
  void info(std::string_view) override {}
  void debug(std::string_view) override {}
};

// Records the events of repairs as "reason: note".
class CollectedEvents final : public core::RepairEvents {
 public:
  explicit CollectedEvents(std::vector<std::string>& events) : events_(events) {}
  Task<void> report(core::RepairEvent event) override {
    events_.push_back(event.reason + ": " + event.note);
    co_return;
  }

 private:
  std::vector<std::string>& events_;
};

class Server {
 public:
  Server(StorageBackend& storage, std::vector<std::string> ranges, core::PortRange ports = {}) : storage_(storage) {
    loop_.start();
    pump_.start();
    hub_ = make_cache_hub(storage_, pump_);
    std::vector<core::AddressRange> parsed;
    for (const std::string& range : ranges) parsed.push_back(core::AddressRange::parse(range).value());
    addresses = store(std::move(*core::address_config()));
    ranges_ = std::make_shared<core::ServiceRanges>(std::move(parsed));
    resources = std::make_shared<const core::ServiceResources>(core::ServiceResources{
        core::Addresses(ranges_, [this] { return addresses; }), core::NodePorts(ports, store(core::range_config()))});
    ResourceConfig config;
    config.kind = {"", "v1", "Service"};
    config.resource = "services";
    config.storage_prefix = "services/specs";
    config.schemas = core_schemas();
    config.schema = config.schemas->find(config.kind);
    config.strategy = core::core_group()->kind("Service").strategy();
    config.hooks = core::service_hooks(resources);
    services = store(std::move(config));
    environment_.start(storage_, *hub_, admission_);
    EXPECT_TRUE(run_on(pump_, hub_->start()).ok());
    repair = std::make_unique<core::ServiceRepair>(services, resources, std::make_unique<CollectedEvents>(events), quiet_);
  }
  ~Server() {
    repair.reset();
    services.reset();
    resources.reset();
    addresses.reset();
    stores_.clear();
    environment_.stop();
    run_on(pump_, hub_->stop());
    hub_.reset();
    pump_.stop();
    loop_.stop();
  }

  static std::string service(const std::string& name, const std::string& spec) {
    return R"({"kind":"Service","apiVersion":"v1","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
  }
  Result<Object> create(const std::string& name, const std::string& spec, bool dry_run = false) {
    RequestContext context;
    prepare(context);
    Object object = decoded(service(name, spec), context);
    WriteOptions options;
    options.dry_run = dry_run;
    return tree(run(services->create(context, object, std::move(options))));
  }
  // Decodes a body as the endpoint does.
  static Object decoded(const std::string& body, RequestContext& context) {
    const Schema* schema = core_schemas()->find(GroupVersionKind{"", "v1", "Service"});
    Value value = json::parse(body, context.arena());
    EXPECT_TRUE(schema->normalize(value, nullptr).ok());
    schema->apply_defaults(value);
    return std::move(value.as_object());
  }
  // Updates the stored service with a function.
  Result<Object> change(const std::string& name, std::function<void(Object& service)> change) {
    RequestContext context;
    prepare(context);
    Change info(std::move(change));
    auto updated = run(services->update(context, name, info, {}, false));
    if (!updated.ok()) return std::move(updated.status());
    deleted = updated->deleted;
    return json::parse(updated->object->json().view()).as_object();
  }
  Status remove(const std::string& name) {
    RequestContext context;
    prepare(context);
    return std::move(run(services->remove(context, name, {}))).status();
  }
  template <class T>
  T run(Task<T> task) {
    return run_on(loop_, std::move(task));
  }
  IoLoop& loop() { return loop_; }
  // Sets all ServiceCIDRs; each is a JSON text.
  void set_service_cidrs(const std::vector<std::string>& objects) {
    std::vector<ObjectRef> entries;
    for (const std::string& text : objects) entries.push_back(make_object(json::parse(text).get_object()));
    ranges_->set(entries);
  }

  std::shared_ptr<StandardStorage> addresses;
  std::shared_ptr<const core::ServiceResources> resources;
  std::shared_ptr<StandardStorage> services;
  std::unique_ptr<core::ServiceRepair> repair;
  bool deleted = false;  // the result of the last change
  std::vector<std::string> events;

 private:
  class Change final : public UpdatedObjectInfo {
   public:
    explicit Change(std::function<void(Object&)> change) : change_(std::move(change)) {}
    Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
      Object object(*existing, context.arena());
      change_(object);
      co_return object;
    }

   private:
    std::function<void(Object&)> change_;
  };

  static void prepare(RequestContext& context) { context.info.ns = "default"; }
  static Result<Object> tree(Result<ObjectRef> entry) {
    if (!entry.ok()) return std::move(entry.status());
    return json::parse((*entry)->json().view()).as_object();
  }
  std::shared_ptr<StandardStorage> store(ResourceConfig config) {
    auto made = make_store(environment_, std::move(config));
    EXPECT_TRUE(made.ok());
    stores_.push_back(*made);
    return std::move(*made);
  }

  ObjectStorage storage_;
  IoLoop loop_{"requests"};
  IoLoop pump_{"pump"};
  NoAdmission admission_;
  Quiet quiet_;
  std::shared_ptr<core::ServiceRanges> ranges_;
  std::unique_ptr<CacheHub> hub_;
  StoreEnvironment environment_;
  std::vector<std::shared_ptr<StandardStorage>> stores_;
};

class ServicesTest : public ::testing::Test {
 protected:
  ServicesTest() : storage(make_memory_storage()) { loop_.start(); }
  ~ServicesTest() override {
    servers.clear();
    EXPECT_TRUE(run_on(loop_, storage->stop()).ok());
    storage.reset();
    loop_.stop();
  }
  Server& serve(std::vector<std::string> ranges = {"10.0.0.0/24"}, core::PortRange ports = {}) {
    servers.push_back(std::make_unique<Server>(*storage, std::move(ranges), ports));
    return *servers.back();
  }
  // The store's objects below a prefix.
  std::vector<KeyValue> stored(const std::string& prefix) {
    RangeRequest request;
    request.start = prefix;
    request.end = prefix + "\xff";
    return run_on(loop_, storage->range(std::move(request)))->items;
  }
  std::vector<std::string> held() {
    std::vector<std::string> names;
    for (const KeyValue& entry : stored("/registry/ipaddresses/")) names.push_back(entry.key.substr(22));
    return names;
  }
  std::vector<std::int64_t> ports() {
    const auto found = stored("/registry/ranges/servicenodeports");
    return found.empty() ? std::vector<std::int64_t>() : core::PortMap::read(json::parse(found[0].value.view()).as_object())->all();
  }
  void put(const std::string& key, const std::string& value) {
    TxnRequest request;
    request.puts.push_back({key, SharedBytes(value), 0});
    EXPECT_TRUE(run_on(loop_, storage->txn(std::move(request)))->committed);
  }
  void erase(const std::string& key) {
    TxnRequest request;
    request.removes.push_back(key);
    EXPECT_TRUE(run_on(loop_, storage->txn(std::move(request)))->committed);
  }
  static std::string text(const Object& object, std::string_view path) { return std::string(get_string_path(object, path)); }
  static Object& spec(Object& service) { return service.at("spec").get_object(); }
  static std::string json_of(const Object& service, std::string_view member) {
    const Value* value = find(service.at("spec").get_object(), member);
    return value ? to_json(*value) : "-";
  }

  std::unique_ptr<StorageBackend> storage;
  std::vector<std::unique_ptr<Server>> servers;

 private:
  IoLoop loop_{"test"};
};

}  // namespace backplane::core_test
