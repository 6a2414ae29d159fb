#include "client/remote_call.hpp"

namespace backplane {

void RemoteCall::Sleep::await_suspend(std::coroutine_handle<> frame) {
  call.waiting_ = frame;
  call.waiting_on_ = current_executor();
  // Once the lock is released, the frame may resume on another thread and destroy `lock`; it is therefore moved out of the frame first.
  const std::unique_lock<std::mutex> held = std::move(lock);
}

thread_local RemoteCall::Turn* RemoteCall::Turn::current_ = nullptr;

RemoteCall::Turn::Turn(Executor& loop) noexcept : loop_(loop) { current_ = this; }

RemoteCall::Turn::~Turn() {
  current_ = nullptr;
  for (const std::coroutine_handle<> reader : readers_) reader.resume();
}

void RemoteCall::wake(std::unique_lock<std::mutex>& lock) {
  const std::coroutine_handle<> waiting = std::exchange(waiting_, nullptr);
  Executor* const where = waiting_on_;
  lock.unlock();
  if (!waiting) return;
  if (Turn* const turn = Turn::current_; turn != nullptr && &turn->loop_ == where) {
    turn->readers_.push_back(waiting);
  } else if (where != nullptr) {
    where->post(waiting);
  } else {
    waiting.resume();
  }
}

Task<Status> RemoteCall::wait_head() {
  const auto self = shared_from_this();
  while (true) {
    std::unique_lock lock(mutex_);
    if (code_ != 0) co_return Status();
    if (error_) co_return *error_;
    Sleep sleep{*this, std::move(lock)};
    co_await sleep;
  }
}

RemoteCall::Found RemoteCall::look() {
  Found out{std::string(), std::unique_lock(mutex_)};
  if (!body_.empty()) {
    out.piece = std::exchange(body_, std::string());
  } else if (error_) {
    out.piece = *error_;
  } else if (!ended_) {
    return out;
  }
  out.lock.unlock();
  return out;
}

Task<Result<std::string>> RemoteCall::read() {
  const auto self = shared_from_this();
  while (true) {
    Found found = look();
    if (!found.lock.owns_lock()) {
      if (found.piece.ok() && !found.piece->empty()) tell_read(found.piece->size());
      co_return std::move(found.piece);
    }
    Sleep sleep{*this, std::move(found.lock)};
    co_await sleep;
  }
}

void RemoteCall::tell_read(std::size_t count) {
  if (current_executor() == &loop_) {
    if (on_read) on_read(count);
    return;
  }
  loop_.post([self = shared_from_this(), count] {
    if (self->on_read) self->on_read(count);
  });
}

void RemoteCall::cancel() {
  if (!over()) break_off(service_unavailable("the call was given up"));
}

void RemoteCall::break_off(Status why) {
  loop_.post([self = shared_from_this(), why = std::move(why)] {
    if (self->over()) return;
    if (self->on_cancel) self->on_cancel();
    self->fail(why);
  });
}

// ---- a body that is made while it is sent

Task<bool> RemoteCall::send(std::string piece) {
  const auto self = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (ended_ || error_) co_return false;
    upload_ += piece;
  }
  tell_body();
  while (true) {
    std::optional<Promise<bool>> room;
    {
      std::lock_guard lock(mutex_);
      if (ended_ || error_) co_return false;
      if (upload_.size() < kWindow) co_return true;
      room_ = Promise<bool>();
      room = room_;
    }
    co_await room->future();
  }
}

void RemoteCall::end_body() {
  {
    std::lock_guard lock(mutex_);
    upload_ended_ = true;
  }
  tell_body();
}

void RemoteCall::tell_body() {
  if (current_executor() == &loop_) {
    if (on_body) on_body();
    return;
  }
  loop_.post([self = shared_from_this()] {
    if (self->on_body) self->on_body();
  });
}

std::string RemoteCall::take_body(std::size_t size) {
  std::optional<Promise<bool>> room;
  std::string taken;
  {
    std::lock_guard lock(mutex_);
    taken = upload_.substr(0, size);
    upload_.erase(0, taken.size());
    if (upload_.size() < kWindow) room = std::exchange(room_, std::nullopt);
  }
  if (room) room->set(true);
  return taken;
}

bool RemoteCall::body_taken() const {
  std::lock_guard lock(mutex_);
  return upload_ended_ && upload_.empty();
}

// ---- the answer

void RemoteCall::head(int code, Headers headers) {
  std::unique_lock lock(mutex_);
  code_ = code;
  headers_ = std::move(headers);
  wake(lock);
}

void RemoteCall::trailers(Headers trailers) {
  const std::lock_guard lock(mutex_);
  trailers_ = std::move(trailers);
}

void RemoteCall::body(std::string_view bytes) {
  std::unique_lock lock(mutex_);
  body_.append(bytes);
  wake(lock);
}

void RemoteCall::end() {
  std::unique_lock lock(mutex_);
  ended_ = true;
  over(lock);
}

void RemoteCall::over(std::unique_lock<std::mutex>& lock) {
  on_read = nullptr;
  on_cancel = nullptr;
  on_body = nullptr;
  const auto told = std::exchange(on_over, nullptr);
  auto room = std::exchange(room_, std::nullopt);
  wake(lock);
  if (room) room->set(false);
  if (told) told();
}

void RemoteCall::fail(Status status) {
  std::unique_lock lock(mutex_);
  if (ended_ || error_) return;
  error_ = sent_ ? std::move(status) : as_never_sent(std::move(status));
  over(lock);
}

bool RemoteCall::has_head() const {
  std::lock_guard lock(mutex_);
  return code_ != 0;
}
bool RemoteCall::over() const {
  std::lock_guard lock(mutex_);
  return ended_ || error_.has_value();
}
std::size_t RemoteCall::unread() const {
  std::lock_guard lock(mutex_);
  return body_.size();
}

}  // namespace backplane
