#include "runner/lane.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace backplane::runner {
namespace {

// A payload up to this size is sent and received in one system call with its head.
constexpr std::size_t kSmall = std::size_t{16} << 10U;

}  // namespace

Lane::~Lane() { ::close(socket_); }

void Lane::shut_down() const noexcept { ::shutdown(socket_, SHUT_RDWR); }

Lane::Outcome Lane::send(const FrameHead& head, std::string_view payload, Clock::time_point until) const {
  std::string bytes;
  append_head(bytes, head);
  const bool small = payload.size() <= kSmall;
  if (small) bytes.append(payload);
  const Outcome outcome = send_bytes(bytes, until);
  return outcome != Outcome::kFrame || small ? outcome : send_bytes(payload, until);
}

Lane::Outcome Lane::send_bytes(std::string_view bytes, Clock::time_point until) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLOUT, until)) return Outcome::kTimeout;
    } else if (errno != EINTR) {
      return Outcome::kClosed;
    }
  }
  return Outcome::kFrame;
}

Lane::Outcome Lane::receive(Frame& frame, std::optional<Clock::time_point> until) const {
  std::array<char, kHeadSize + kSmall> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): receive_some() fills it
  std::size_t size = 0;
  while (size < kHeadSize) {
    std::size_t got = 0;
    const Outcome outcome = receive_some(buffer.data() + size, buffer.size() - size, got, until);
    if (outcome != Outcome::kFrame) return outcome;
    size += got;
  }
  const auto head = parse_head({buffer.data(), kHeadSize});
  if (!head || size - kHeadSize > head->size) return Outcome::kInvalid;
  frame.head = *head;
  frame.payload.assign(buffer.data() + kHeadSize, size - kHeadSize);
  std::size_t filled = frame.payload.size();
  frame.payload.resize(head->size);
  while (filled < frame.payload.size()) {
    std::size_t got = 0;
    const Outcome outcome = receive_some(frame.payload.data() + filled, frame.payload.size() - filled, got, until);
    if (outcome != Outcome::kFrame) return outcome;
    filled += got;
  }
  return Outcome::kFrame;
}

// Waits in poll(), not in recv(): a thread in recv() is also woken when the other side has read bytes.
Lane::Outcome Lane::receive_some(char* to, std::size_t most, std::size_t& got, std::optional<Clock::time_point> until) const {
  for (;;) {
    const ssize_t size = ::recv(socket_, to, most, MSG_DONTWAIT);
    if (size > 0) {
      got = static_cast<std::size_t>(size);
      return Outcome::kFrame;
    }
    if (size == 0) return Outcome::kClosed;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLIN, until)) return Outcome::kTimeout;
    } else if (errno != EINTR) {
      return Outcome::kClosed;
    }
  }
}

// Returns false when the time is over.
bool Lane::wait(short events, std::optional<Clock::time_point> until) const {
  constexpr std::int64_t kLongest = 1'000'000;
  int milliseconds = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
    if (left <= 0) return false;
    milliseconds = static_cast<int>(std::min<std::int64_t>(left, kLongest));
  }
  pollfd wait_for{socket_, events, 0};
  return ::poll(&wait_for, 1, milliseconds) != 0;
}

}  // namespace backplane::runner
