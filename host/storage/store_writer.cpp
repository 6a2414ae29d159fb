#include "storage/store_writer.hpp"

#include <algorithm>
#include <memory>

namespace backplane {
namespace {

constexpr std::string_view kFillerKey = "/registry.backplane/filler";  // written and removed to raise the revision
constexpr std::size_t kFillers = 256;                                  // concurrent writes while the revision is raised
constexpr Revision kReportEvery = 10'000;
constexpr std::size_t kMaxWrites = 100;              // the limit of changes per transaction; etcd accepts 128
constexpr std::size_t kMaxWriteBytes = 1024 * 1024;  // the limit of the size of a transaction, unless it has a single larger value
constexpr std::size_t kKeysPerLease = 1000;

struct Filling {
  StorageBackend& store;
  const Revision goal;
  Revision reached = 0;
  std::size_t running = 0;
  Status failed;
  Promise<bool> done;
  const std::function<void(std::uint64_t)>& progress;
};

Task<void> fill(std::shared_ptr<Filling> filling) {
  while (filling->failed.ok() && filling->reached < filling->goal) {
    auto writing = filling->store.txn(put_request(kFillerKey, {}, 0));
    Result<TxnResult> written;
    written = co_await std::move(writing);
    if (!written.ok()) {
      filling->failed = written.status();
    } else {
      filling->reached = std::max(filling->reached, written->revision);
    }
    if (filling->progress && filling->reached % kReportEvery == 0) filling->progress(static_cast<std::uint64_t>(filling->reached));
  }
  if (--filling->running == 0) filling->done.set(true);
}

}  // namespace

RangeRequest one_key(std::string_view key) {
  RangeRequest request;
  request.start = std::string(key);
  return request;
}

TxnRequest put_request(std::string_view key, std::string value, LeaseId lease) {
  Put put;
  put.key = std::string(key);
  put.value = SharedBytes(std::move(value));
  put.lease = lease;
  TxnRequest request;
  request.puts.push_back(std::move(put));
  return request;
}

TxnRequest remove_request(std::string_view key) {
  TxnRequest request;
  request.removes.emplace_back(key);
  return request;
}

Task<Status> write_now(StorageBackend& store, TxnRequest request) {
  auto writing = store.txn(std::move(request));
  auto written = co_await std::move(writing);
  co_return written.status();
}

Task<Result<std::optional<KeyValue>>> read_key(StorageBackend& store, std::string_view key) {
  auto reading = store.range(one_key(key));
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return std::move(found.status());
  std::optional<KeyValue> item;
  if (!found->items.empty()) item = std::move(found->items.front());
  co_return item;
}

Task<Status> raise_to(StorageBackend& store, Revision goal, const std::function<void(std::uint64_t)>& progress) {
  auto asking = store.current_revision();
  auto now = co_await std::move(asking);
  if (!now.ok()) co_return std::move(now.status());
  if (*now >= goal) co_return Status();
  if (store.can_raise_revision()) {
    auto raising = store.raise_revision(goal);
    Status raised = co_await std::move(raising);
    co_return raised;
  }
  Executor* const executor = current_executor();
  std::shared_ptr<Filling> filling(new Filling{store, goal, *now, kFillers, {}, {}, progress});
  for (std::size_t i = 0; i < kFillers; ++i) spawn_detached(*executor, fill(filling));
  bool ended = co_await filling->done.future();
  (void)ended;
  if (!filling->failed.ok()) co_return filling->failed;
  auto removing = write_now(store, remove_request(kFillerKey));
  Status removed = co_await std::move(removing);
  co_return removed;
}

Task<Status> StoreWriter::remove(std::string key) {
  batch_.removes.push_back(std::move(key));
  if (writes() < kMaxWrites) co_return Status();
  auto flushing = flush();
  Status flushed = co_await std::move(flushing);
  co_return flushed;
}

Task<Status> StoreWriter::add(const KeyValue& item) {
  const std::size_t size = item.key.size() + item.value.size();
  if (!batch_.puts.empty() && (writes() >= kMaxWrites || batch_bytes_ + size > kMaxWriteBytes)) {
    auto flushing = flush();
    Status flushed = co_await std::move(flushing);
    if (!flushed.ok()) co_return flushed;
  }
  Put put;
  put.key = item.key;
  put.value = item.value;
  if (item.lease != 0) {
    auto leasing = lease();
    auto leased = co_await std::move(leasing);
    if (!leased.ok()) co_return std::move(leased.status());
    put.lease = *leased;
  }
  batch_.puts.push_back(std::move(put));
  batch_bytes_ += size;
  co_return Status();
}

Task<Result<LeaseId>> StoreWriter::lease() {
  if (lease_ == 0 || ++leased_ > kKeysPerLease) {
    auto granting = store_.grant_lease(keep_);
    auto granted = co_await std::move(granting);
    if (!granted.ok()) co_return std::move(granted.status());
    lease_ = *granted;
    leased_ = 1;
  }
  co_return lease_;
}

Task<Status> StoreWriter::flush() {
  if (writes() == 0) co_return Status();
  TxnRequest batch = std::move(batch_);
  drop();
  auto writing = write_now(store_, std::move(batch));
  Status written = co_await std::move(writing);
  co_return written;
}

void StoreWriter::drop() {
  batch_ = TxnRequest();
  batch_bytes_ = 0;
}

}  // namespace backplane
