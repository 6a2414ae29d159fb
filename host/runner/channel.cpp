#include "runner/channel.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>

#include "backplane/core/server_slot.hpp"

namespace backplane::runner {
namespace {

constexpr int kDeepest = 16;  // the maximum depth of nested calls
constexpr std::chrono::seconds kAnswerTimeout{30};

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

// One byte that carries a descriptor to the other process.
struct DescriptorMessage {
  DescriptorMessage() noexcept {
    part = {&byte, 1};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = control.data();
    head.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 'L';
  iovec part{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr head{};
};

bool send_descriptor(int socket, int descriptor) {
  DescriptorMessage message;
  cmsghdr* const header = CMSG_FIRSTHDR(&message.head);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
  return ::sendmsg(socket, &message.head, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

}  // namespace

// A call of the other side that this thread executes. `innermost` is the last one of the nested calls.
struct Channel::Serving {
  Serving(const Channel& served, const Lane& of_call)
      : channel(served), lane(of_call), outer(innermost), depth(outer ? outer->depth + 1 : 1) {
    innermost = this;
  }
  ~Serving() { innermost = outer; }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  static const Lane* on(const Channel& channel) {
    for (const Serving* each = innermost; each != nullptr; each = each->outer) {
      if (&each->channel == &channel) return &each->lane;
    }
    return nullptr;
  }

  static inline thread_local Serving* innermost = nullptr;
  const Channel& channel;
  const Lane& lane;
  Serving* const outer;
  const int depth;
};

Channel::Channel(int socket, Handler handler, ChannelLimits limits, const char* name)
    : socket_(socket), handler_(std::move(handler)), limits_(limits), name_(name) {}

Channel::~Channel() {
  close();
  join();
  ::close(socket_);
}

void Channel::start() {
  acceptor_ = std::thread([this, slot = current_server_slot()] {
    const ServerScope server(slot);
    ::pthread_setname_np(::pthread_self(), name_);
    accept_lanes();
  });
}

// The acceptor is joined first, because it starts the other threads.
void Channel::join() {
  if (acceptor_.joinable()) acceptor_.join();
  for (Served& served : served_) {
    if (served.thread.joinable()) served.thread.join();
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
    for (const Made& made : busy_) {
      interrupted_.push_back(made.function);
      made.lane->shut_down();
    }
    for (const Served& served : served_) served.lane.shut_down();
    idle_.clear();
    freed_.notify_all();
    ended_.notify_all();
  }
  ::shutdown(socket_, SHUT_RDWR);
}

// ---- this side calls

Result<std::string> Channel::call(std::uint16_t function, std::string payload, Clock::time_point until) {
  if (payload.size() > kMostPayload) return request_entity_too_large("a call of " + std::to_string(payload.size()) + " bytes is too large");
  Frame answer;
  if (const Lane* const lane = Serving::on(*this)) return result_of(exchange(*lane, function, payload, until, answer), answer);
  auto lane = take_lane(function, until);
  if (!lane.ok()) return lane.status();
  const Lane::Outcome outcome = exchange(**lane, function, payload, until, answer);
  // The other process has ended. The lane is released after close(), because close() records the calls of busy lanes as interrupted.
  if (outcome == Lane::Outcome::kClosed || outcome == Lane::Outcome::kInvalid) close();
  release_lane(*lane, outcome == Lane::Outcome::kFrame);
  return result_of(outcome, answer);
}

Result<std::shared_ptr<Lane>> Channel::take_lane(std::uint16_t function, Clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto can_go_on = [this] { return closed_ || !idle_.empty() || busy_.size() < limits_.made; };
  if (!freed_.wait_until(lock, until, can_go_on)) return timeout("there was no answer in time", 1);
  if (closed_) return closed_status();
  std::shared_ptr<Lane> lane;
  if (idle_.empty()) {
    lane = open_lane();
    if (!lane) return internal_error(std::string("no socket for a call to the process: ") + std::strerror(errno));
  } else {
    lane = std::move(idle_.back());
    idle_.pop_back();
  }
  busy_.push_back({lane, function});
  return lane;
}

// Returns null on failure; errno then has the reason.
std::shared_ptr<Lane> Channel::open_lane() const {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  auto lane = std::make_shared<Lane>(ends[0]);
  const bool sent = send_descriptor(socket_, ends[1]);
  const int error = errno;
  ::close(ends[1]);
  errno = error;
  return sent ? lane : nullptr;
}

// A lane that is not usable is dropped; its socket closes, so the other side's thread for it ends.
void Channel::release_lane(const std::shared_ptr<Lane>& lane, bool usable) {
  const std::lock_guard lock(mutex_);
  std::erase_if(busy_, [&](const Made& made) { return made.lane == lane; });
  if (usable && !closed_) idle_.push_back(lane);
  freed_.notify_one();
}

Lane::Outcome Channel::exchange(const Lane& lane, std::uint16_t function, std::string_view payload, Clock::time_point until,
                                Frame& answer) {
  const FrameHead head{FrameType::kCall, function, static_cast<std::uint32_t>(payload.size())};
  Lane::Outcome outcome = lane.send(head, payload, until);
  while (outcome == Lane::Outcome::kFrame) {
    outcome = lane.receive(answer, until);
    if (outcome != Lane::Outcome::kFrame || answer.head.type != FrameType::kCall) break;
    if (!serve(lane, answer)) return Lane::Outcome::kClosed;
  }
  return outcome;
}

Result<std::string> Channel::result_of(Lane::Outcome outcome, Frame& answer) {
  switch (outcome) {
    case Lane::Outcome::kFrame:
      if (answer.head.type == FrameType::kRefusal) return status_of_refusal(answer.payload);
      return std::move(answer.payload);
    case Lane::Outcome::kTimeout:
      return timeout("there was no answer in time", 1);
    default:
      return closed_status();
  }
}

// ---- the other side calls

void Channel::accept_lanes() {
  for (int socket = receive_socket(); socket >= 0 && add_served(socket); socket = receive_socket()) {
  }
  close();
  if (on_closed_) on_closed_();
}

// Returns -1 if the channel is closed, or if the message carries no socket.
int Channel::receive_socket() const {
  DescriptorMessage message;
  ssize_t size = -1;
  while ((size = ::recvmsg(socket_, &message.head, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  const cmsghdr* const header = size == 1 ? CMSG_FIRSTHDR(&message.head) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
  return descriptor;
}

// Waits while the other side has more lanes than limits_.served.
bool Channel::add_served(int socket) {
  std::unique_lock lock(mutex_);
  Served& served = served_.emplace_back(socket);
  ended_.wait(lock, [this] {
    for (auto each = served_.begin(); each != served_.end();) {
      if (each->ended) each->thread.join();
      each = each->ended ? served_.erase(each) : std::next(each);
    }
    return closed_ || served_.size() <= limits_.served;
  });
  if (closed_) return false;
  served.thread = std::thread([this, &served, slot = current_server_slot()] {
    const ServerScope server(slot);
    ::pthread_setname_np(::pthread_self(), name_);
    serve_lane(served);
  });
  return true;
}

void Channel::serve_lane(Served& served) {
  Frame frame;
  for (;;) {
    const Lane::Outcome outcome = served.lane.receive(frame, std::nullopt);
    if (outcome == Lane::Outcome::kInvalid || (outcome == Lane::Outcome::kFrame && frame.head.type != FrameType::kCall)) close();
    if (outcome != Lane::Outcome::kFrame || frame.head.type != FrameType::kCall || !serve(served.lane, frame)) break;
  }
  const std::lock_guard lock(mutex_);
  served.ended = true;
  ended_.notify_one();
}

// Returns false if the answer could not be sent.
bool Channel::serve(const Lane& lane, const Frame& frame) {
  const Serving serving(*this, lane);
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
                       static_cast<std::uint32_t>(payload.size())};
  return lane.send(head, payload, Clock::now() + kAnswerTimeout) == Lane::Outcome::kFrame;
}

}  // namespace backplane::runner
