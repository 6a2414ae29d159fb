// Computes the seats of each level from the configured levels.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gate.hpp"
#include "kinds.hpp"

namespace backplane::flowcontrol {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kExempt = "exempt", kCatchAll = "catch-all";
// The maximum share of a level's seats for one request.
constexpr double kMostPart = 0.15;

Object bootstrap_object(std::string_view resource, std::string_view name) {
  const Bootstrap* bootstrap = find_bootstrap(resource, name);
  if (bootstrap == nullptr) throw std::logic_error("a mandatory object of flowcontrol has no built-in definition");
  Object object;
  object["metadata"] = Object{{"name", std::string(name)}};
  object["spec"] = bootstrap->spec;
  return object;
}

int part_of(int seats, int percent) { return static_cast<int>(std::lround(seats * percent / 100.0)); }

bool has_name(const std::vector<FlowSchema>& schemas, std::string_view name) {
  return std::any_of(schemas.begin(), schemas.end(), [&](const FlowSchema& schema) { return schema.name == name; });
}

}  // namespace

PriorityLevel bootstrap_level(std::string_view name) {
  auto level = read_priority_level(bootstrap_object(kPriorityLevels, name));
  if (!level) throw std::logic_error("a mandatory priority level cannot be read");
  return *level;
}
FlowSchema bootstrap_schema(std::string_view name) { return read_flow_schema(bootstrap_object(kFlowSchemas, name)); }

void Gate::configure(std::vector<PriorityLevel> levels, std::vector<FlowSchema> schemas) {
  const std::lock_guard lock(mutex_);
  take_levels(std::move(levels));
  std::erase_if(schemas, [&](const FlowSchema& schema) {
    const auto level = levels_.find(schema.level);
    return level == levels_.end() || level->second.leaving;
  });
  sort_for_matching(schemas);
  if (!has_name(schemas, kExempt)) schemas.insert(schemas.begin(), bootstrap_schema(kExempt));
  if (!has_name(schemas, kCatchAll)) schemas.push_back(bootstrap_schema(kCatchAll));
  schemas_ = std::move(schemas);
  divide();
  share(Clock::now());
  publish();
  forget_empty();
}

// A level that is not in `levels` any more remains until it is empty. The mandatory levels always remain.
void Gate::take_levels(std::vector<PriorityLevel> levels) {
  for (const std::string_view name : {kExempt, kCatchAll}) {
    const auto found = std::find_if(levels.begin(), levels.end(), [&](const PriorityLevel& level) { return level.name == name; });
    if (found == levels.end()) levels.push_back(bootstrap_level(name));
  }
  for (auto& [name, state] : levels_) state.leaving = true;
  for (PriorityLevel& level : levels) {
    LevelState& state = levels_[level.name];
    state.leaving = false;
    state.configured = std::move(level);
  }
}

// The nominal seats are rounded up, so their sum may be slightly larger than the number of seats.
void Gate::divide() {
  double shares = 0;
  for (const auto& [_, state] : levels_) shares += state.configured.shares;
  for (auto& [name, state] : levels_) {
    const PriorityLevel& level = state.configured;
    state.nominal = shares > 0 ? static_cast<int>(std::ceil(seats_ * static_cast<double>(level.shares) / shares)) : 0;
    const int lendable = part_of(state.nominal, level.lendable_percent);
    state.lower = state.nominal - lendable;
    state.upper = state.nominal + (level.borrowing_percent ? part_of(state.nominal, *level.borrowing_percent) : seats_);
    if (level.queues > 0) {
      const double most = std::min(std::ceil(state.nominal * kMostPart), static_cast<double>(state.nominal / level.hand_size));
      state.most_seats = static_cast<std::uint32_t>(std::max(1.0, most));
    }
    const Time now = Clock::now();
    if (!state.level) {
      state.level = std::make_shared<Level>(name, level.exempt, now);
      state.level->limit(state.nominal - lendable / 2, now);
    }
    state.level->shape({level.queues, level.hand_size, level.queue_length}, now);
  }
}

void Gate::share(Time now) {
  std::vector<LevelDemand> wanted;
  for (auto& [_, state] : levels_) {
    const Demand::Period period = state.level->take_demand(now);
    state.demand.next_period(period.passed, period.average, period.deviation, period.most);
    wanted.push_back({state.configured.exempt, state.nominal, state.lower, state.upper, state.level->limit(), state.demand});
  }
  const LevelLimits limits = share_seats(wanted);
  fair_part_ = limits.fair_part;
  std::size_t i = 0;
  for (auto& [_, state] : levels_) {
    state.target = limits.targets[i];
    if (state.level->limit() != limits.current[i]) state.level->limit(limits.current[i], now);
    ++i;
  }
}

void Gate::publish() {
  auto made = std::make_shared<Snapshot>();
  static std::atomic<std::uint64_t> last{0};
  made->number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  made->stored = stored_;
  made->classifier = Classifier(schemas_);
  for (const FlowSchema& schema : schemas_) {
    const LevelState& state = levels_.at(schema.level);
    made->entries.push_back({schema.uid, state.configured.uid, state.level, &state.level->counts_of(schema.name), state.most_seats});
  }
  const std::uint64_t number = made->number;
  snapshot_ = std::move(made);
  number_.store(number, std::memory_order_release);
}

// Called after publish(). A request with an older snapshot gets kClosed from the removed level and reads the newest snapshot.
void Gate::forget_empty() {
  const std::size_t before = levels_.size();
  std::erase_if(levels_, [](const auto& each) { return each.second.leaving && each.second.level->close(); });
  if (levels_.size() == before) return;
  divide();
  share(Clock::now());
  publish();
}

void Gate::adjust() {
  const std::lock_guard lock(mutex_);
  share(Clock::now());
}

void Gate::set_stored_counts(StoredCounts stored) {
  auto shared = std::make_shared<const StoredCounts>(std::move(stored));
  const std::lock_guard lock(mutex_);
  if (*shared == *stored_) return;
  stored_ = std::move(shared);
  publish();
}

void Gate::sweep() {
  for (Waiting& waiting : waiting_) {
    const int now = waiting.now.load(std::memory_order_relaxed);
    waiting.shown.store(waiting.highest.exchange(now, std::memory_order_relaxed), std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  forget_empty();
}

std::vector<LevelState> Gate::levels() const {
  const std::lock_guard lock(mutex_);
  std::vector<LevelState> out;
  for (const auto& [_, state] : levels_) out.push_back(state);
  return out;
}

double Gate::fair_part() const {
  const std::lock_guard lock(mutex_);
  return fair_part_;
}

}  // namespace backplane::flowcontrol
