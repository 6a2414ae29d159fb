#include "runner/channel.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "backplane/core/server_slot.hpp"

namespace backplane::runner {
namespace {

constexpr int kDeepest = 16;               // calls for calls for calls
constexpr std::size_t kMostQueued = 4096;  // calls that no thread has taken yet
constexpr std::chrono::seconds kAnswerPatience{30};

Status closed_status() { return service_unavailable("the channel to the process is closed"); }

std::string refusal_of(const Status& status) {
  Writer writer;
  writer.number(static_cast<std::uint64_t>(status.code()), 4);
  writer.number(static_cast<std::uint64_t>(status.reason()), 1);
  writer.text(status.message());
  return writer.take();
}

Status status_of_refusal(std::string_view payload) {
  Reader reader(payload);
  const auto code = static_cast<int>(reader.number(4));
  const std::uint64_t reason = reader.number(1);
  const std::string message(reader.text());
  constexpr int kLeast = 400, kMost = 599;
  if (!reader.complete() || code < kLeast || code > kMost || reason > static_cast<std::uint64_t>(Reason::kServiceUnavailable)) {
    return internal_error("the other process has sent a refusal that cannot be read");
  }
  return Status(code, static_cast<Reason>(reason), message);
}

}  // namespace

// The call of the other side that runs on this thread.
struct Channel::Serving {
  Serving(const Channel& served, std::uint64_t call) : channel(served), id(call), outer(innermost), depth(outer ? outer->depth + 1 : 1) {
    innermost = this;
  }
  ~Serving() { innermost = outer; }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  static std::uint64_t on(const Channel& channel) {
    for (const Serving* each = innermost; each != nullptr; each = each->outer) {
      if (&each->channel == &channel) return each->id;
    }
    return 0;
  }

  static inline thread_local Serving* innermost = nullptr;
  const Channel& channel;
  const std::uint64_t id;
  Serving* const outer;
  const int depth;
};

Channel::Channel(int socket, Handler handler, std::size_t threads, const char* name)
    : socket_(socket), handler_(std::move(handler)), most_threads_(threads), name_(name) {}

Channel::~Channel() {
  close();
  join();
  ::close(socket_);
}

void Channel::start() {
  reader_ = std::thread([this, slot = current_server_slot()] {
    const ServerScope server(slot);
    ::pthread_setname_np(::pthread_self(), name_);
    read_frames();
  });
}

void Channel::join() {
  if (reader_.joinable()) reader_.join();
  for (auto& worker : workers_) {
    if (worker.joinable()) worker.join();
  }
}

bool Channel::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::vector<std::uint16_t> Channel::interrupted() const {
  const std::lock_guard lock(mutex_);
  return interrupted_;
}

void Channel::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    for (auto& [id, pending] : pending_) {
      interrupted_.push_back(pending->function);
      pending->changed.notify_all();
    }
    called_.notify_all();
  }
  ::shutdown(socket_, SHUT_RDWR);
}

// ---- this side calls

Result<std::string> Channel::call(std::uint16_t function, std::string payload, Clock::time_point until) {
  if (payload.size() > kMostPayload) return request_entity_too_large("a call of " + std::to_string(payload.size()) + " bytes is too large");
  Pending pending(function);
  FrameHead head{FrameType::kCall, function, static_cast<std::uint32_t>(payload.size()), 0, Serving::on(*this)};
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return closed_status();
    head.id = next_id_++;
    pending_.emplace(head.id, &pending);
  }
  const bool written = write(head, payload, until);
  if (!written) close();
  std::unique_lock lock(mutex_);
  Status status = await(lock, pending, until);
  pending_.erase(head.id);
  if (!status.ok()) return status;
  if (pending.answer.head.type == FrameType::kRefusal) return status_of_refusal(pending.answer.payload);
  return std::move(pending.answer.payload);
}

Status Channel::await(std::unique_lock<std::mutex>& lock, Pending& pending, Clock::time_point until) {
  while (!pending.answered) {
    if (!pending.nested.empty()) {
      Frame frame = std::move(pending.nested.front());
      pending.nested.pop_front();
      lock.unlock();
      serve(std::move(frame));
      lock.lock();
    } else if (closed_) {
      return closed_status();
    } else if (pending.changed.wait_until(lock, until) == std::cv_status::timeout && !pending.answered && pending.nested.empty()) {
      return timeout("there was no answer in time", 1);
    }
  }
  return {};
}

// ---- the other side calls

void Channel::read_frames() {
  std::array<char, kHeadSize> bytes{};
  while (read_bytes(bytes.data(), bytes.size())) {
    const auto head = parse_head({bytes.data(), bytes.size()});
    if (!head) break;
    Frame frame{*head, std::string(head->size, '\0')};
    if (!read_bytes(frame.payload.data(), frame.payload.size()) || !take(std::move(frame))) break;
  }
  close();
  if (on_closed_) on_closed_();
}

bool Channel::read_bytes(char* to, std::size_t size) const {
  while (size > 0) {
    const ssize_t got = ::recv(socket_, to, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

// False: the frame answers a call, or belongs to one, that this side has never made.
bool Channel::take(Frame frame) {
  const std::lock_guard lock(mutex_);
  const bool call = frame.head.type == FrameType::kCall;
  const std::uint64_t own = call ? frame.head.parent : frame.head.id;
  if (own >= next_id_ || calls_.size() > kMostQueued) return false;
  if (call && own == 0) {
    queue(std::move(frame));
    return true;
  }
  const auto found = pending_.find(own);
  if (found == pending_.end()) {  // given up; a call for it runs on a thread of the channel
    if (call) queue(std::move(frame));
    return true;
  }
  Pending& pending = *found->second;
  if (call) {
    pending.nested.push_back(std::move(frame));
  } else {
    pending.answer = std::move(frame);
    pending.answered = true;
  }
  pending.changed.notify_all();
  return true;
}

// Called under mutex_.
void Channel::queue(Frame frame) {
  calls_.push_back(std::move(frame));
  if (calls_.size() > idle_ && workers_.size() < most_threads_ && !closed_) {
    workers_.emplace_back([this, slot = current_server_slot()] {
      const ServerScope server(slot);
      ::pthread_setname_np(::pthread_self(), name_);
      work();
    });
  }
  called_.notify_one();
}

void Channel::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    called_.wait(lock, [this] { return closed_ || !calls_.empty(); });
    --idle_;
    if (closed_) return;
    Frame frame = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    serve(std::move(frame));
    lock.lock();
  }
}

void Channel::serve(Frame frame) {
  const Serving serving(*this, frame.head.id);
  Result<std::string> answer;
  if (serving.depth > kDeepest) {
    answer = internal_error("calls of host and plugin are nested too deeply");
  } else {
    try {
      answer = handler_(frame.head.function, frame.payload);
    } catch (const std::exception& error) {
      answer = internal_error(error.what());
    } catch (...) {
      answer = internal_error("an exception of an unknown type");
    }
  }
  if (answer.ok() && answer->size() > kMostPayload) answer = request_entity_too_large("an answer is too large");
  const std::string payload = answer.ok() ? std::move(*answer) : refusal_of(answer.status());
  const FrameHead head{answer.ok() ? FrameType::kAnswer : FrameType::kRefusal, frame.head.function,
                       static_cast<std::uint32_t>(payload.size()), frame.head.id, 0};
  if (!write(head, payload, Clock::now() + kAnswerPatience)) close();
}

// ---- bytes

bool Channel::write(const FrameHead& head, std::string_view payload, Clock::time_point until) {
  constexpr std::size_t kSmall = 64 * 1024;
  std::string bytes;
  append_head(bytes, head);
  const bool small = payload.size() <= kSmall;
  if (small) bytes.append(payload);
  const std::unique_lock lock(writing_, until);
  return lock.owns_lock() && write_bytes(bytes, until) && (small || write_bytes(payload, until));
}

bool Channel::write_bytes(std::string_view bytes, Clock::time_point until) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd wait_for{socket_, POLLOUT, 0};
    if (left.count() <= 0 || ::poll(&wait_for, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000))) == 0) return false;
  }
  return true;
}

}  // namespace backplane::runner
