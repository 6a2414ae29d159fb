#include "stable/table_storage.hpp"

#include <atomic>
#include <thread>
#include <utility>

#include "backplane/points/storage_feed.hpp"
#include "stable/call_threads.hpp"
#include "stable/event_stream.hpp"
#include "stable/store_answer.hpp"

namespace backplane::stable {
namespace {

using std::chrono::milliseconds;

// A transaction in the plugin's types. The request outlives this object.
class PassedTxn {
 public:
  explicit PassedTxn(const TxnRequest& request) {
    for (const Compare& each : request.compares) compares_.push_back({sizeof(bp_compare), str(each.key), each.mod_revision});
    for (const Put& each : request.puts) puts_.push_back({sizeof(bp_put), str(each.key), str(each.value.view()), each.lease});
    for (const std::string& key : request.removes) removes_.push_back(str(key));
    for (const bp_compare& each : compares_) compare_pointers_.push_back(&each);
    for (const bp_put& each : puts_) put_pointers_.push_back(&each);
    table_ = {sizeof(bp_txn),       compare_pointers_.data(), compares_.size(), put_pointers_.data(),
              put_pointers_.size(), removes_.data(),          removes_.size()};
  }
  PassedTxn(const PassedTxn&) = delete;
  PassedTxn& operator=(const PassedTxn&) = delete;
  const bp_txn* table() const noexcept { return &table_; }

 private:
  std::vector<bp_compare> compares_;
  std::vector<bp_put> puts_;
  std::vector<bp_str> removes_;
  std::vector<const bp_compare*> compare_pointers_;
  std::vector<const bp_put*> put_pointers_;
  bp_txn table_{};
};

Status broken(const OpenedStore& store, const std::string& what) {
  return internal_error("the storage backend " + backplane::quoted(store.name) + " " + what);
}

// Whether the keys are sorted and in the range: the next page of a list begins after the last key.
bool keys_fit(const RangeRequest& request, const std::vector<KeyValue>& items) {
  std::string_view least = request.start;
  bool first = true;
  for (const KeyValue& item : items) {
    if (first ? item.key < least : item.key <= least) return false;
    if (request.end.empty() ? item.key != request.start : item.key >= request.end) return false;
    least = item.key;
    first = false;
  }
  return true;
}

Result<RangeResult> read_range(const OpenedStore& store, const RangeRequest& request) {
  const bp_range range = {sizeof(bp_range), str(request.start),        str(request.end),           request.revision,
                          request.limit,    request.keys_only ? 1 : 0, request.count_only ? 1 : 0, request.skip_count ? 1 : 0};
  bp_store_answer answer;
  bp_error error{};
  if (store.table.range(store.handle, &range, &answer, &error) != 0) return status_of(error);
  if (answer.revision < 0) return broken(store, "has not completed the result of a range");
  if (!keys_fit(request, answer.items)) return broken(store, "has read keys out of order or out of the range");
  if (request.keys_only) {
    for (KeyValue& item : answer.items) item.value = {};
  }
  return RangeResult{std::move(answer.items), answer.revision, answer.count, answer.more};
}

Result<TxnResult> write_txn(const OpenedStore& store, const TxnRequest& request) {
  const PassedTxn passed(request);
  bp_store_answer answer;
  bp_error error{};
  if (store.table.txn(store.handle, passed.table(), &answer, &error) != 0) return status_of(error);
  if (answer.revision < 0) return broken(store, "has not completed the result of a transaction");
  if (answer.committed) answer.items.clear();
  return TxnResult{answer.committed, answer.revision, std::move(answer.items)};
}

template <class Answer>
Answer fenced(const std::function<Answer()>& work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    return internal_error(thrown.what());
  }
}

class TableStorage final : public StorageBackend {
 public:
  TableStorage(std::shared_ptr<OpenedStore> store, std::string stored_form, Executor* timers, StoreLimits limits)
      : store_(std::move(store)), stored_form_(std::move(stored_form)), timers_(timers), limits_(limits) {}
  ~TableStorage() override;

  Task<Result<Revision>> current_revision() override { return number(&bp_storage_backend::current_revision, "current_revision()"); }
  Revision committed_revision() const noexcept override { return now(store_->table.committed_revision, 0); }
  bool progress_is_immediate() const noexcept override { return store_->table.request_progress == nullptr; }
  Task<Status> request_progress() override;
  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  bool can_raise_revision() const noexcept override { return store_->table.raise_revision != nullptr; }
  Task<Status> raise_revision(Revision revision) override;
  Task<Status> compact(Revision revision) override;
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override;
  Task<Status> health(milliseconds timeout) override;
  Task<Status> stop() override;
  std::int64_t size_bytes() const noexcept override { return now(store_->table.size, -1); }
  std::string_view stored_form() const noexcept override { return stored_form_; }

 private:
  using Number = int64_t (*)(void* store, bp_error* error);
  Task<Result<Revision>> number(Number bp_storage_backend::*function, const char* name);
  std::int64_t now(int64_t (*function)(void* store), std::int64_t otherwise) const noexcept;

  Status stopped() const { return service_unavailable("the store " + backplane::quoted(store_->name) + " has stopped"); }
  Status late(const std::string& call, milliseconds limit) const;
  std::function<void()> at_deadline(milliseconds limit, std::function<void()> work) const;
  // Runs `work` on a thread of the store, and waits for it as long as `limit`.
  template <class Answer>
  Task<Answer> call(std::string name, milliseconds limit, std::function<Answer()> work);
  // As call(), but an error if the store has stopped.
  template <class Answer>
  Task<Answer> ask(std::string name, milliseconds limit, std::function<Answer()> work);

  void begin_stop();
  Status close();

  const std::shared_ptr<OpenedStore> store_;
  const std::string stored_form_;
  Executor* const timers_;  // for calls on threads without an executor; null: these calls have no deadline
  const StoreLimits limits_;
  std::atomic<bool> stopped_{false};
  mutable std::atomic<int> in_now_{0};  // calls of now() that run
};

// ---- calls

Status TableStorage::late(const std::string& call, milliseconds limit) const {
  return timeout("the storage backend " + backplane::quoted(store_->name) + " has not returned from " + call + " within " +
                     std::to_string(limit.count()) + " ms",
                 1);
}

std::function<void()> TableStorage::at_deadline(milliseconds limit, std::function<void()> work) const {
  Executor* timers = current_executor();
  if (timers == nullptr || timers->io() == nullptr) timers = timers_;
  if (timers == nullptr) return [] {};
  return timers->after(limit, std::move(work));
}

template <class Answer>
Task<Answer> TableStorage::call(std::string name, milliseconds limit, std::function<Answer()> work) {
  const Promise<Answer> answer;
  const auto is_late = std::make_shared<std::atomic<bool>>(false);
  // A call that has not begun by its deadline is not made.
  const bool queued = store_->threads.post([answer, is_late, work = std::move(work)] {
    if (!is_late->load()) answer.set(fenced(work));
  });
  if (!queued) co_return stopped();
  const auto disarm = at_deadline(limit, [answer, is_late, status = late(name, limit)] {
    is_late->store(true);
    answer.set(status);
  });
  auto waiting = answer.future();
  Answer result = co_await waiting;
  disarm();
  co_return result;
}

template <class Answer>
Task<Answer> TableStorage::ask(std::string name, milliseconds limit, std::function<Answer()> work) {
  if (stopped_.load()) co_return stopped();
  auto calling = call<Answer>(std::move(name), limit, std::move(work));
  co_return co_await std::move(calling);
}

Task<Result<Revision>> TableStorage::number(Number bp_storage_backend::*function, const char* name) {
  return ask<Result<Revision>>(name, limits_.call, [store = store_, function]() -> Result<Revision> {
    bp_error error{};
    const int64_t answer = (store->table.*function)(store->handle, &error);
    return answer < 0 ? Result<Revision>(status_of(error)) : Result<Revision>(answer);
  });
}

// close() waits until in_now_ is 0.
std::int64_t TableStorage::now(int64_t (*function)(void* store), std::int64_t otherwise) const noexcept {
  if (function == nullptr) return otherwise;
  ++in_now_;
  const std::int64_t answer = stopped_.load() ? otherwise : function(store_->handle);
  --in_now_;
  return answer;
}

Task<Result<RangeResult>> TableStorage::range(RangeRequest request) {
  return ask<Result<RangeResult>>("range()", limits_.call,
                                  [store = store_, request = std::move(request)] { return read_range(*store, request); });
}

Task<Result<TxnResult>> TableStorage::txn(TxnRequest request) {
  Status bad = check_txn(request);
  return ask<Result<TxnResult>>("txn()", limits_.call, [store = store_, bad = std::move(bad), request = std::move(request)] {
    return bad.ok() ? write_txn(*store, request) : Result<TxnResult>(bad);
  });
}

Result<std::unique_ptr<StorageWatch>> TableStorage::watch(std::string prefix, Revision after) {
  auto stream = store_->add_stream(std::move(prefix), after);
  if (!stream) return stopped();
  stream->open();
  (void)at_deadline(limits_.call, [weak = std::weak_ptr(stream), status = late("watch()", limits_.call)] {
    if (const auto unopened = weak.lock()) unopened->end_unopened(status);
  });
  return std::unique_ptr<StorageWatch>(std::make_unique<TableWatch>(std::move(stream)));
}

Task<Status> TableStorage::request_progress() {
  return ask<Status>("request_progress()", limits_.call, [store = store_] {
    bp_error error{};
    const bool sent = store->table.request_progress == nullptr || store->table.request_progress(store->handle, &error) == 0;
    return sent ? Status() : status_of(error);
  });
}

Task<Status> TableStorage::raise_revision(Revision revision) {
  return ask<Status>("raise_revision()", limits_.upkeep, [store = store_, revision] {
    if (store->table.raise_revision == nullptr) return broken(*store, "cannot raise its revision");
    bp_error error{};
    return store->table.raise_revision(store->handle, revision, &error) == 0 ? Status() : status_of(error);
  });
}

Task<Status> TableStorage::compact(Revision revision) {
  return ask<Status>("compact()", limits_.upkeep, [store = store_, revision] {
    bp_error error{};
    return store->table.compact(store->handle, revision, &error) == 0 ? Status() : status_of(error);
  });
}

Task<Result<LeaseId>> TableStorage::grant_lease(std::chrono::seconds ttl) {
  return ask<Result<LeaseId>>("grant_lease()", limits_.call, [store = store_, ttl]() -> Result<LeaseId> {
    bp_error error{};
    const LeaseId lease = store->table.grant_lease(store->handle, ttl.count(), &error);
    return lease > 0 ? Result<LeaseId>(lease) : Result<LeaseId>(status_of(error));
  });
}

Task<Status> TableStorage::health(milliseconds timeout) {
  return ask<Status>("health()", timeout, [store = store_, timeout] {
    bp_error error{};
    const bp_storage_backend& table = store->table;
    const bool healthy = table.health != nullptr ? table.health(store->handle, static_cast<uint32_t>(timeout.count()), &error) == 0
                                                 : table.current_revision(store->handle, &error) >= 0;
    return healthy ? Status() : status_of(error);
  });
}

// ---- the end

// Refuses new calls, and cancels the watches.
void TableStorage::begin_stop() {
  for (const auto& stream : store_->refuse_streams()) stream->cancel();
}

// Runs on a thread of the store, as its last work.
Status TableStorage::close() {
  if (!store_->threads.wait_alone(limits_.stop)) return late("a call", limits_.stop);
  while (in_now_.load() != 0) std::this_thread::yield();
  store_->table.close(store_->handle);
  return {};
}

Task<Status> TableStorage::stop() {
  if (stopped_.exchange(true)) co_return Status();
  begin_stop();
  auto closing = call<Status>("close()", 2 * limits_.stop, [this] { return close(); });
  co_return co_await std::move(closing);
}

TableStorage::~TableStorage() {
  if (!stopped_.exchange(true)) {
    begin_stop();
    (void)store_->threads.post([this] { (void)close(); });
  }
  // Work that refers to this object ends within this limit, unless close() does not return.
  (void)store_->threads.stop(2 * limits_.stop);
}

}  // namespace

Result<std::unique_ptr<StorageBackend>> open_table_storage(const StorageProvider& provider, const StorageBackendConfig& config,
                                                           StoreLimits limits) {
  auto store = std::make_shared<OpenedStore>(provider);
  const bp_store_settings settings = {sizeof(bp_store_settings), str(config.data_dir), config.unsafe_no_fsync ? 1 : 0};
  bp_error error{};
  {
    const CallScope scope(CallPlace::kLifecycle);
    store->handle = store->table.open(provider.table.self, &settings, &error);
  }
  if (store->handle == nullptr) return status_of(error);
  std::string form = config.stored_form.empty() ? provider.stored_form : config.stored_form;
  if (form.empty()) form = "json";
  return std::unique_ptr<StorageBackend>(
      std::make_unique<TableStorage>(std::move(store), std::move(form), config.connections.executor, limits));
}

}  // namespace backplane::stable
