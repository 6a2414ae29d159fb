#include "running_requests.hpp"

#include <algorithm>
#include <deque>

namespace backplane::flowcontrol {
namespace {

struct ThreadPlaces {
  std::mutex mutex;
  std::deque<RunningRequests::Place> places;  // a deque: entries do not move
  std::vector<RunningRequests::Place*> free;
};

struct Threads {
  std::mutex mutex;
  std::vector<std::shared_ptr<ThreadPlaces>> all;  // kept after their thread ends: a request may end on another thread than it began on
  std::vector<std::shared_ptr<ThreadPlaces>> unused;
};
Threads& threads() {
  static auto* const known = new Threads;
  return *known;
}

class OwnPlaces {
 public:
  OwnPlaces() {
    const std::lock_guard lock(threads().mutex);
    auto& [_, all, unused] = threads();
    if (unused.empty()) {
      places_ = all.emplace_back(std::make_shared<ThreadPlaces>());
      unused.reserve(all.size());  // so that the destructor allocates nothing
    } else {
      places_ = std::move(unused.back());
      unused.pop_back();
    }
  }
  ~OwnPlaces() {
    const std::lock_guard lock(threads().mutex);
    threads().unused.push_back(std::move(places_));
  }
  OwnPlaces(const OwnPlaces&) = delete;
  OwnPlaces& operator=(const OwnPlaces&) = delete;
  ThreadPlaces& places() const { return *places_; }

 private:
  std::shared_ptr<ThreadPlaces> places_;
};

ThreadPlaces& own() {
  thread_local const OwnPlaces mine;
  return mine.places();
}

}  // namespace

void RunningRequests::enter(const void* gate, const RequestContext& context, GatePass& pass, Time arrived) {
  ThreadPlaces& mine = own();
  const std::lock_guard lock(mine.mutex);
  if (mine.free.empty()) {
    Place& made = mine.places.emplace_back();
    made.free = &mine.free;
    made.mutex = &mine.mutex;
    mine.free.reserve(mine.places.size());  // so that leave() allocates nothing
    mine.free.push_back(&made);
  }
  Place& place = *mine.free.back();
  mine.free.pop_back();
  place.gate = gate;
  place.context = &context;
  place.pass = pass;
  place.arrived = arrived;
  pass.note = &place;
}

void RunningRequests::leave(GatePass& pass) noexcept {
  auto* const place = static_cast<Place*>(std::exchange(pass.note, nullptr));
  if (place == nullptr) return;
  const std::lock_guard lock(*place->mutex);
  place->gate = nullptr;
  place->context = nullptr;
  place->free->push_back(place);
}

std::size_t RunningRequests::sets() {
  const std::lock_guard lock(threads().mutex);
  return threads().all.size();
}

void RunningRequests::all(const void* gate, const std::function<void(const Place&)>& show) {
  std::vector<std::shared_ptr<ThreadPlaces>> known;
  {
    const std::lock_guard lock(threads().mutex);
    known = threads().all;
  }
  for (const auto& thread : known) {
    const std::lock_guard lock(thread->mutex);
    for (const Place& place : thread->places) {
      if (place.gate == gate) show(place);
    }
  }
}

}  // namespace backplane::flowcontrol
