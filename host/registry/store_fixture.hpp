// For tests: a store over a fake backend and a fake cache. The cache does not change until catch_up(). before_next_txn lets another client
// write right before a transaction.
//
// Thread-safety: the test's thread uses the fixture between calls; during a call, only the fixture's loop uses it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backplane/points/admission.hpp"
#include "backplane/rest/update_info.hpp"
#include "base/io_loop.hpp"
#include "registry/environment.hpp"
#include "registry/store.hpp"

namespace backplane::registry_test {

// A backend in memory.
class FakeStorage final : public StorageBackend {
 public:
  std::map<std::string, KeyValue> data;
  Revision revision = 0;
  int transactions = 0;
  int ranges = 0;
  // Called once, before the next transaction is evaluated.
  std::function<void(const TxnRequest& request)> before_next_txn;
  // The next transaction is committed, but returns an error.
  bool lose_next_response = false;

  KeyValue put(const std::string& key, std::string value) {
    KeyValue& kv = data[key];
    kv.key = key;
    kv.value = SharedBytes(std::move(value));
    kv.mod_revision = ++revision;
    if (kv.create_revision == 0) kv.create_revision = revision;
    return kv;
  }

  Task<Result<Revision>> current_revision() override { co_return revision; }
  Task<Result<RangeResult>> range(RangeRequest request) override {
    ++ranges;
    RangeResult result;
    result.revision = revision;
    const auto found = data.find(request.start);
    if (found != data.end()) result.items.push_back(found->second);
    co_return result;
  }
  Task<Result<TxnResult>> txn(TxnRequest request) override {
    if (auto hook = std::exchange(before_next_txn, nullptr)) hook(request);
    ++transactions;
    TxnResult result;
    result.committed = true;
    for (const Compare& compare : request.compares) {
      const auto found = data.find(compare.key);
      if ((found == data.end() ? 0 : found->second.mod_revision) != compare.mod_revision) result.committed = false;
      if (found != data.end()) result.found.push_back(found->second);
    }
    if (!result.committed) {
      result.revision = revision;
      co_return result;
    }
    result.found.clear();
    for (const Put& wanted : request.puts) {
      put(wanted.key, std::string(wanted.value.view()));
      data[wanted.key].lease = wanted.lease;
    }
    for (const std::string& key : request.removes) {
      data.erase(key);
      ++revision;
    }
    result.revision = revision;
    if (std::exchange(lose_next_response, false)) co_return service_unavailable("the connection broke");
    co_return result;
  }
  Result<std::unique_ptr<StorageWatch>> watch(std::string, Revision) override { return internal_error("not in this test"); }
  Task<Status> compact(Revision) override { co_return Status(); }
  std::vector<std::chrono::seconds> granted;
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds time) override {
    granted.push_back(time);
    co_return static_cast<LeaseId>(granted.size());
  }
  Task<Status> health(std::chrono::milliseconds) override { co_return Status(); }
  Task<Status> stop() override { co_return Status(); }
};

// Has the objects that the storage had at the last catch_up(). Lists, gets and wait_current() call catch_up(); peek() does not.
class FakeCache final : public ResourceCache {
 public:
  FakeCache(FakeStorage& storage, CacheConfig config) : storage_(storage), config_(std::move(config)) {}

  void catch_up() {
    known_.clear();
    for (const auto& [key, kv] : storage_.data) known_[key] = make_entry(kv);
  }
  ObjectRef make_entry(const KeyValue& stored) const override {
    auto entry = std::make_shared<ObjectEntry>();
    entry->revision = stored.mod_revision;
    entry->set_json(SharedBytes(splice_resource_version(stored.value.view(), stored.mod_revision, config_.sorted_keys)));
    const std::string rest = stored.key.substr(config_.prefix.size());
    const std::size_t slash = rest.find('/');
    const std::string ns = slash == std::string::npos ? "" : rest.substr(0, slash);
    entry->set_identity(stored.key, ns, slash == std::string::npos ? rest : rest.substr(slash + 1));
    return entry;
  }
  ObjectRef peek(std::string_view key) const override {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : found->second;
  }
  Task<Status> wait_current() override {
    catch_up();
    co_return Status();
  }
  Task<Result<ObjectRef>> get(std::string key, std::string) override {
    catch_up();
    co_return peek(key);
  }
  Task<Result<ListResult>> list(CacheScope scope, ListOptions options) override {
    catch_up();
    last_scope = scope;
    listed.push_back(options);
    std::vector<ObjectRef> entries;
    ListResult result;
    for (const auto& [key, entry] : known_) {
      if (key.rfind(config_.prefix + (scope.ns.empty() ? "" : scope.ns + "/"), 0) != 0 || key <= options.continue_token) continue;
      if (entries.size() == page_size) {
        result.continue_token = entries.back()->key();
        break;
      }
      entries.push_back(entry);
    }
    result.revision = storage_.revision;
    result.items = make_cursor(std::move(entries));
    co_return result;
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(CacheScope scope, ListOptions) override {
    last_scope = scope;
    co_return internal_error("not in this test");
  }
  bool ready() const noexcept override { return true; }
  Revision revision() const noexcept override { return storage_.revision; }
  std::size_t size() const noexcept override { return known_.size(); }
  std::size_t bytes() const noexcept override { return 0; }
  const CacheConfig& config() const { return config_; }

  CacheScope last_scope;
  std::vector<ListOptions> listed;  // the options of each call of list()
  std::size_t page_size = 1000;     // lists are limited to this many objects

 private:
  FakeStorage& storage_;
  CacheConfig config_;
  std::map<std::string, ObjectRef, std::less<>> known_;
};

class FakeHub final : public CacheHub {
 public:
  explicit FakeHub(FakeStorage& storage) : storage_(storage) {}
  std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) override {
    if (eager) loaded_eagerly.insert(config.resource.to_string());
    auto& cache = caches[config.prefix];
    if (cache == nullptr) cache = std::make_shared<FakeCache>(storage_, std::move(config));
    return cache;
  }
  void remove(std::string_view prefix) override { caches.erase(std::string(prefix)); }
  void retire(std::string_view prefix) override { remove(prefix); }
  void restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) override {
    caches[std::string(prefix)] = std::static_pointer_cast<FakeCache>(retired);
  }
  Task<Status> start() override { co_return Status(); }
  Task<void> stop() override { co_return; }

  std::map<std::string, std::shared_ptr<FakeCache>> caches;
  std::set<std::string> loaded_eagerly;

 private:
  FakeStorage& storage_;
};

// Records its calls. admit() returns `refusal`.
class FakeAdmission final : public WriteAdmission {
 public:
  std::vector<std::string> asked;
  std::vector<const AdmissionAttributes*> shown;  // the attributes of each call in `asked`
  Status refusal;
  std::function<void(AdmissionAttributes&)> mutate;
  std::function<void(const AdmissionAttributes&)> look;  // called by validate()
  bool leaves_alone = false;

  Task<Status> admit(AdmissionAttributes& attributes) override {
    note("admit", attributes);
    if (mutate) mutate(attributes);
    co_return refusal;
  }
  Task<Status> validate(const AdmissionAttributes& attributes) override {
    note("validate", attributes);
    if (look) look(attributes);
    co_return Status();
  }
  bool reads_managed_fields(const AdmissionAttributes&) const noexcept override { return !leaves_alone; }

 private:
  void note(std::string step, const AdmissionAttributes& attributes) {
    shown.push_back(&attributes);
    static constexpr const char* kNames[] = {"create", "update", "delete", "connect"};
    asked.push_back(step + " " + kNames[static_cast<int>(attributes.operation)] + " " + attributes.kind.kind + " " + attributes.ns + "/" +
                    attributes.name);
  }
};

// normalize() sorts the members of metadata in ObjectMeta's order, and the members of the object in the usual order.
class OrderingSchema final : public Schema {
 public:
  explicit OrderingSchema(bool structural = false) : structural_(structural) {}
  std::string_view name() const noexcept override { return "Thing"; }
  bool structural() const noexcept override { return structural_; }
  Status normalize(Value& value, DecodeReport*) const override {
    Object& object = value.as_object();
    if (find(object, "metadata") != nullptr) {
      order(object.at("metadata").as_object(),
            {"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
             "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers", "managedFields"});
    }
    order(object, {"kind", "apiVersion", "metadata", "data", "spec", "status"});
    return {};
  }
  void apply_defaults(Value&) const override {}
  void validate(const Value&, const std::string&, FieldErrors&) const override {}
  Status strategic_merge(Value&, const Value&) const override { return {}; }
  const Schema* property(std::string_view) const noexcept override { return nullptr; }
  const Schema* items() const noexcept override { return nullptr; }

 private:
  static void order(Object& object, std::initializer_list<std::string_view> keys) {
    Object ordered(object.storage());
    for (std::string_view key : keys) {
      if (Value* value = find(object, key)) ordered.emplace(key, std::move(*value));
    }
    object = std::move(ordered);
  }
  bool structural_;
};

// A strategy that the test configures.
struct TestStrategy : Strategy {
  using Strategy::Strategy;
  std::int64_t grace = -1;     // >= 0: deletion is graceful, and this is the default grace period
  std::string default_colour;  // the default of data.colour

  void apply_defaults(Object& object) const override {
    if (!default_colour.empty() && get_string_path(object, "data.colour").empty()) ensure_object(object, "data")["colour"] = default_colour;
  }
  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    if (get_string_path(object, "data.bad") == "yes") errors.invalid("data.bad", "yes", "must not be bad");
  }
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    const std::string_view text = get_string_path(object, "data.warn");
    return text.empty() ? std::vector<std::string>() : std::vector<std::string>{std::string(text)};
  }
  bool held_by_other_finalizers(const Object& object) const override {
    const Object* spec = get_object(object, "spec");
    const Array* finalizers = spec ? get_array(*spec, "finalizers") : nullptr;
    return finalizers != nullptr && !finalizers->empty();
  }
  bool check_graceful_delete(RequestContext&, const Object&, DeleteOptions& options) const override {
    if (grace < 0) return false;
    if (!options.grace_period_seconds) options.grace_period_seconds = grace;
    return true;
  }
  void mark_deleting(Object& object) const override {
    if (facts().status) ensure_object(object, "status")["phase"] = "Terminating";
  }
};

// An update that replaces the stored object by `text`.
class Replacement final : public UpdatedObjectInfo {
 public:
  explicit Replacement(std::string text, Preconditions wanted = {}) : text_(std::move(text)), wanted_(std::move(wanted)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object*) override {
    ++calls;
    co_return json::parse(text_, context.arena()).as_object();
  }
  Preconditions preconditions() const override { return wanted_; }
  Task<Status> may_create(RequestContext&) override { co_return on_create ? on_create() : Status(); }
  int calls = 0;
  std::function<Status()> on_create;

 private:
  std::string text_;
  Preconditions wanted_;
};

// An update that calls a function with a copy of the stored object.
class Change final : public UpdatedObjectInfo {
 public:
  explicit Change(std::function<void(Object&)> change) : change_(std::move(change)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    ++calls;
    Object object(*existing, context.arena());
    change_(object);
    co_return object;
  }
  int calls = 0;

 private:
  std::function<void(Object&)> change_;
};

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() : loop_("test"), hub(storage) { loop_.start(); }
  ~StoreTest() override {
    store.reset();
    loop_.stop();
  }

  // Makes the store of things.example.com. Requests of the fixture are in the namespace "default".
  void make(std::shared_ptr<TestStrategy> strategy, bool structural = false) {
    ResourceConfig config;
    config.kind = {"example.com", "v1", "Thing"};
    config.resource = "things";
    schema = std::make_unique<OrderingSchema>(structural);
    config.schema = schema.get();
    config.strategy = strategy;
    auto made = make_store(environment, std::move(config));
    ASSERT_TRUE(made.ok()) << made.status().message();
    store = std::move(*made);
    environment.start(objects, hub, admission);
  }
  FakeCache& cache() { return *hub.caches.begin()->second; }
  std::string key(const std::string& name) { return cache().config().prefix + "default/" + name; }

  std::unique_ptr<RequestContext> request(std::string verb) {
    auto context = std::make_unique<RequestContext>();
    context->info.is_resource_request = true;
    context->info.verb = std::move(verb);
    context->info.ns = "default";
    context->info.resource = "things";
    return context;
  }
  template <class T>
  T run(Task<T> task) {
    return run_on(loop_, std::move(task));
  }

  Result<ObjectRef> create(std::string text, WriteOptions options = {}) {
    context = request("create");
    Object object = json::parse(text, context->arena()).as_object();
    return run(store->create(*context, object, std::move(options)));
  }
  Result<UpdateResult> update(std::string name, UpdatedObjectInfo& info, WriteOptions options = {}, std::string verb = "update") {
    context = request(std::move(verb));
    return run(store->update(*context, std::move(name), info, std::move(options), false));
  }
  Result<DeleteResult> remove(std::string name, DeleteOptions options = {}) {
    context = request("delete");
    return run(store->remove(*context, std::move(name), std::move(options)));
  }
  Result<ObjectRef> get(std::string name) {
    context = request("get");
    return run(store->get(*context, std::move(name), {}));
  }
  static Object parsed(const ObjectRef& entry) { return json::parse(entry->json().view()).as_object(); }
  static std::string thing(const std::string& metadata, const std::string& rest = "") {
    return R"({"kind":"Thing","apiVersion":"example.com/v1","metadata":{)" + metadata + "}" + rest + "}";
  }

 private:
  IoLoop loop_;

 protected:
  FakeStorage storage;
  ObjectStorage objects{storage};
  FakeHub hub;
  FakeAdmission admission;
  StoreEnvironment environment;
  std::unique_ptr<OrderingSchema> schema;
  std::shared_ptr<StandardStorage> store;
  std::unique_ptr<RequestContext> context;
};

}  // namespace backplane::registry_test
