#include "registry/store_commit.hpp"

#include "base/spent_time.hpp"
#include "registry/fields/guarded_admission.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {
namespace {

Status foreign_storage() { return internal_error("only objects of a storage that this host has made can join a transaction"); }

// The store of the stored version of `storage`, in which joined objects are encoded; null: another host or plugin has made the storage.
const ObjectStore* store_of(const StandardStorage& storage) {
  HostStore* const store = const_cast<StandardStorage&>(storage).host_store();
  return store != nullptr ? &store->served().stored() : nullptr;
}

class JoinedTransaction final : public StoreTransaction {
 public:
  JoinedTransaction(TxnRequest& request, bool again) : request_(request), again_(again) {}

  bool again() const noexcept override { return again_; }

  Status create(const StandardStorage& store, std::string ns, std::string name, Object object) override {
    const ObjectStore* const own = store_of(store);
    if (own == nullptr) return foreign_storage();
    auto key = own->keys().key(ns, name);
    if (!key.ok()) return std::move(key.status());
    return put(*own, std::move(*key), 0, std::move(object));
  }
  Status replace(const StandardStorage& store, const ObjectRef& before, Object object) override {
    const ObjectStore* const own = store_of(store);
    if (own == nullptr) return foreign_storage();
    return put(*own, std::string(before->key()), before->revision, std::move(object));
  }
  Status remove(const StandardStorage& store, const ObjectRef& before) override {
    if (store_of(store) == nullptr) return foreign_storage();
    request_.compares.push_back({std::string(before->key()), before->revision});
    request_.removes.emplace_back(before->key());
    return {};
  }

 private:
  Status put(const ObjectStore& store, std::string key, Revision expected, Object object) {
    Status shaped = canonical_form(store.schema(), object);
    if (!shaped.ok()) return shaped;
    request_.compares.push_back({key, expected});
    request_.puts.push_back({std::move(key), encode_for_storage(object), 0});
    return {};
  }

  TxnRequest& request_;
  bool again_;
};

TxnRequest own_request(const ObjectChange& change) {
  TxnRequest request;
  request.compares.push_back({change.key, change.expected});
  if (change.value) {
    request.puts.push_back({change.key, *change.value, change.lease});
  } else {
    request.removes.push_back(change.key);
  }
  return request;
}

// The object of `key` that the failed transaction has returned.
std::optional<KeyValue> take_found(std::vector<KeyValue>& found, const std::string& key) {
  for (KeyValue& each : found) {
    if (each.key == key) return std::move(each);
  }
  return std::nullopt;
}

// Combines the writes of the hooks and of the admission plugins.
class JoinedWrites {
 public:
  JoinedWrites(BegunWrite* hooks, WriteAdmission::Begun admission) : hooks_(hooks), admission_(std::move(admission)) {}

  bool empty() const noexcept { return hooks_ == nullptr && admission_.empty(); }
  // True if join() of an admission plugin has returned false.
  bool admission_is_stale() const noexcept { return admission_is_stale_; }

  Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) {
    if (hooks_ != nullptr) {
      auto joined = co_await hooks_->join(context, transaction);
      if (!joined.ok() || !*joined) co_return joined;
    }
    for (const auto& begun : admission_) {
      auto joined = co_await begun->join(context, transaction);
      if (joined.ok() && !*joined) admission_is_stale_ = true;
      if (!joined.ok() || !*joined) co_return joined;
    }
    co_return true;
  }
  Task<void> finish_admission(bool kept) {
    for (const auto& begun : admission_) co_await begun->finish(kept);
  }

 private:
  BegunWrite* const hooks_;
  const WriteAdmission::Begun admission_;
  bool admission_is_stale_ = false;
};

Task<Result<CommitOutcome>> commit_with(const Backing& backing, RequestContext& context, const ObjectChange& change, JoinedWrites& writes,
                                        bool* unclear) {
  CommitOutcome outcome;
  for (bool again = false;; again = true) {
    if (expired(context)) co_return deadline_error();
    TxnRequest request = own_request(change);
    if (!writes.empty()) {
      JoinedTransaction transaction(request, again);
      auto joined = co_await writes.join(context, transaction);
      if (!joined.ok()) co_return std::move(joined.status());
      outcome.end = *joined ? CommitEnd::kDone : CommitEnd::kStale;
      if (outcome.end == CommitEnd::kStale) co_return outcome;
    }
    std::optional<SpentTime> spent(std::in_place, context, &RequestLatencies::storage);
    auto committed = co_await backing.storage->txn(std::move(request));
    spent.reset();
    if (unclear != nullptr) *unclear = !committed.ok();
    if (!committed.ok()) co_return std::move(committed.status());
    outcome.revision = committed->revision;
    if (committed->committed) co_return outcome;
    outcome.found = take_found(committed->found, change.key);
    const Revision current = outcome.found ? outcome.found->mod_revision : 0;
    if (current == change.expected) continue;  // another object of the transaction has changed
    outcome.end = CommitEnd::kMoved;
    co_return outcome;
  }
}

}  // namespace

Task<Result<CommitOutcome>> commit(const Backing& backing, RequestContext& context, ObjectChange change, Joining joining, bool* unclear) {
  WriteAdmission* const admission = joining.admission;
  const bool begins = admission != nullptr && admission->begins(*joining.attributes);
  for (;;) {
    WriteAdmission::Begun begun;
    if (begins) {
      auto beginning = co_await guarded_begin(*admission, *joining.attributes);
      if (!beginning.ok()) co_return std::move(beginning.status());
      begun = std::move(*beginning);
    }
    JoinedWrites writes(joining.hooks, std::move(begun));
    auto committed = co_await commit_with(backing, context, change, writes, unclear);
    co_await writes.finish_admission(committed.ok() && committed->end == CommitEnd::kDone);
    if (!committed.ok() || !writes.admission_is_stale()) co_return committed;
    if (expired(context)) co_return deadline_error();
  }
}

bool too_large(const Status& status) {
  return status.code() == 500 && (status.message() == "etcdserver: request is too large" ||
                                  status.message().find("trying to send message larger than max") != std::string::npos);
}

Task<Result<bool>> commit_joined(const Backing& backing, RequestContext& context, BegunWrite& write) {
  for (bool again = false;; again = true) {
    if (again && expired(context)) co_return deadline_error();
    TxnRequest request;
    JoinedTransaction transaction(request, again);
    auto joined = co_await write.join(context, transaction);
    if (!joined.ok() || !*joined) co_return joined;
    if (request.compares.empty()) co_return true;
    std::optional<SpentTime> spent(std::in_place, context, &RequestLatencies::storage);
    auto committed = co_await backing.storage->txn(std::move(request));
    spent.reset();
    if (!committed.ok()) co_return std::move(committed.status());
    if (committed->committed) co_return true;
  }
}

}  // namespace backplane::registry
