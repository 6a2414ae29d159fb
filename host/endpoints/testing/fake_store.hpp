// For tests only: a resource in memory that supports each verb. It records its calls.
//
// Thread-safety: one executor.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::testing {

// A watch stream that returns the batches of the test. After the last batch, it ends, or waits until it is cancelled.
class ScriptedStream final : public WatchStream {
 public:
  using Batch = Result<std::vector<WatchEvent>>;
  std::deque<Batch> batches;
  bool waits = false;  // after the last batch, next() waits for cancel()
  // atomic, because cancel() may be called on any thread
  std::shared_ptr<std::atomic<int>> cancels = std::make_shared<std::atomic<int>>(0);

  Task<Batch> next() override {
    if (!batches.empty()) {
      Batch batch = std::move(batches.front());
      batches.pop_front();
      co_return batch;
    }
    if (waits && *cancels == 0) {
      auto future = cancelled_.future();
      co_await future;
    }
    co_return std::vector<WatchEvent>();
  }
  void cancel() override {
    ++*cancels;
    cancelled_.set(true);
  }

 private:
  Promise<bool> cancelled_;
};

// Returns the batches of `below`, and `error` where `below` ends.
class FailingCursor final : public ObjectCursor {
 public:
  FailingCursor(std::unique_ptr<ObjectCursor> below, Status error) : below_(std::move(below)), error_(std::move(error)) {}
  Task<Result<std::span<const ObjectEntry* const>>> next() override {
    auto reading = below_->next();
    auto batch = co_await std::move(reading);
    if (batch.ok() && batch->empty()) co_return error_;
    co_return batch;
  }

 private:
  const std::unique_ptr<ObjectCursor> below_;
  const Status error_;
};

// Like a storage of a plugin: the endpoints run admission for it and update metadata.managedFields.
class FakeStore : public StandardStorage {
 public:
  FakeStore(GroupVersionKind kind, std::string resource, const Schema* schema)
      : kind_(std::move(kind)), resource_(std::move(resource)), schema_(schema) {}

  // ---- set and read by the test
  std::map<std::string, ObjectRef> objects;  // by name
  std::vector<ObjectRef> list_entries;       // if not empty, listed instead of `objects`
  std::string continue_token;
  std::optional<std::int64_t> remaining;
  Status list_error;   // returned after the last object
  int lost_races = 0;  // how many attempts of update() fail because of a concurrent write
  int attempts = 0;
  bool keep_deleted = false;
  bool returns_deleted = false;
  std::unique_ptr<ScriptedStream> stream;
  Status watch_error;
  std::function<void()> on_get;  // may throw, like a plugin that has a bug
  Revision revision = 7;
  Executor* executor = nullptr;  // if set, the verbs end on this executor, like those of a plugin's storage may
  const TableConvertor* convertor = &default_table_convertor();

  GetOptions get_options;
  ListOptions list_options;
  Executor* asked_on = nullptr;  // the executor of the last write
  WriteOptions write_options;
  DeleteOptions delete_options;
  Preconditions preconditions;
  bool was_dry_run = false;

  ObjectRef put(std::string_view json) {
    const Value tree = json::parse(json::string_view(json.data(), json.size()));
    ObjectRef entry = make_object(tree.get_object());
    objects[std::string(entry->name())] = entry;
    return entry;
  }

  // ---- StandardStorage
  GroupVersionKind kind() const override { return kind_; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return true; }
  std::string singular_name() const override { return "thing"; }
  std::vector<std::string> short_names() const override { return {}; }
  std::vector<std::string> categories() const override { return {}; }
  GroupVersionKind storage_version() const override { return kind_; }
  const TableConvertor& table_convertor() const override { return *convertor; }
  std::string list_kind() const override { return kind_.kind + "List"; }
  std::optional<std::string_view> field(const ObjectEntry&, std::string_view) const override { return std::nullopt; }

  Task<Result<ObjectRef>> get(RequestContext&, std::string name, GetOptions options) override {
    co_await switch_executor();
    if (on_get) on_get();
    get_options = std::move(options);
    auto at = objects.find(name);
    if (at == objects.end()) co_return not_found(kind_.group, resource_, name);
    co_return at->second;
  }
  Task<Result<ListResult>> list(RequestContext&, ListOptions options) override {
    co_await switch_executor();
    list_options = std::move(options);
    co_return everything();
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext&, ListOptions options) override {
    co_await switch_executor();
    list_options = std::move(options);
    if (!watch_error.ok()) co_return watch_error;
    std::unique_ptr<WatchStream> out = std::move(stream);
    co_return Result<std::unique_ptr<WatchStream>>(std::move(out));
  }
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    asked_on = current_executor();
    co_await switch_executor();
    write_options = std::move(options);
    was_dry_run = context.dry_run;
    ObjectMeta meta(object);
    const std::string name(meta.name());
    if (objects.count(name) != 0) co_return already_exists(kind_.group, resource_, name);
    meta.set("uid", "u-" + name);
    co_return store(context, object);
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool) override {
    asked_on = current_executor();
    co_await switch_executor();
    write_options = std::move(options);
    preconditions = info.preconditions();
    for (;;) {
      ++attempts;
      std::optional<Object> existing;
      if (auto at = objects.find(name); at != objects.end()) existing = decode(*at->second, context.arena());
      auto updated = co_await info.updated_object(context, existing ? &*existing : nullptr);
      if (!updated.ok()) co_return std::move(updated.status());
      if (!existing) {
        Status allowed = co_await info.may_create(context);
        if (!allowed.ok()) co_return allowed;
      }
      if (lost_races > 0) {
        --lost_races;
        if (meta_text(*updated, "resourceVersion") == meta_text(*existing, "resourceVersion")) continue;
      }
      UpdateResult result;
      result.created = !existing;
      result.object = store(context, *updated);
      co_return result;
    }
  }
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    co_await switch_executor();
    delete_options = std::move(options);
    was_dry_run = context.dry_run;
    auto at = objects.find(name);
    if (at == objects.end()) co_return not_found(kind_.group, resource_, name);
    DeleteResult result;
    result.object = at->second;
    result.deleted = !keep_deleted;
    result.return_object = returns_deleted;
    co_return result;
  }
  Task<Result<ListResult>> remove_collection(RequestContext&, DeleteOptions options, ListOptions list) override {
    co_await switch_executor();
    delete_options = std::move(options);
    list_options = std::move(list);
    co_return everything();
  }

 private:
  Task<void> switch_executor() {
    if (executor != nullptr) co_await resume_on(*executor);
  }
  ListResult everything() const {
    ListResult result;
    result.revision = revision;
    result.continue_token = continue_token;
    result.remaining = remaining;
    std::vector<ObjectRef> entries = list_entries;
    if (entries.empty()) {
      for (const auto& [name, entry] : objects) entries.push_back(entry);
    }
    result.items = make_cursor(std::move(entries));
    if (!list_error.ok()) result.items = std::make_unique<FailingCursor>(std::move(result.items), list_error);
    return result;
  }
  ObjectRef store(RequestContext& context, Object& object) {
    if (!context.dry_run) ObjectMeta(object).set("resourceVersion", std::to_string(++revision));
    Value tree(object);
    if (schema_ != nullptr) (void)schema_->normalize(tree, nullptr).ok();
    ObjectRef entry = make_object(tree.get_object());
    if (!context.dry_run) objects[std::string(entry->name())] = entry;
    return entry;
  }

  GroupVersionKind kind_;
  std::string resource_;
  const Schema* schema_;
};

// Like the host's storages, which run admission themselves.
class FakeHostStore final : public FakeStore {
 public:
  bool admits_writes() const noexcept override { return true; }
  using FakeStore::FakeStore;
};

}  // namespace backplane::testing
