#include "client/remote_call.hpp"

#include <algorithm>

namespace backplane {
namespace {

// Limit of the room that is reserved for a body whose length the server has announced.
constexpr std::size_t kMaxReserved = std::size_t{8} << 20;

}  // namespace

bool RemoteCall::sleep(std::coroutine_handle<> frame, bool (RemoteCall::*ready)() const noexcept) {
  const std::lock_guard lock(mutex_);
  if ((this->*ready)()) return false;
  waiting_ = frame;
  waiting_on_ = current_executor();
  return true;
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

Status RemoteCall::HeadWait::await_resume() const {
  const std::lock_guard lock(call_.mutex_);
  if (call_.code_ != 0) return {};
  return call_.error_ ? *call_.error_ : service_unavailable("EOF");
}

Result<std::string> RemoteCall::take_piece() {
  const std::lock_guard lock(mutex_);
  if (!body_.empty()) return std::exchange(body_, std::string());
  if (error_) return *error_;
  return std::string();
}

Result<WholeAnswer> RemoteCall::take_whole() {
  const std::lock_guard lock(mutex_);
  if (error_ && !past_limit_) return *error_;
  return WholeAnswer{code_, std::move(headers_), std::move(body_), std::move(trailers_), !past_limit_};
}

Task<Result<std::string>> RemoteCall::read() {
  const auto self = shared_from_this();
  PieceWait waiting{*this};
  co_await waiting;
  Result<std::string> piece = take_piece();
  if (piece.ok() && !piece->empty()) notify_read(piece->size());
  co_return piece;
}

void RemoteCall::notify_read(std::size_t count) {
  if (current_executor() == &loop_) {
    if (carrier_ != nullptr) carrier_->call_read(*this, count);
    return;
  }
  loop_.post([self = shared_from_this(), count] {
    if (self->carrier_ != nullptr) self->carrier_->call_read(*self, count);
  });
}

void RemoteCall::leave_carrier() {
  if (CallCarrier* const carrier = std::exchange(carrier_, nullptr)) carrier->call_cancelled(*this);
}

void RemoteCall::use_deadline(std::shared_ptr<Deadlines> all, Deadlines::iterator place) noexcept {
  deadlines_ = std::move(all);
  deadline_ = place;
}

void RemoteCall::forget_deadline() {
  if (const auto all = std::exchange(deadlines_, nullptr)) all->erase(deadline_);
}

void RemoteCall::cancel() {
  if (!over()) break_off(service_unavailable("the call was cancelled"));
}

void RemoteCall::break_off(Status why) {
  loop_.post([self = shared_from_this(), why = std::move(why)] {
    if (self->over()) return;
    self->leave_carrier();
    self->fail(why);
  });
}

// ---- a streamed request body

Task<bool> RemoteCall::send(std::string piece) {
  const auto self = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (ended_ || error_) co_return false;
    upload_ += piece;
  }
  notify_body();
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
  notify_body();
}

void RemoteCall::notify_body() {
  if (current_executor() == &loop_) {
    if (carrier_ != nullptr) carrier_->call_has_body(*this);
    return;
  }
  loop_.post([self = shared_from_this()] {
    if (self->carrier_ != nullptr) self->carrier_->call_has_body(*self);
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

// ---- the response

// The reader of a whole response reads these members after the end, so the lock in end() or fail() is sufficient.

void RemoteCall::head(int code, Headers headers) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!whole_) lock.lock();
  code_ = code;
  headers_ = std::move(headers);
  if (!whole_) wake(lock);
}

void RemoteCall::trailers(Headers trailers) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!whole_) lock.lock();
  trailers_ = std::move(trailers);
}

void RemoteCall::body(std::string_view bytes) {
  if (whole_) return append_whole(bytes);
  std::unique_lock lock(mutex_);
  body_.append(bytes);
  wake(lock);
}

void RemoteCall::append_whole(std::string_view bytes) {
  if (past_limit_ || over()) return;
  if (body_.empty() && whole_->length_of != nullptr) {
    const std::size_t length = whole_->length_of(bytes);
    if (length <= whole_->body_bytes) body_.reserve(std::min(length, kMaxReserved));
  }
  body_.append(bytes);
  past_limit_ = whole_->passed_by(body_);
  if (!past_limit_) return;
  break_off(request_entity_too_large("the response is larger than the reader's limit"));
}

void RemoteCall::end() {
  std::unique_lock lock(mutex_);
  ended_ = true;
  over(lock);
}

void RemoteCall::over(std::unique_lock<std::mutex>& lock) {
  over_.store(true, std::memory_order_release);
  carrier_ = nullptr;
  forget_deadline();
  auto room = std::exchange(room_, std::nullopt);
  wake(lock);
  if (room) room->set(false);
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
std::size_t RemoteCall::unread() const {
  if (whole_) return 0;
  std::lock_guard lock(mutex_);
  return body_.size();
}

}  // namespace backplane
