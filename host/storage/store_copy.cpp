#include "storage/store_copy.hpp"

#include <algorithm>
#include <optional>

#include "storage/store_hold.hpp"
#include "storage/store_walk.hpp"
#include "storage/store_writer.hpp"

namespace backplane {
namespace {

constexpr int kMaxPasses = 10;
constexpr std::chrono::seconds kHoldLease{120}, kHoldRenewal{30};
// A source with a hold may still commit this many revisions: its servers request the progress of an old etcd by a write.
constexpr Revision kReadAhead = 1000;

Status in(std::string_view which, const Status& status) {
  return status.ok() ? status : Status(status.reason(), std::string(which) + ": " + status.message());
}

Status stuck(std::string message) { return Status(Reason::kConflict, std::move(message)); }
Status damaged(std::string message) { return Status(Reason::kInternalError, std::move(message)); }

std::function<void(std::uint64_t)> log_raised_revision(const CopySettings& settings) {
  if (!settings.progress) return {};
  return [progress = settings.progress](std::uint64_t revision) { progress("raised", revision); };
}

class StoreCopy {
 public:
  StoreCopy(StorageBackend& from, StorageBackend& to, CopySettings settings)
      : from_(from), to_(to), settings_(std::move(settings)), raised_(log_raised_revision(settings_)), writer_(to, settings_.lease) {}
  Task<Result<CopyReport>> run();

 private:
  Task<Status> check_source();
  Task<Status> take_target();
  Task<Status> check_empty();
  Task<Status> hold_source(LeaseId lease);
  Task<Status> renew_hold();
  // Renews the hold on the source, and reads the walk's next page; false after the last page.  `which`: "source" or "target", for errors.
  Task<Result<bool>> next_page(StoreWalk& walk, std::string_view which);
  Task<Status> passes();
  Task<Status> pass();
  Task<Status> copy_page(const StoreWalk& walk);
  Task<Status> verify();
  Task<Result<bool>> source_moved();
  Task<Status> hold_permanently();
  Task<Status> pass_source();
  Task<Status> finish();
  Task<Status> forget_history(Revision revision);

  StorageBackend& from_;
  StorageBackend& to_;
  const CopySettings settings_;
  const std::function<void(std::uint64_t)> raised_;  // reports progress while the revision is raised
  StoreWriter writer_;
  CopyReport report_;
  bool merge_ = false;         // the target has data of an earlier pass
  bool freeing_ = false;       // the target's mark has been, or is being, removed: servers may use the target
  std::uint64_t lasting_ = 0;  // the number of keys without a lease in the last pass
  std::chrono::steady_clock::time_point renew_at_{};
};

Task<Result<CopyReport>> StoreCopy::run() {
  auto checking = check_source();
  Status status = co_await std::move(checking);
  if (!status.ok()) co_return status;
  auto taking = take_target();
  status = co_await std::move(taking);
  if (!status.ok()) co_return status;
  auto copying = passes();
  status = co_await std::move(copying);
  if (status.ok()) {
    auto finishing = finish();
    status = co_await std::move(finishing);
  }
  if (status.ok()) co_return report_;
  if (settings_.hold_source && !freeing_) {
    // The copy has failed: the source's servers may write again. The target keeps its data.
    auto releasing = write_now(from_, remove_request(kHoldKey));
    Status released = co_await std::move(releasing);
    (void)released;  // if the removal fails, the mark expires with its lease
  }
  co_return status;
}

Task<Status> StoreCopy::check_source() {
  auto reading = read_key(from_, kHoldKey);
  auto mark = co_await std::move(reading);
  if (!mark.ok()) co_return in("source", mark.status());
  const auto hold = mark->has_value() ? parse_hold((*mark)->value.view()) : std::nullopt;
  if (hold && hold->kind == StoreHold::Kind::kFilling) {
    co_return stuck("source: it is a copy of " + hold->other + " that has not been finished");
  }
  // The source has been moved to another store. If this copy replaced and later removed that hold, servers could write to a store that is
  // no longer in use.
  if (hold && settings_.hold_source && hold->other != settings_.to) co_return stuck("source: " + why_no_writes((*mark)->value.view()));
  StoreWalk walk(from_, 0, true);
  auto walking = walk.next();
  auto any = co_await std::move(walking);
  if (!any.ok()) co_return in("source", any.status());
  if (walk.items().empty()) co_return bad_request("source: there is nothing in it: no key begins with the prefix");
  co_return Status();
}

// Checks that the target is empty or an unfinished copy of the same source, and writes the mark.
Task<Status> StoreCopy::take_target() {
  auto reading = read_key(to_, kHoldKey);
  auto mark = co_await std::move(reading);
  if (!mark.ok()) co_return in("target", mark.status());
  const auto hold = mark->has_value() ? parse_hold((*mark)->value.view()) : std::nullopt;
  report_.resumed = hold && hold->kind == StoreHold::Kind::kFilling;
  if (hold && !report_.resumed) co_return stuck("target: " + why_no_writes((*mark)->value.view()));
  if (report_.resumed && hold->other != settings_.from) {
    co_return stuck("target: it is a copy of " + hold->other + " that has not been finished; continue that copy, or empty the target");
  }
  merge_ = report_.resumed;
  if (!merge_) {
    auto checking = check_empty();
    Status empty = co_await std::move(checking);
    if (!empty.ok()) co_return empty;
  }
  StoreHold own;
  own.kind = StoreHold::Kind::kFilling;
  own.other = settings_.from;
  auto marking = write_now(to_, put_request(kHoldKey, to_text(own), 0));
  Status marked = co_await std::move(marking);
  co_return in("target", marked);
}

Task<Status> StoreCopy::check_empty() {
  RangeRequest request;
  request.start = std::string(kObjectKeyPrefix);
  request.end = std::string(kObjectKeysEnd);
  request.limit = 1;
  request.keys_only = true;
  auto reading = to_.range(std::move(request));
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return in("target", found.status());
  if (found->items.empty()) co_return Status();
  co_return stuck("target: it is not empty: it holds " + std::to_string(found->count) + " keys, the first is " +
                  quoted(found->items.front().key));
}

Task<Status> StoreCopy::hold_source(LeaseId lease) {
  StoreHold own;
  own.kind = StoreHold::Kind::kLeaving;
  own.other = settings_.to;
  auto marking = write_now(from_, put_request(kHoldKey, to_text(own), lease));
  Status marked = co_await std::move(marking);
  co_return in("source", marked);
}

// Writes the hold on the source with a new lease, if it is time. If the process crashes, the hold expires and the source accepts writes
// again.
Task<Status> StoreCopy::renew_hold() {
  const auto now = std::chrono::steady_clock::now();
  if (!settings_.hold_source || now < renew_at_) co_return Status();
  renew_at_ = now + kHoldRenewal;
  auto granting = from_.grant_lease(kHoldLease);
  auto granted = co_await std::move(granting);
  if (!granted.ok()) co_return in("source", granted.status());
  auto holding = hold_source(*granted);
  Status held = co_await std::move(holding);
  co_return held;
}

Task<Result<bool>> StoreCopy::next_page(StoreWalk& walk, std::string_view which) {
  auto renewing = renew_hold();
  Status renewed = co_await std::move(renewing);
  if (!renewed.ok()) co_return renewed;
  auto walking = walk.next();
  auto more = co_await std::move(walking);
  if (!more.ok()) co_return in(which, more.status());
  co_return more;
}

Task<Status> StoreCopy::passes() {
  for (int i = 0; i < kMaxPasses; ++i) {
    auto passing = pass();
    Status done;
    done = co_await std::move(passing);
    merge_ = true;
    writer_.drop();
    // The source has compacted the revision while the pass was reading it. The next pass has less to write, and so is faster.
    if (!done.ok() && done.reason() == Reason::kExpired) continue;
    if (!done.ok()) co_return done;
    auto asking = source_moved();
    Result<bool> moved;
    moved = co_await std::move(asking);
    if (!moved.ok()) co_return std::move(moved.status());
    if (!*moved) {
      auto verifying = verify();
      Status verified;
      verified = co_await std::move(verifying);
      co_return verified;
    }
  }
  co_return stuck(
      "source: it is being written to all the time: stop its servers, or have them refuse writes (--refuse-writes), and copy again");
}

Task<Status> StoreCopy::pass() {
  auto renewing = renew_hold();
  Status held = co_await std::move(renewing);
  if (!held.ok()) co_return held;
  auto asking = from_.current_revision();
  auto revision = co_await std::move(asking);
  if (!revision.ok()) co_return in("source", revision.status());
  report_.source_revision = *revision;
  auto raising = raise_to(to_, *revision, raised_);
  Status raised = co_await std::move(raising);
  if (!raised.ok()) co_return in("target", raised);
  lasting_ = 0;
  StoreWalk walk(from_, *revision);
  StoreDigest digest;
  for (;;) {
    auto walking = next_page(walk, "source");
    Result<bool> more;
    more = co_await std::move(walking);
    if (!more.ok()) co_return std::move(more.status());
    if (!*more) break;
    for (const KeyValue& item : walk.items()) {
      digest.add(item.key, item.value.view());
      if (item.lease == 0) ++lasting_;
    }
    auto copying = copy_page(walk);
    Status copied;
    copied = co_await std::move(copying);
    if (!copied.ok()) co_return in("target", copied);
    if (settings_.progress) settings_.progress("copied", digest.keys());
  }
  auto flushing = writer_.flush();
  Status flushed = co_await std::move(flushing);
  if (!flushed.ok()) co_return in("target", flushed);
  report_.keys = digest.keys();
  report_.bytes = digest.bytes();
  report_.digest = digest.finish();
  co_return Status();
}

Task<Status> StoreCopy::copy_page(const StoreWalk& walk) {
  std::vector<KeyValue> there;
  if (merge_) {
    RangeRequest request;
    request.start = walk.from();
    request.end = walk.end();
    auto reading = to_.range(std::move(request));
    auto found = co_await std::move(reading);
    if (!found.ok()) co_return std::move(found.status());
    there = std::move(found->items);
  }
  auto old = there.begin();
  for (const KeyValue& item : walk.items()) {
    Status status;
    for (; status.ok() && old != there.end() && old->key < item.key; ++old) {
      auto removing = writer_.remove(old->key);
      status = co_await std::move(removing);
    }
    if (!status.ok()) co_return status;
    const bool same = old != there.end() && old->key == item.key && old->value.view() == item.value.view();
    if (old != there.end() && old->key == item.key) ++old;
    if (same) continue;
    auto adding = writer_.add(item);
    status = co_await std::move(adding);
    if (!status.ok()) co_return status;
  }
  Status status;
  for (; status.ok() && old != there.end(); ++old) {
    auto removing = writer_.remove(old->key);
    status = co_await std::move(removing);
  }
  co_return status;
}

// Reads the target, and compares its keys and digest with those that were copied.
Task<Status> StoreCopy::verify() {
  auto asking = to_.current_revision();
  auto revision = co_await std::move(asking);
  if (!revision.ok()) co_return in("target", revision.status());
  StoreWalk walk(to_, *revision);
  StoreDigest digest;
  for (;;) {
    auto walking = next_page(walk, "target");
    Result<bool> more;
    more = co_await std::move(walking);
    if (!more.ok()) co_return std::move(more.status());
    if (!*more) break;
    for (const KeyValue& item : walk.items()) digest.add(item.key, item.value.view());
  }
  const std::string found = digest.finish();
  if (digest.keys() == report_.keys && found == report_.digest) co_return Status();
  co_return damaged("target: it is not what was written to it: " + std::to_string(digest.keys()) + " keys, sha256 " + found + ", and " +
                    std::to_string(report_.keys) + " keys, sha256 " + report_.digest +
                    " in the source; another client writes there: stop it, and copy again");
}

// True if a key of the source has been written or removed since the pass began.  Keys that have expired are ignored.
Task<Result<bool>> StoreCopy::source_moved() {
  StoreWalk walk(from_, 0, true);
  std::uint64_t keys = 0;
  for (;;) {
    auto walking = next_page(walk, "source");
    Result<bool> more;
    more = co_await std::move(walking);
    if (!more.ok()) co_return std::move(more.status());
    if (!*more) break;
    for (const KeyValue& item : walk.items()) {
      if (item.lease == 0) ++keys;
      if (item.mod_revision > report_.source_revision) co_return true;
    }
  }
  co_return keys != lasting_;
}

// Makes the source's hold permanent. Then checks that the source has not been written to since it was read, because the former hold may
// have expired meanwhile.
Task<Status> StoreCopy::hold_permanently() {
  renew_at_ = std::chrono::steady_clock::time_point::max();  // renew_hold() must not replace it by a hold with a lease
  auto holding = hold_source(0);
  Status held = co_await std::move(holding);
  if (!held.ok()) co_return held;
  auto looking = source_moved();
  Result<bool> moved = co_await std::move(looking);
  if (!moved.ok()) co_return std::move(moved.status());
  co_return *moved ? stuck("source: it has been written to since it was read: copy again") : Status();
}

// Raises the target's revision above the source's: a client that has read from the source must not get an older revision from the target.
Task<Status> StoreCopy::pass_source() {
  auto asking = from_.current_revision();
  auto last = co_await std::move(asking);
  if (!last.ok()) co_return in("source", last.status());
  auto raising = raise_to(to_, *last + (settings_.hold_source ? kReadAhead : 0), raised_);
  Status raised = co_await std::move(raising);
  co_return in("target", raised);
}

Task<Status> StoreCopy::finish() {
  if (settings_.hold_source) {
    auto holding = hold_permanently();
    Status held = co_await std::move(holding);
    if (!held.ok()) co_return held;
  }
  auto passing = pass_source();
  Status passed = co_await std::move(passing);
  if (!passed.ok()) co_return passed;
  auto asking = to_.current_revision();
  auto revision = co_await std::move(asking);
  if (!revision.ok()) co_return in("target", revision.status());
  auto forgetting = forget_history(*revision);
  Status forgotten = co_await std::move(forgetting);
  if (!forgotten.ok()) co_return in("target", forgotten);
  // The mark may be removed even if the response is lost. So from here on the hold on the source must remain.
  freeing_ = true;
  auto freeing = to_.txn(remove_request(kHoldKey));
  auto freed = co_await std::move(freeing);
  if (!freed.ok()) co_return in("target", freed.status());
  report_.target_revision = freed->revision;
  co_return Status();
}

// Compacts the target, because a watch from a revision of the source must end with kExpired.  If several clients compact an etcd, the first
// attempt may only read the revision that another client has compacted to.
Task<Status> StoreCopy::forget_history(Revision revision) {
  for (int i = 0; i < 3; ++i) {
    auto compacting = to_.compact(revision);
    Status compacted;
    compacted = co_await std::move(compacting);
    if (!compacted.ok()) co_return compacted;
    RangeRequest request = one_key(kHoldKey);
    request.revision = revision - 1;
    auto reading = to_.range(std::move(request));
    Result<RangeResult> old;
    old = co_await std::move(reading);
    if (!old.ok() && old.status().reason() == Reason::kExpired) co_return Status();
    if (!old.ok()) co_return std::move(old.status());
  }
  co_return damaged("its history cannot be compacted: another client compacts it");
}

}  // namespace

Task<Result<CopyReport>> copy_store(StorageBackend& from, StorageBackend& to, CopySettings settings) {
  StoreCopy copy(from, to, std::move(settings));
  auto running = copy.run();
  auto done = co_await std::move(running);
  co_return done;
}

Task<Status> release_store(StorageBackend& store) {
  auto reading = read_key(store, kHoldKey);
  auto mark = co_await std::move(reading);
  if (!mark.ok()) co_return std::move(mark.status());
  if (!mark->has_value()) co_return Status(Reason::kNotFound, "there is no hold on the store");
  const auto hold = parse_hold((*mark)->value.view());
  if (hold && hold->kind == StoreHold::Kind::kFilling) co_return stuck(why_no_writes((*mark)->value.view()) + "; copy again, or empty it");
  auto removing = write_now(store, remove_request(kHoldKey));
  Status removed = co_await std::move(removing);
  co_return removed;
}

}  // namespace backplane
