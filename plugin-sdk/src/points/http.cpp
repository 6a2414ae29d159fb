// The virtual destructors of the HTTP interfaces, and default implementations of Exchange.
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"

#include <algorithm>

#include "backplane/points/close_callbacks.hpp"

namespace backplane BACKPLANE_API {

Exchange::~Exchange() = default;
HttpHandler::~HttpHandler() = default;

Task<Status> Exchange::switch_protocols(std::string_view) { co_return bad_request("this connection cannot leave HTTP"); }
Task<std::string> Exchange::read_some() { co_return std::string(); }
Task<Result<std::string>> Exchange::read_body_some() { co_return internal_error("the body of this request is not streamed"); }

std::uint64_t CloseCallbacks::add(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  callbacks_.emplace_back(++last_, std::move(callback));
  return last_;
}

void CloseCallbacks::remove(std::uint64_t id) noexcept {
  std::function<void()> removed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(callbacks_.begin(), callbacks_.end(), [&](const auto& each) { return each.first == id; });
  if (found == callbacks_.end()) return;
  removed = std::move(found->second);
  callbacks_.erase(found);
}

void CloseCallbacks::run() {
  for (;;) {
    std::function<void()> next;
    {
      const std::lock_guard lock(mutex_);
      if (callbacks_.empty()) return;
      next = std::move(callbacks_.front().second);
      callbacks_.erase(callbacks_.begin());
    }
    if (next) next();
  }
}

void CloseCallbacks::clear() noexcept {
  std::vector<std::pair<std::uint64_t, std::function<void()>>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(callbacks_);
}

bool CloseCallbacks::empty() const noexcept {
  const std::lock_guard lock(mutex_);
  return callbacks_.empty();
}

DynamicPaths::~DynamicPaths() = default;

}  // namespace BACKPLANE_API
