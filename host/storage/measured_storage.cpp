#include "storage/measured_storage.hpp"

#include <mutex>

#include "backplane/core/metrics.hpp"
#include "storage/object_keys.hpp"
#include "storage/request_counts.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;
using LabelValues = std::vector<std::string>;

void count_events(const GroupResource& resource, double events) {
  static Metric& received =
      Metric::counter("apiserver_storage_events_received_total", "Events received from the store, by resource.", {"group", "resource"});
  received.add({resource.group, resource.resource}, events);
}

// Counts a progress notification; called for each resource of the watch.
void count_progress(const GroupResource& resource) {
  static const LabelValues labels = {"group", "resource"};
  static Metric& counts = Metric::gauge("etcd_bookmark_counts", "The same as etcd_bookmark_total, by the older name.", labels);
  static Metric& totals = Metric::counter("etcd_bookmark_total", "Progress notifications of the store, by resource.", labels);
  counts.add({resource.group, resource.resource});
  totals.add({resource.group, resource.resource});
}

std::string_view operation_of(const RangeRequest& request) {
  if (request.end.empty()) return "get";
  if (request.count_only) return "listWithCount";
  return request.keys_only ? "listOnlyKeys" : "list";
}

struct Write {
  std::string_view operation;
  std::string_view key;
};
// The operation and key under which a transaction is counted: those of its first put, or else of its first removal.
Write write_of(const TxnRequest& request) {
  if (request.puts.empty()) return {"delete", request.removes.empty() ? std::string_view() : std::string_view(request.removes.front())};
  const std::string& key = request.puts.front().key;
  for (const Compare& compare : request.compares) {
    if (compare.key == key) return {compare.mod_revision == 0 ? "create" : "update", key};
  }
  return {"update", key};
}

}  // namespace

struct MeasuredStorage::Names {
  mutable std::shared_mutex mutex;
  std::map<std::string, GroupResource, std::less<>> by_prefix;

  GroupResource of(std::string_view key) const {
    {
      const std::shared_lock lock(mutex);
      for (auto slash = key.rfind('/'); slash != std::string_view::npos && slash > 0; slash = key.rfind('/', slash - 1)) {
        const auto found = by_prefix.find(key.substr(0, slash + 1));
        if (found != by_prefix.end()) return found->second;
      }
    }
    if (key.starts_with(kObjectKeyPrefix)) key.remove_prefix(kObjectKeyPrefix.size());
    return {"", std::string(key.substr(0, key.find('/')))};
  }
  std::vector<GroupResource> all_below(std::string_view prefix) const {
    std::vector<GroupResource> out;
    const std::shared_lock lock(mutex);
    for (const auto& [each, resource] : by_prefix) {
      if (each.starts_with(prefix)) out.push_back(resource);
    }
    return out;
  }
};

namespace {

class MeasuredWatch final : public StorageWatch {
 public:
  MeasuredWatch(std::unique_ptr<StorageWatch> below, std::string prefix, std::shared_ptr<const MeasuredStorage::Names> names)
      : below_(std::move(below)), prefix_(std::move(prefix)), names_(std::move(names)) {}

  Task<Result<EventBatch>> next() override {
    auto reading = below_->next();
    auto batch = co_await std::move(reading);
    if (batch.ok()) count(*batch);
    co_return batch;
  }
  void cancel() override { below_->cancel(); }

 private:
  void count(const EventBatch& batch) const {
    if (batch.events.empty()) {
      for (const GroupResource& resource : names_->all_below(prefix_)) count_progress(resource);
      return;
    }
    // Most adjacent events have the same resource; a run of them is counted with one call.
    GroupResource resource = names_->of(batch.events.front().kv.key);
    double events = 0;
    for (const StorageEvent& event : batch.events) {
      GroupResource own = names_->of(event.kv.key);
      if (own != resource) {
        count_events(resource, std::exchange(events, 0));
        resource = std::move(own);
      }
      ++events;
    }
    count_events(resource, events);
  }

  const std::unique_ptr<StorageWatch> below_;
  const std::string prefix_;
  const std::shared_ptr<const MeasuredStorage::Names> names_;
};

}  // namespace

std::shared_ptr<MeasuredStorage::Names> MeasuredStorage::make_names() { return std::make_shared<Names>(); }

void MeasuredStorage::use_resource(std::string_view prefix, GroupResource resource) {
  const std::lock_guard lock(names_->mutex);
  names_->by_prefix.insert_or_assign(std::string(prefix), std::move(resource));
}

void MeasuredStorage::forget_resource(std::string_view prefix) {
  const std::lock_guard lock(names_->mutex);
  if (const auto found = names_->by_prefix.find(prefix); found != names_->by_prefix.end()) names_->by_prefix.erase(found);
}

Task<Result<RangeResult>> MeasuredStorage::range(RangeRequest request) {
  const std::string_view operation = operation_of(request);
  const GroupResource resource = names_->of(request.start);
  const auto begun = Clock::now();
  auto reading = backend_.range(std::move(request));
  auto result = co_await std::move(reading);
  count_request(operation, resource, !result.ok(), begun);
  co_return result;
}

Task<Result<TxnResult>> MeasuredStorage::txn(TxnRequest request) {
  const Write write = write_of(request);
  const std::string_view operation = write.operation;
  const GroupResource resource = names_->of(write.key);
  const auto begun = Clock::now();
  auto committing = backend_.txn(std::move(request));
  auto result = co_await std::move(committing);
  count_request(operation, resource, !result.ok(), begun);
  co_return result;
}

Result<std::unique_ptr<StorageWatch>> MeasuredStorage::watch(std::string prefix, Revision after) {
  auto below = backend_.watch(prefix, after);
  if (!below.ok()) return below;
  return std::unique_ptr<StorageWatch>(std::make_unique<MeasuredWatch>(std::move(*below), std::move(prefix), names_));
}

}  // namespace backplane
