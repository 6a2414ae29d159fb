#include "endpoints/open_watches.hpp"

namespace backplane {

void OpenWatches::end_all_on(NamedSignal& signal) {
  signal.on_fire_while(weak_from_this(), [this] { end_all(); });
}

bool OpenWatches::add(const std::shared_ptr<WatchStream>& stream) {
  {
    std::lock_guard lock(mutex_);
    if (!ended_) {
      streams_.insert(stream);
      return true;
    }
  }
  stream->cancel();
  return false;
}

void OpenWatches::remove(const std::shared_ptr<WatchStream>& stream) {
  std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

void OpenWatches::end_all() {
  std::unordered_set<std::shared_ptr<WatchStream>> streams;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    streams.swap(streams_);
  }
  for (const auto& stream : streams) stream->cancel();
}

std::size_t OpenWatches::size() const {
  std::lock_guard lock(mutex_);
  return streams_.size();
}

}  // namespace backplane
