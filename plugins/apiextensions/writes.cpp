#include "writes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace backplane::apiextensions {

Writes::Age Writes::renew(Revision older_until) {
  const std::lock_guard lock(mutex_);
  // The revision of the definition is not sufficient, because writes by the old schema continued until now.
  older_until_ = std::max({older_until_, older_until, newest_});
  std::erase_if(running_, [](const auto& each) { return each.second == 0; });
  ++youngest_;
  update_refresh_revision();
  return youngest_;
}

std::optional<Writes::Pass> Writes::create(Age age) {
  const std::lock_guard lock(mutex_);
  if (terminating_) return std::nullopt;
  ++creates_;
  ++running_[age];
  update_refresh_revision();
  return Pass(shared_from_this(), age, true);
}

Writes::Pass Writes::update(Age age) {
  const std::lock_guard lock(mutex_);
  ++running_[age];
  update_refresh_revision();
  return {shared_from_this(), age, false};
}

void Writes::stored(Age age, Revision revision) {
  const std::lock_guard lock(mutex_);
  newest_ = std::max(newest_, revision);
  if (age != youngest_) older_until_ = std::max(older_until_, revision);
}

void Writes::end(Age age, bool creates) {
  std::vector<std::function<void()>> continuations;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = running_.find(age); --found->second == 0 && age != youngest_) running_.erase(found);
    if (creates && --creates_ == 0) continuations.swap(waiting_);
    update_refresh_revision();
  }
  for (const auto& then : continuations) then();
}

void Writes::update_refresh_revision() {
  // While a write by an older schema is in progress, its revision is unknown.
  const bool older = !running_.empty() && running_.begin()->first != youngest_;
  refresh_until_.store(older ? std::numeric_limits<Revision>::max() : older_until_, std::memory_order_relaxed);
}

void Writes::set_terminating(bool terminating) {
  const std::lock_guard lock(mutex_);
  terminating_ = terminating;
}

bool Writes::no_creates(std::function<void()> later) {
  const std::lock_guard lock(mutex_);
  if (creates_ == 0) return true;
  waiting_.push_back(std::move(later));
  return false;
}

}  // namespace backplane::apiextensions
