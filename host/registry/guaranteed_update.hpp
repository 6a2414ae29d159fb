// The retry loop of updates and deletes (upstream: storage.GuaranteedUpdate). An attempt computes the new state from the cached state, and
// commits it if the stored revision is unchanged; otherwise the next attempt begins from the stored state. Writes that have lost a
// conflict, and writes to the same key that arrive meanwhile, run one after another (KeyTurns).
//
// Thread-safety: one operation, one request.
// Lifetime:      borrows the store, the backing and the request until run() returns.
// Errors:        those of an attempt that began from the newest state.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "registry/object_store.hpp"
#include "registry/store_commit.hpp"

namespace backplane::registry {

// `Operation` derives from this and has Task<Attempt> attempt().
template <class Operation, class Outcome>
class GuaranteedUpdate {
 public:
  Task<Result<Outcome>> run() {
    KeyTurns::Turn turn;
    bool waited = store_.turns().busy(key_);
    if (waited) {
      auto waiting = store_.turns().take(key_, kTurnTimeout);
      turn = co_await std::move(waiting);
    }
    if (!waited && !dry_run_) entry_ = backing_.cache->peek(key_);
    if (entry_ == nullptr) {
      Status read = co_await refresh();
      if (!read.ok()) co_return read;
    }
    const std::size_t warnings = context_.warning_count();
    for (bool retried = false;; retried = true) {
      if (expired(context_)) co_return deadline_error();
      // Not in the first attempt: concurrent deletes of a collection add warnings to the same request.
      if (retried) context_.take_back_warnings(warnings);
      auto outcome = co_await static_cast<Operation&>(*this).attempt();
      if (outcome.ok()) {
        if (outcome->has_value()) co_return std::move(**outcome);
        if (std::exchange(waited, true)) continue;
        auto waiting = store_.turns().take(key_, kTurnTimeout);
        turn = co_await std::move(waiting);
        Status read = co_await refresh();
        if (!read.ok()) co_return read;
        continue;
      }
      // If the state was current, repeating does not help. If the outcome of the commit is unclear, the write may have been committed, and
      // must not be repeated.
      if (current_ || unclear_) co_return std::move(outcome.status());
      // The attempt may have failed because the cached state is stale. Reads the backend, and repeats the attempt if the state has changed.
      const Revision judged = revision();
      Status read = co_await refresh();
      if (!read.ok()) co_return read;
      if (revision() == judged) co_return std::move(outcome.status());
    }
  }

 protected:
  // The limit of the wait for the turn on the key. Without a limit, an admission plugin that writes the object that it admits would wait
  // forever.
  static constexpr std::chrono::seconds kTurnTimeout{1};

  // nullopt: the state from which the attempt began is stale, and `entry_` has been replaced.
  using Attempt = Result<std::optional<Outcome>>;
  static Attempt again() { return std::optional<Outcome>(); }

  // A dry run begins from the state in the backend, because it has no commit that would detect a stale cached state.
  GuaranteedUpdate(ObjectStore& store, const Backing& backing, RequestContext& context, std::string name, std::string key, bool dry_run)
      : store_(store), backing_(backing), context_(context), name_(std::move(name)), key_(std::move(key)), dry_run_(dry_run) {}

  Task<Status> refresh() {
    auto stored = co_await store_.read_stored(backing_, key_);
    if (!stored.ok()) co_return std::move(stored.status());
    entry_ = std::move(*stored);
    current_ = true;
    co_return Status();
  }
  // If a transaction was lost because the object has changed (CommitEnd::kMoved), sets entry_ to the object that the transaction has found.
  // Errors: the object cannot be read.
  Status adopt(const CommitOutcome& lost) {
    if (lost.end != CommitEnd::kMoved) return {};
    current_ = true;
    if (lost.found && lost.found->unreadable) return *lost.found->unreadable;
    entry_ = lost.found ? backing_.cache->make_entry(*lost.found) : nullptr;
    return {};
  }
  // Removes the object; calls begin and finish of the store's hooks. `removal`: the attributes for admission plugins that join the
  // deletion; nullopt: admission does not apply.
  Task<Result<CommitOutcome>> commit_removal(const WriteMode& mode, std::optional<AdmissionAttributes>& removal) {
    ObjectChange change;
    change.key = key_;
    change.expected = revision();
    const StoreHooks* hooks = store_.config().hooks.get();
    WriteAdmission* admission = removal ? &admission_of(mode, backing_) : nullptr;
    if (admission != nullptr && !admission->begins(*removal)) admission = nullptr;
    Joining joining;
    if (hooks == nullptr && admission == nullptr) co_return co_await commit(backing_, context_, std::move(change), joining, &unclear_);
    const Object old = decode(*entry_, json::make_shared_resource<json::monotonic_resource>());
    if (removal) removal->old_object = &old;
    StoreHooks::Begun begun;
    if (hooks != nullptr) {
      auto started = co_await hooks->begin_delete(context_, old);
      if (!started.ok()) co_return std::move(started.status());
      begun = std::move(*started);
    }
    joining = {begun.get(), admission, admission != nullptr ? &*removal : nullptr};
    auto committed = co_await commit(backing_, context_, std::move(change), joining, &unclear_);
    const bool kept = committed.ok() && committed->end == CommitEnd::kDone;
    if (begun != nullptr) co_await begun->finish(kept);
    co_return committed;
  }
  Revision revision() const { return entry_ ? entry_->revision : 0; }

  ObjectStore& store_;
  const Backing& backing_;
  RequestContext& context_;
  std::string name_;
  std::string key_;
  const bool dry_run_;
  ObjectRef entry_;       // the object from which the attempt starts; null: it does not exist
  bool current_ = false;  // entry_ came from the backend, not from the cache
  bool unclear_ = false;  // the last transaction failed, but the store may have committed it
};

}  // namespace backplane::registry
