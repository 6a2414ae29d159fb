#include "level.hpp"

#include <algorithm>
#include <limits>

#include "flow_queue.hpp"
#include "shuffle.hpp"

namespace backplane::flowcontrol {

Level::Level(std::string name, bool exempt, Time now) : name_(std::move(name)), exempt_(exempt), demand_(now), last_(now) {}
Level::~Level() = default;

// ---- one atomic word

// A request that needs more seats than the level has runs alone. `queued`: the level has queues; if it also has no seats, the request
// waits.
bool Level::fits(std::uint64_t state, std::uint32_t seats, bool queued) const noexcept {
  const int limit = limit_.load(std::memory_order_relaxed);
  const auto most = static_cast<std::uint64_t>(std::max(limit, 0));
  if (in_use(state) + seats <= most) return true;
  return seats > most && in_use(state) == 0 && (most > 0 || !queued);
}

std::uint64_t Level::add(std::uint64_t change, Time now) noexcept {
  const std::uint64_t before = state_.fetch_add(change, std::memory_order_acq_rel);
  const std::uint64_t after = before + change;
  if (demand_of(before) != demand_of(after)) demand_.changed(demand_of(before), demand_of(after), now);
  return after;
}

Level::Taken Level::try_take(std::uint32_t seats, Time now) noexcept {
  if (exempt_) {
    add(seats, now);
    return Taken::kTaken;
  }
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    if ((state & kClosed) != 0) return Taken::kClosed;
    const bool queues = queues_wanted_.load(std::memory_order_relaxed);
    if (waited_for(state) != 0) return Taken::kMayQueue;
    if (!fits(state, seats, queues)) return queues ? Taken::kMayQueue : Taken::kRefused;
    if (take_from(state, seats, now)) return Taken::kTaken;
  }
}

// `state`: the value that was checked; receives the new value if another thread has changed it meanwhile.
bool Level::take_from(std::uint64_t& state, std::uint32_t seats, Time now) noexcept {
  if (!state_.compare_exchange_weak(state, state + seats, std::memory_order_acq_rel, std::memory_order_relaxed)) return false;
  demand_.changed(demand_of(state), demand_of(state) + seats, now);
  return true;
}

// enqueue() counts a waiter in state_ before it looks for a free seat. Therefore either enqueue() reads the released seat, or this call
// reads the waiter.
void Level::release(std::uint32_t seats, Time now) noexcept {
  const std::uint64_t after = add(~std::uint64_t{seats} + 1, now);
  if (waited_for(after) == 0) return;
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    pass_time(now);
    decided = dispatch(now);
  }
  notify(decided);
}

bool Level::close() {
  const std::lock_guard lock(mutex_);
  std::uint64_t none = 0;
  return state_.compare_exchange_strong(none, kClosed, std::memory_order_acq_rel);
}

// ---- configuration

void Level::shape(QueueShape shape, Time now) {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    pass_time(now);
    while (static_cast<int>(queues_.size()) < shape.queues) queues_.push_back(std::make_unique<FlowQueue>());
    shape_ = shape;
    queues_wanted_.store(shape.queues > 0, std::memory_order_relaxed);
    decided = dispatch(now);
  }
  notify(decided);
}

void Level::limit(int seats, Time now) {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    pass_time(now);
    limit_.store(seats, std::memory_order_relaxed);
    decided = dispatch(now);
  }
  notify(decided);
}

// ---- queues

Level::Queued Level::enqueue(const std::shared_ptr<Waiter>& waiter, Time now) {
  Decided decided;
  Queued answer = Queued::kWaits;
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t state = state_.load(std::memory_order_acquire);
    if ((state & kClosed) != 0) return Queued::kClosed;
    if (shape_.queues <= 0) {
      // close() cannot run, because it locks mutex_ too. try_take() changes state_ without mutex_, therefore the loop.
      do {
        if (!fits(state, waiter->seats, false)) return Queued::kNoSeat;
      } while (!take_from(state, waiter->seats, now));
      return Queued::kRuns;
    }
    pass_time(now);
    FlowQueue& queue = choose_queue(waiter->hash);
    const bool full = static_cast<int>(in_use(state)) >= limit_.load(std::memory_order_relaxed);
    if (full && static_cast<int>(queue.waiting.size()) >= shape_.length) return Queued::kQueueFull;
    if (queue.empty()) {
      queue.next_dispatch = virtual_time_;
      ++active_queues_;
    }
    waiter->queue = &queue;
    waiter->waiting = true;
    waiter->arrival = virtual_time_;
    queue.waiting.push_back(waiter);
    queue.seats_waiting += static_cast<int>(waiter->seats);
    seats_requested_ += static_cast<int>(waiter->seats);
    ++waiting_;
    waiter->flow->waiting.fetch_add(FlowCounts::both(waiter->seats), std::memory_order_relaxed);
    waiter->flow->queue_lengths.observe(static_cast<double>(queue.waiting.size()), queue.waiting.size());
    queue.not_before_arrival();
    add(wait_for(waiter->seats), now);
    decided = dispatch(now);
    if (!waiter->waiting) answer = Queued::kRuns;
  }
  notify(decided);
  return answer;
}

// Returns the queue of the flow's hand (shuffle.hpp) in which the fewest seats wait. Each call starts at another card, so that flows with
// the same hand do not always prefer the same queue.
FlowQueue& Level::choose_queue(std::uint64_t hash) noexcept {
  const Hand hand = deal(hash, shape_.queues, shape_.hand_size);
  const auto size = static_cast<std::uint64_t>(hand.size);
  const std::uint64_t offset = enqueued_++ % size;
  FlowQueue* best = nullptr;
  for (std::uint64_t i = 0; i < size; ++i) {
    FlowQueue* queue = queues_[static_cast<std::size_t>(hand.cards[(offset + i) % size])].get();
    if (best == nullptr || queue->seats_waiting < best->seats_waiting) best = queue;
  }
  return *best;
}

bool Level::abandon(Waiter& waiter, Time now) {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    if (!waiter.waiting) return false;
    pass_time(now);
    FlowQueue& queue = *waiter.queue;
    const auto place = std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                    [&](const std::shared_ptr<Waiter>& each) { return each.get() == &waiter; });
    queue.waiting.erase(place);
    waiter.waiting = false;
    queue.seats_waiting -= static_cast<int>(waiter.seats);
    seats_requested_ -= static_cast<int>(waiter.seats);
    --waiting_;
    ++abandoned_;
    waiter.flow->waiting.fetch_sub(FlowCounts::both(waiter.seats), std::memory_order_relaxed);
    if (queue.empty()) --active_queues_;
    queue.not_before_arrival();
    add(~wait_for(waiter.seats) + 1, now);
    drop_if_surplus(&queue);
    // A request behind the removed one may need fewer seats and fit now.
    decided = dispatch(now);
  }
  notify(decided);
  waiter.decided.set(false);
  return true;
}

void Level::finish(FlowQueue* queue, std::uint32_t seats, Time begun, Time now) noexcept {
  Decided decided;
  {
    const std::lock_guard lock(mutex_);
    pass_time(now);
    const double took = std::chrono::duration<double>(now - begun).count();
    --queue->executing;
    queue->seats_in_use -= static_cast<int>(seats);
    seats_requested_ -= static_cast<int>(seats);
    // The queue was charged for the assumed duration; now the real one is known.
    queue->next_dispatch -= seats * (kEstimatedSeconds - took);
    queue->not_before_arrival();
    if (queue->empty()) --active_queues_;
    add(~std::uint64_t{seats} + 1, now);
    drop_if_surplus(queue);
    decided = dispatch(now);
  }
  notify(decided);
}

// The virtual time advances by min(requested seats, limit) / active queues per second.
void Level::pass_time(Time now) noexcept {
  const double passed = std::chrono::duration<double>(now - last_).count();
  last_ = std::max(last_, now);
  if (passed <= 0 || active_queues_ == 0) return;
  virtual_time_ += passed * std::min(seats_requested_, std::max(limit_.load(std::memory_order_relaxed), 0)) / active_queues_;
}

// The queue whose first request would end first; among equals, the next one after the queue that was served last.
FlowQueue* Level::next_queue() noexcept {
  FlowQueue* best = nullptr;
  std::size_t best_at = robin_;
  double earliest = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i <= queues_.size(); ++i) {
    const std::size_t at = (robin_ + i) % queues_.size();
    FlowQueue& queue = *queues_[at];
    if (queue.waiting.empty() || queue.finish_of_first() >= earliest) continue;
    best = &queue;
    best_at = at;
    earliest = queue.finish_of_first();
  }
  if (best == nullptr) return nullptr;
  const std::shared_ptr<Waiter>& first = best->waiting.front();
  if (!fits(state_.load(std::memory_order_acquire), first->seats, true)) {
    first->flow->not_accommodated.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  robin_ = best_at;
  return best;
}

// While requests wait, only this function takes seats, so a request that fits now still fits when its seats are taken.
Level::Decided Level::dispatch(Time now) {
  Decided decided;
  while (waiting_ > 0) {
    if (static_cast<int>(in_use(state_.load(std::memory_order_acquire))) >= limit_.load(std::memory_order_relaxed)) break;
    FlowQueue* queue = next_queue();
    if (queue == nullptr) break;
    std::shared_ptr<Waiter> waiter = std::move(queue->waiting.front());
    queue->waiting.pop_front();
    const auto seats = static_cast<int>(waiter->seats);
    waiter->waiting = false;
    --waiting_;
    queue->seats_waiting -= seats;
    queue->seats_in_use += seats;
    ++queue->executing;
    queue->next_dispatch += seats * kEstimatedSeconds;
    queue->not_before_arrival();
    waiter->flow->waiting.fetch_sub(FlowCounts::both(waiter->seats), std::memory_order_relaxed);
    add(waiter->seats - wait_for(waiter->seats), now);
    decided.push_back(std::move(waiter));
  }
  return decided;
}

// There may be more queues than configured until the surplus ones are empty.
void Level::drop_if_surplus(FlowQueue* queue) {
  if (!queue->empty() || static_cast<int>(queues_.size()) <= shape_.queues) return;
  const auto place = std::find_if(queues_.begin(), queues_.end(), [&](const auto& each) { return each.get() == queue; });
  const auto at = static_cast<std::size_t>(place - queues_.begin());
  queues_.erase(place);
  if (robin_ >= at && robin_ > 0) --robin_;
}

void Level::notify(const Decided& decided) {
  for (const auto& waiter : decided) waiter->decided.set(true);
}

// ---- statistics

Demand::Period Level::take_demand(Time now) noexcept { return demand_.take(demand_of(state_.load(std::memory_order_acquire)), now); }

FlowCounts& Level::counts_of(const std::string& schema) {
  const std::lock_guard lock(mutex_);
  auto& counts = counts_[schema];
  if (!counts) counts = std::make_unique<FlowCounts>(schema);
  return *counts;
}

std::vector<std::pair<std::string, const FlowCounts*>> Level::all_counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, const FlowCounts*>> out;
  for (const auto& [schema, counts] : counts_) out.emplace_back(schema, counts.get());
  return out;
}

std::vector<Level::QueueDump> Level::dump() const {
  const std::lock_guard lock(mutex_);
  std::vector<QueueDump> out;
  for (const auto& queue : queues_) {
    QueueDump& dump = out.emplace_back();
    for (const auto& waiter : queue->waiting)
      dump.waiting.push_back({waiter->schema, waiter->flow_name, waiter->arrived, waiter->seats, waiter->details});
    dump.executing = queue->executing;
    dump.seats_in_use = queue->seats_in_use;
    dump.seats_waiting = queue->seats_waiting;
    dump.next_dispatch = queue->next_dispatch;
    dump.work_waiting = queue->work_waiting();
  }
  return out;
}

int Level::index_of(const FlowQueue* queue) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(queues_.begin(), queues_.end(), [queue](const auto& each) { return each.get() == queue; });
  return found == queues_.end() ? -1 : static_cast<int>(found - queues_.begin());
}

int Level::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

std::uint64_t Level::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

double Level::virtual_time() const {
  const std::lock_guard lock(mutex_);
  return virtual_time_;
}

}  // namespace backplane::flowcontrol
