#include "quota/quota_reader.hpp"

#include <algorithm>

#include "backplane/core/request.hpp"
#include "backplane/core/task_set.hpp"
#include "quota/stored_list.hpp"

namespace backplane::admission::quota {
namespace {

const GroupVersionResource& quotas_resource() {
  static const GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
  return kQuotas;
}

// The maximum number of records of stale entries. A dropped record costs only a conflict.
constexpr std::size_t kMostOutdated = 1024;

void sort_by_name(std::vector<ObjectRef>& quotas) {
  std::sort(quotas.begin(), quotas.end(), [](const ObjectRef& a, const ObjectRef& b) { return a->name() < b->name(); });
}

// Shares ownership of the turns while it waits, because the caller may have given up.
Task<QuotaReader::Held> wait_for_turn(std::shared_ptr<Turns> turns) {
  QuotaReader::Held out;
  auto taking = turns->take();
  out.turn = co_await std::move(taking);
  out.turns = std::move(turns);
  co_return out;
}

}  // namespace

QuotaReader::QuotaReader(Services& services) : host_(services.host()), informer_(services.lister(quotas_resource())) {}

bool QuotaReader::any() const { return !has_synced() || informer_.informer()->indexer().size() > 0; }

std::vector<ObjectRef> QuotaReader::cached(const std::string& ns) const {
  auto out = informer_.in_namespace(ns);
  sort_by_name(out);
  return out;
}

bool QuotaReader::is_outdated(const ObjectEntry& quota) const {
  const std::lock_guard lock(mutex_);
  const auto found = outdated_.find(std::string(quota.key()));
  return found != outdated_.end() && quota.revision <= found->second;
}

void QuotaReader::outdated_to(const ObjectEntry& quota, Revision revision) {
  const std::lock_guard lock(mutex_);
  if (outdated_.size() >= kMostOutdated) outdated_.clear();
  Revision& last = outdated_[std::string(quota.key())];
  last = std::max(last, revision);
}

void QuotaReader::replaced(const ObjectEntry& quota) { outdated_to(quota, quota.revision); }

Task<Result<std::vector<ObjectRef>>> QuotaReader::known(std::string ns) const {
  auto out = cached(ns);
  const bool usable = has_synced() && std::none_of(out.begin(), out.end(), [this](const auto& quota) { return is_outdated(*quota); });
  if (usable) co_return out;
  auto reading = newest(std::move(ns));
  co_return co_await std::move(reading);
}

Task<Result<std::vector<ObjectRef>>> QuotaReader::newest(std::string ns) const {
  auto listing = stored_list(host_, quotas_resource(), std::move(ns), {});
  auto out = co_await std::move(listing);
  if (out.ok()) sort_by_name(*out);
  co_return out;
}

Task<Result<ObjectRef>> QuotaReader::newest_of(ObjectRef quota) {
  const auto quotas = storage();
  if (quotas == nullptr) co_return ObjectRef();
  RequestContext own;
  own.info.ns = quota->ns();
  auto reading = quotas->get(own, std::string(quota->name()), GetOptions());
  auto found = co_await std::move(reading);
  if (found.ok()) {
    outdated_to(*quota, (*found)->revision - 1);
    co_return found;
  }
  if (found.status().reason() != Reason::kNotFound) co_return found;
  replaced(*quota);
  co_return ObjectRef();
}

std::shared_ptr<StandardStorage> QuotaReader::storage() const {
  return shared_role_of<StandardStorage>(host_.find_storage(quotas_resource()));
}

std::shared_ptr<Turns> QuotaReader::turns_of(const std::string& ns) {
  const std::lock_guard lock(mutex_);
  if (turns_.size() > most_turns_) {
    std::erase_if(turns_, [](const auto& each) { return each.second.expired(); });
    most_turns_ = std::max(most_turns_, 2 * turns_.size());
  }
  std::weak_ptr<Turns>& place = turns_[ns];
  auto out = place.lock();
  if (out == nullptr) place = out = std::make_shared<Turns>(1);
  return out;
}

Task<std::optional<QuotaReader::Held>> QuotaReader::take_turn(std::string ns, std::chrono::nanoseconds timeout) {
  auto waiting = wait_for_turn(turns_of(ns));
  auto limited = within(timeout, std::move(waiting));
  co_return co_await std::move(limited);
}

}  // namespace backplane::admission::quota
