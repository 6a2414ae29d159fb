#include "etcd_storage.hpp"

#include <algorithm>
#include <atomic>

#include "backplane/points/storage_feed.hpp"
#include "calls.hpp"
#include "revisions.hpp"
#include "server_states.hpp"
#include "watches.hpp"

namespace backplane {
namespace etcd {
namespace {

// The key with which kube-apiservers coordinate compactions: the server that changes it first compacts.
constexpr std::string_view kCompactionKey = "compact_rev_key";

pb::RangeRequest range_message(const backplane::RangeRequest& asked, const Keys& keys) {
  pb::RangeRequest request;
  request.set_key(keys.to_etcd(asked.start));
  if (!asked.end.empty()) request.set_range_end(keys.to_etcd(asked.end));
  request.set_revision(asked.revision);
  request.set_limit(asked.limit);
  request.set_keys_only(asked.keys_only);
  request.set_count_only(asked.count_only);
  return request;
}

pb::TxnRequest txn_message(const backplane::TxnRequest& asked, const Keys& keys) {
  pb::TxnRequest request;
  for (const auto& compare : asked.compares) {
    auto& out = *request.add_compare();
    out.set_result(pb::Compare::EQUAL);
    out.set_target(pb::Compare::MOD);
    out.set_key(keys.to_etcd(compare.key));
    out.set_mod_revision(compare.mod_revision);
    request.add_failure()->mutable_request_range()->set_key(out.key());
  }
  for (const auto& put : asked.puts) {
    auto& out = *request.add_success()->mutable_request_put();
    out.set_key(keys.to_etcd(put.key));
    out.set_value(put.value.view().data(), put.value.size());
    out.set_lease(put.lease);
  }
  for (const auto& key : asked.removes) request.add_success()->mutable_request_delete_range()->set_key(keys.to_etcd(key));
  return request;
}

class EtcdStorage final : public StorageBackend {
 public:
  EtcdStorage(Settings settings, std::vector<Server> servers, Executor& executor, Logger* logger)
      : stored_form_(settings.stored_form),
        keys_(settings.prefix),
        root_(settings.prefix == "/" ? "/" : settings.prefix + "/"),
        fence_(root_.substr(0, root_.size() - 1) + ".backplane"),
        cluster_(std::move(servers)),
        watches_(cluster_, executor, keys_, root_, fence_, logger),
        revisions_(cluster_, executor, fence_),
        states_(cluster_, executor, settings.size_age, logger) {
    // The fence (watches.hpp) is used until all servers are known to support progress requests.
    watches_.use_fence(true);
  }
  ~EtcdStorage() override = default;

  Task<Result<Revision>> current_revision() override;
  bool progress_is_immediate() const noexcept override { return false; }
  Task<Status> request_progress() override;
  Task<Result<RangeResult>> range(backplane::RangeRequest request) override;
  Task<Result<TxnResult>> txn(backplane::TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;
  Task<Status> compact(Revision revision) override;
  Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) override;
  Task<Status> health(std::chrono::milliseconds timeout) override;
  Task<Status> stop() override;
  std::int64_t size_bytes() const noexcept override;
  std::string_view stored_form() const noexcept override { return stored_form_; }

 private:
  Task<Result<bool>> wins_compaction(Revision revision);
  Task<Status> put_fence();

  const std::string stored_form_;
  const Keys keys_;
  const std::string root_, fence_;
  Cluster cluster_;
  Watches watches_;
  RevisionCalls revisions_;
  mutable ServerStates states_;
  std::atomic<std::int64_t> compaction_version_{0};  // the version of kCompactionKey when it was last read or written
};

// ---- revisions

Task<Result<Revision>> EtcdStorage::current_revision() { return revisions_.current(); }

Task<Status> EtcdStorage::put_fence() {
  pb::TxnRequest request;
  request.add_success()->mutable_request_put()->set_key(fence_);
  auto writing = cluster_.call<TxnCall>(std::move(request), /*reads=*/true);
  auto written = co_await std::move(writing);
  co_return written.ok() ? Status() : std::move(written.status());
}

Task<Status> EtcdStorage::request_progress() {
  if (!states_.progress_is_true()) {
    // Servers that have not responded yet may be old.  A watch that was opened with the fence keeps it until it is reopened.
    states_.look();
    auto putting = put_fence();
    Status put = co_await std::move(putting);
    co_return put;
  }
  watches_.use_fence(false);
  watches_.ask_progress();
  co_return Status();
}

std::int64_t EtcdStorage::size_bytes() const noexcept { return states_.size_bytes(); }

// ---- reads and writes

Task<Result<RangeResult>> EtcdStorage::range(backplane::RangeRequest request) {
  auto reading = cluster_.call<RangeCall>(range_message(request, keys_), /*reads=*/true);
  auto answer = co_await std::move(reading);
  if (!answer.ok()) co_return std::move(answer.status());
  RangeResult result;
  result.revision = answer->header().revision();
  result.count = answer->count();
  result.more = answer->more();
  result.items.reserve(static_cast<std::size_t>(answer->kvs_size()));
  for (auto& kv : *answer->mutable_kvs()) result.items.push_back(take(kv, keys_));
  co_return result;
}

Task<Result<TxnResult>> EtcdStorage::txn(backplane::TxnRequest request) {
  if (Status bad = check_txn(request); !bad.ok()) co_return bad;
  auto writing = cluster_.call<TxnCall>(txn_message(request, keys_), /*reads=*/false);
  auto answer = co_await std::move(writing);
  if (!answer.ok()) co_return std::move(answer.status());
  TxnResult result;
  result.committed = answer->succeeded();
  result.revision = answer->header().revision();
  if (result.committed) co_return result;
  for (auto& response : *answer->mutable_responses()) {
    for (auto& kv : *response.mutable_response_range()->mutable_kvs()) result.found.push_back(take(kv, keys_));
  }
  co_return result;
}

Result<std::unique_ptr<StorageWatch>> EtcdStorage::watch(std::string prefix, Revision after) {
  if (cluster_.stopping()) return expired("the store has stopped");
  return watches_.open(std::move(prefix), after);
}

// Tries to change kCompactionKey. Of several servers (including kube-apiservers) that are about to compact, the first one that changes the
// key compacts (true); the others (false) read the key's version, and try again at their next interval.
Task<Result<bool>> EtcdStorage::wins_compaction(Revision revision) {
  pb::TxnRequest request;
  auto& compare = *request.add_compare();
  compare.set_result(pb::Compare::EQUAL);
  compare.set_target(pb::Compare::VERSION);
  compare.set_key(std::string(kCompactionKey));
  compare.set_version(compaction_version_.load());
  auto& put = *request.add_success()->mutable_request_put();
  put.set_key(compare.key());
  put.set_value(std::to_string(revision));
  request.add_failure()->mutable_request_range()->set_key(compare.key());
  auto asking = cluster_.call<TxnCall>(std::move(request), /*reads=*/false);
  auto answer = co_await std::move(asking);
  if (!answer.ok()) co_return std::move(answer.status());
  if (answer->succeeded()) {
    ++compaction_version_;
    co_return true;
  }
  const bool answered = answer->responses_size() > 0 && answer->responses(0).response_range().kvs_size() > 0;
  compaction_version_.store(answered ? answer->responses(0).response_range().kvs(0).version() : 0);
  co_return false;
}

Task<Status> EtcdStorage::compact(Revision revision) {
  auto asking = wins_compaction(revision);
  auto wins = co_await std::move(asking);
  if (!wins.ok()) co_return std::move(wins.status());
  if (!*wins) co_return Status();
  pb::CompactionRequest request;
  request.set_revision(revision);
  auto compacting = cluster_.call<CompactCall>(std::move(request), /*reads=*/true);
  auto done = co_await std::move(compacting);
  // kExpired: another client has compacted to this or a later revision, which is a success.
  const bool fine = done.ok() || done.status().reason() == Reason::kExpired;
  co_return fine ? Status() : std::move(done.status());
}

Task<Result<LeaseId>> EtcdStorage::grant_lease(std::chrono::seconds ttl) {
  if (ttl.count() <= 0) co_return bad_request("a lease needs a time to live of at least one second");
  pb::LeaseGrantRequest request;
  request.set_ttl(ttl.count());
  auto granting = cluster_.call<LeaseCall>(std::move(request), /*reads=*/false);
  auto granted = co_await std::move(granting);
  if (!granted.ok()) co_return std::move(granted.status());
  co_return LeaseId{granted->id()};
}

// ---- the store as a whole

Task<Status> EtcdStorage::health(std::chrono::milliseconds timeout) {
  auto asking = revisions_.ask(timeout);
  auto answer = co_await std::move(asking);
  co_return answer.ok() ? Status() : std::move(answer.status());
}

Task<Status> EtcdStorage::stop() {
  // The watches are stopped first: a watch that has read ahead too far waits, and only Watches::stop() ends that wait.
  auto ending_watches = watches_.stop();
  co_await std::move(ending_watches);
  auto ending_calls = cluster_.stop();
  co_await std::move(ending_calls);
  co_return Status();
}

}  // namespace
}  // namespace etcd

Result<std::unique_ptr<StorageBackend>> open_etcd_storage(etcd::Settings settings, const StoreConnections& connections, Logger* logger) {
  auto servers = etcd::make_servers(settings, connections);
  if (!servers.ok()) return std::move(servers).status();
  return std::unique_ptr<StorageBackend>(
      std::make_unique<etcd::EtcdStorage>(std::move(settings), std::move(*servers), *connections.executor, logger));
}

}  // namespace backplane
