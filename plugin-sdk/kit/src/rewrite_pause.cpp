#include "backplane/kit/rewrite_pause.hpp"

#include <algorithm>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

// Returns the pause that must precede the next write after `writes` writes of the same value.
std::chrono::nanoseconds pause_after(int writes) {
  if (writes < RewritePause::kAtOnce) return {};
  constexpr int kDoublings = 10;  // enough to exceed kLongest
  const std::chrono::nanoseconds wanted = RewritePause::kFirst * (1LL << std::min(writes - RewritePause::kAtOnce, kDoublings));
  return std::min<std::chrono::nanoseconds>(wanted, RewritePause::kLongest);
}

// Returns the time without writes after which the pauses are reset. It is longer than the pause, because a server whose value was
// overwritten writes again directly after its pause.
std::chrono::nanoseconds quiet_after(int writes) { return 2 * pause_after(writes) + RewritePause::kQuiet; }

}  // namespace

std::chrono::nanoseconds RewritePause::claim(const std::string& key, std::string_view value) {
  const Clock::time_point now = now_();
  const std::size_t hash = std::hash<std::string_view>()(value);
  // drop_old() visits all keys, so it runs only once for every kMostKeys new keys: thousands of keys may be written at the same time, when
  // none of them is old.
  const bool full = !entries_.empty() && entries_.size() % kMostKeys == 0;
  if (full && !entries_.contains(key)) drop_old(now);
  Entry& entry = entries_[key];
  if (entry.value != hash || now - entry.last >= quiet_after(entry.writes)) entry = {hash, 0, {}};
  const std::chrono::nanoseconds pause = entry.writes == 0 ? std::chrono::nanoseconds(0) : pause_after(entry.writes) - (now - entry.last);
  if (pause.count() > 0) return pause;
  ++entry.writes;
  entry.last = now;
  return {};
}

void RewritePause::drop_old(Clock::time_point now) {
  std::erase_if(entries_, [now](const auto& row) { return now - row.second.last >= quiet_after(row.second.writes); });
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
