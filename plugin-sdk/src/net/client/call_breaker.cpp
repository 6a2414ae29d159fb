#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {

void CallBreaker::break_off(Status why) {
  std::function<void(Status)> ends;
  std::shared_ptr<BreakableCall> call;
  {
    const std::lock_guard lock(mutex_);
    if (why_) return;
    why_ = why;
    ends = std::exchange(ends_, nullptr);
    call = call_.lock();
  }
  if (call) call->break_off(why);
  if (ends) ends(std::move(why));
}

bool CallBreaker::broken() const {
  const std::lock_guard lock(mutex_);
  return why_.has_value();
}

void CallBreaker::attach(std::function<void(Status why)> ends) {
  std::optional<Status> why;
  {
    const std::lock_guard lock(mutex_);
    if (!why_) {
      ends_ = std::move(ends);
      return;
    }
    why = why_;
  }
  if (ends) ends(std::move(*why));
}

void CallBreaker::attach(std::weak_ptr<BreakableCall> call) {
  std::optional<Status> why;
  {
    const std::lock_guard lock(mutex_);
    if (!why_) {
      call_ = std::move(call);
      return;
    }
    why = why_;
  }
  if (const auto found = call.lock()) found->break_off(std::move(*why));
}

}  // namespace BACKPLANE_API
