// Waiters at the end of a log: lists of waiters, wake-ups in rounds, bookmarks.
#include <algorithm>

#include "watchcache/event_log.hpp"

namespace backplane {

namespace {
// If at least this number of waiters of one loop wait for one topic, they are woken in rounds.
constexpr std::size_t kMany = 32;
// The number of waiters that are resumed before other work of the loop runs. It is large because streams of one connection share the next
// write of the connection.
constexpr std::size_t kSlice = 512;
// Events are gathered for this time multiplied by the number of waiters before a round begins.
constexpr std::chrono::microseconds kPerWaiter{4};
// The next round does not begin before this multiple of the last round's duration has passed. A round mostly spends its time on writes, and
// the cost of a write hardly depends on the number of events in it.
constexpr int kPauseFactor = 4;
// The upper limit of both pauses.
constexpr std::chrono::milliseconds kLongestPause{50};
// A round begins at once if more than this part (1/kPartOfLog) of the log has not been delivered: no watcher may lag because it was not
// woken.
constexpr std::size_t kPartOfLog = 4;
}  // namespace

EventLog::Groups& EventLog::groups_of(const Waiter& waiter) { return waiter.topic ? by_topic_[waiter.topic->term] : everything_; }

EventLog::Group& EventLog::group_of(Groups& groups, Executor* executor) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& each) { return each.executor == executor; });
  if (found != groups.end()) return *found;
  Group& made = groups.emplace_back();
  made.executor = executor;
  return made;
}

EventLog::Group* EventLog::find_group(const Place& place, Executor* executor) {
  Groups* groups = &everything_;
  if (place) {
    const auto found = by_topic_.find(*place);
    if (found == by_topic_.end()) return nullptr;
    groups = &found->second;
  }
  const auto found = std::find_if(groups->begin(), groups->end(), [&](const Group& each) { return each.executor == executor; });
  return found != groups->end() ? &*found : nullptr;
}

void EventLog::forget_if_empty(const Place& place) {
  if (!place) return;
  const auto found = by_topic_.find(*place);
  if (found == by_topic_.end()) return;
  const auto idle = [](const Group& group) { return group.waiters.empty() && group.state == Group::State::kQuiet; };
  if (std::all_of(found->second.begin(), found->second.end(), idle)) by_topic_.erase(found);
}

bool EventLog::enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller) {
  waiter.cursor = cursor;
  std::lock_guard lock(mutex_);
  if (closed_ || waiter.cancelled || cursor != end_) return false;
  waiter.handle = caller;
  waiter.executor = current_executor();
  waiter.waiting = true;
  auto& list = group_of(groups_of(waiter), waiter.executor).waiters;
  waiter.at = list.size();
  list.push_back(&waiter);
  if (waiter.topic) ++topic_waiters_[static_cast<std::size_t>(waiter.topic->kind)];
  if (waiter.wants_bookmarks) list_bookmark(waiter);
  return true;
}

void EventLog::take(Group& group, Waiter& waiter, Wakes& wakes) {
  Waiters& list = group.waiters;
  list[waiter.at] = list.back();
  list[waiter.at]->at = waiter.at;
  list.pop_back();
  waiter.waiting = false;
  if (waiter.topic) --topic_waiters_[static_cast<std::size_t>(waiter.topic->kind)];
  auto wake = std::find_if(wakes.begin(), wakes.end(), [&](const Wake& each) { return each.executor == waiter.executor; });
  if (wake == wakes.end()) wake = wakes.insert(wakes.end(), Wake{waiter.executor, {}});
  wake->waiters.push_back(&waiter);
}

// Skips a waiter whose cursor is at or after the group's last record: it has read the records already.
void EventLog::take_concerned(Group& group, Wakes& wakes) {
  for (std::size_t i = group.waiters.size(); i-- > 0;) {
    Waiter& waiter = *group.waiters[i];
    if (waiter.cursor >= group.end) continue;
    if (waiter.topic) waiter.cursor = std::max(waiter.cursor, group.first);
    take(group, waiter, wakes);
  }
  group.first = kNothing;
}

void EventLog::take_all_waiters(Wakes& wakes) {
  const auto take_all = [&](Groups& groups) {
    for (Group& group : groups) {
      while (!group.waiters.empty()) take(group, *group.waiters.back(), wakes);
      group.first = kNothing;
    }
  };
  take_all(everything_);
  for (auto& [_, groups] : by_topic_) take_all(groups);
}

void EventLog::wake(Groups& groups, const Place& place, std::uint64_t from, Wakes& wakes) {
  for (Group& group : groups) {
    if (group.first == kNothing) {
      group.first = from;
      group.written = written_;
    }
    group.end = end_;
    if (group.state == Group::State::kGathering) {
      if (gathered_enough(group)) call(group, place);
    } else if (group.state == Group::State::kQuiet) {
      if (group.waiters.size() < kMany || group.executor == nullptr || weak_from_this().expired()) {
        take_concerned(group, wakes);
      } else {
        gather(group, place);
      }
    }
  }
}

void EventLog::wake_topics(const std::vector<Topic>& touched, std::uint64_t from, Wakes& wakes) {
  for (const Topic& topic : touched) {
    const auto found = by_topic_.find(topic.term);
    if (found == by_topic_.end()) continue;
    wake(found->second, topic.term, from, wakes);
    forget_if_empty(topic.term);
  }
}

void EventLog::wake_all_topics(std::uint64_t from, Wakes& wakes) {
  std::vector<Term> terms;
  for (const auto& [term, _] : by_topic_) terms.push_back(term);
  for (const Term term : terms) {
    wake(by_topic_[term], term, from, wakes);
    forget_if_empty(term);
  }
}

// Resumes the waiters on their executors. A waiter in `wakes` is not destroyed before, because its coroutine waits for this resumption.
void EventLog::resume(Wakes wakes) {
  for (auto& wake : wakes) {
    auto run = [waiters = std::move(wake.waiters)] {
      for (Waiter* waiter : waiters) waiter->handle.resume();
    };
    if (wake.executor != nullptr) {
      wake.executor->post(std::move(run));
    } else {
      run();
    }
  }
}

// ---- rounds

void EventLog::gather(Group& group, const Place& place) {
  group.state = Group::State::kGathering;
  const auto now = Clock::now();
  const auto until = std::max(now + std::min<Clock::duration>(kLongestPause, group.waiters.size() * kPerWaiter), group.next_round_at);
  group.executor->after(until - now, [weak = weak_from_this(), place, executor = group.executor, number = group.round] {
    if (auto log = weak.lock()) log->begin_round(place, executor, number);
  });
}

void EventLog::call(Group& group, const Place& place) {
  group.state = Group::State::kCalled;
  group.executor->post([weak = weak_from_this(), place, executor = group.executor, number = group.round] {
    if (auto log = weak.lock()) log->begin_round(place, executor, number);
  });
}

bool EventLog::gathered_enough(const Group& group) const {
  return end_ - group.first > limits_.max_events / kPartOfLog || written_ - group.written > limits_.min_bytes / kPartOfLog;
}

void EventLog::begin_round(const Place& place, Executor* executor, std::uint64_t number) {
  auto round = std::make_shared<Round>();
  {
    std::lock_guard lock(mutex_);
    Group* const group = find_group(place, executor);
    // The round has already run: call() posted it before this timer expired.
    if (group == nullptr || group->round != number) return;
    ++group->round;
    group->state = Group::State::kNotifying;
    Wakes wakes;
    take_concerned(*group, wakes);
    if (!wakes.empty()) round->waiters = std::move(wakes.front().waiters);
  }
  round->log = shared_from_this();
  round->place = place;
  round->executor = executor;
  round->begun = Clock::now();
  resume_waiters(std::move(round));
}

void EventLog::resume_waiters(std::shared_ptr<Round> round) {
  const std::size_t end = std::min(round->resumed + kSlice, round->waiters.size());
  while (round->resumed < end) round->waiters[round->resumed++]->handle.resume();
  // The next slice is posted, so that it runs after the writes that the resumed waiters have posted.
  Executor& executor = *round->executor;
  const bool all = end == round->waiters.size();
  executor.post([all, round = std::move(round)] {
    if (all) return round->log->end_round(*round);
    resume_waiters(round);
  });
}

void EventLog::end_round(const Round& round) {
  std::lock_guard lock(mutex_);
  Group* const group = find_group(round.place, round.executor);
  if (group == nullptr) return;
  const auto now = Clock::now();
  group->state = Group::State::kQuiet;
  group->next_round_at = now + std::min<Clock::duration>(kLongestPause, kPauseFactor * (now - round.begun));
  // A record was added meanwhile, and watchers that the round resumed before that wait for it.
  if (group->first != kNothing) gather(*group, round.place);
  forget_if_empty(round.place);
}

// ---- cancellation

void EventLog::cancel(Waiter& waiter) {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    waiter.cancelled = true;
    if (!waiter.waiting) return;
    take(group_of(groups_of(waiter), waiter.executor), waiter, wakes);
    forget_if_empty(waiter.topic ? Place(waiter.topic->term) : Place());
  }
  resume(std::move(wakes));
}

// ---- bookmarks

EventLog::Waiter::~Waiter() {
  if (log == nullptr) return;
  const std::lock_guard lock(log->mutex_);
  log->unlist_bookmark(*this);
}

void EventLog::list_bookmark(Waiter& waiter) {
  if (waiter.listed == waiter.bookmark_due) return;
  unlist_bookmark(waiter);
  if (waiter.bookmark_due == Clock::time_point::max()) return;
  const auto place = bookmarks_.emplace(waiter.bookmark_due, &waiter).first;
  waiter.log = this;
  waiter.listed = waiter.bookmark_due;
  if (place == bookmarks_.begin() && on_due_) on_due_(waiter.bookmark_due);
}

void EventLog::unlist_bookmark(Waiter& waiter) {
  if (waiter.listed) bookmarks_.erase({*waiter.listed, &waiter});
  waiter.listed.reset();
}

void EventLog::tick(Clock::time_point now) {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    while (!bookmarks_.empty() && bookmarks_.begin()->first <= now) {
      Waiter& waiter = *bookmarks_.begin()->second;
      unlist_bookmark(waiter);
      // A watcher that does not wait checks the time before it waits again.
      if (!waiter.waiting) continue;
      Group& group = group_of(groups_of(waiter), waiter.executor);
      // No record before this cursor concerns the waiter; the records of the next round begin at group.first.
      if (waiter.topic) waiter.cursor = std::max(waiter.cursor, std::min(group.first, end_));
      take(group, waiter, wakes);
      forget_if_empty(waiter.topic ? Place(waiter.topic->term) : Place());
    }
  }
  resume(std::move(wakes));
}

std::optional<EventLog::Clock::time_point> EventLog::next_due() const {
  std::lock_guard lock(mutex_);
  if (bookmarks_.empty()) return std::nullopt;
  return bookmarks_.begin()->first;
}

}  // namespace backplane
