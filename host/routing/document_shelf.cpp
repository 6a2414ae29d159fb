#include "routing/document_shelf.hpp"

#include "backplane/core/task.hpp"

namespace backplane {

void DocumentShelf::put(const MadeDocumentRef& document) {
  Places dropped;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    const auto known = by_document_.find(document.get());
    if (known != by_document_.end()) {
      places_.splice(places_.begin(), places_, known->second);
      places_.front().read = Clock::now();
      return;
    }
    places_.push_front({document, Clock::now()});
    by_document_.emplace(document.get(), places_.begin());
    bytes_ += document->bytes.size();
    while (bytes_ > limits_.max_bytes && places_.size() > 1) take(std::prev(places_.end()), dropped);
  }
  plan_sweep();
}

void DocumentShelf::drop(const MadeDocumentRef& document) {
  Places dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto known = by_document_.find(document.get());
  if (known != by_document_.end()) take(known->second, dropped);
}

void DocumentShelf::sweep(Clock::time_point now) {
  Places dropped;
  const std::lock_guard lock(mutex_);
  while (!places_.empty() && places_.back().read + limits_.keep <= now) take(std::prev(places_.end()), dropped);
}

void DocumentShelf::take(Places::iterator place, Places& dropped) {
  by_document_.erase(place->document.get());
  bytes_ -= place->document->bytes.size();
  dropped.splice(dropped.end(), places_, place);
}

void DocumentShelf::plan_sweep() {
  Executor* executor = current_executor();
  {
    const std::lock_guard lock(mutex_);
    if (executor == nullptr || sweep_planned_ || places_.empty()) return;
    sweep_planned_ = true;
  }
  executor->after(limits_.keep, [shelf = weak_from_this()] {
    const auto self = shelf.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      self->sweep_planned_ = false;
    }
    self->sweep(Clock::now());
    self->plan_sweep();
  });
}

}  // namespace backplane
