#include "server_states.hpp"

#include <algorithm>
#include <utility>

#include "backplane/core/metrics.hpp"
#include "calls.hpp"

namespace backplane::etcd {
namespace {

void show_size(const std::string& endpoint, std::int64_t bytes) {
  static Metric& sizes =
      Metric::gauge("apiserver_storage_db_total_size_in_bytes", "Bytes that the store of a server of etcd takes.", {"endpoint"});
  sizes.set({endpoint}, static_cast<double>(bytes));
}

}  // namespace

void ServerStates::look() noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const Clock::duration between = known_ && size_age_ > kCheckInterval ? size_age_ : Clock::duration(kCheckInterval);
    if (checked_ != Clock::time_point() && now - checked_ < between) return;
    checked_ = now;
  }
  // The Turn is made here and not in the tasks, because stop() may be called before they begin.
  const auto turn = std::make_shared<Cluster::Turn>(cluster_);
  if (!turn->entered()) return;
  for (std::size_t i = 0; i < cluster_.size(); ++i) spawn_detached(executor_, ask(i, turn));
}

Task<void> ServerStates::ask(std::size_t server, [[maybe_unused]] std::shared_ptr<Cluster::Turn> turn) {
  auto asking = cluster_.ask<StatusCall>(cluster_.servers()[server], pb::StatusRequest(), kCallTimeout);
  const auto answer = co_await std::move(asking);
  if (answer.ok()) note(server, answer->version(), answer->dbsize());
}

void ServerStates::note(std::size_t server, const std::string& version, std::int64_t size) {
  if (size_age_ > std::chrono::nanoseconds::zero()) show_size(cluster_.servers()[server].shown, size);
  const std::lock_guard lock(mutex_);
  versions_[server] = version;
  const auto now = Clock::now();
  // The maximum of the responses of one round; the first response of a later round begins a new maximum.
  size_ = now - size_known_ < kCallTimeout ? std::max(size_, size) : size;
  size_known_ = now;
  check_server_versions();
}

void ServerStates::check_server_versions() {
  const auto unknown = std::find(versions_.begin(), versions_.end(), std::string());
  if (unknown != versions_.end()) return;
  const bool first = !std::exchange(known_, true);
  if (true_.load()) return;
  const auto old = std::find_if_not(versions_.begin(), versions_.end(), reports_progress_in_order);
  if (old == versions_.end()) {
    true_.store(true);
  } else if (logger_ != nullptr && first) {
    logger_->info("etcd " + *old + " answers progress requests out of order; the server writes a key instead");
  }
}

std::int64_t ServerStates::size_bytes() noexcept {
  bool old = false;
  std::int64_t size = -1;
  {
    const std::lock_guard lock(mutex_);
    old = Clock::now() - checked_ > size_age_;
    size = size_;
  }
  if (old) look();
  return size;
}

}  // namespace backplane::etcd
