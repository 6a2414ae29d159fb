// The connection of a channel: how it is made, what is read and written, and when it is given up.
#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>

#include "channel_address.hpp"
#include "channel_call.hpp"

namespace backplane::etcd {
namespace {

constexpr std::chrono::milliseconds kFirstPause{100}, kLongestPause{3'000};
constexpr std::chrono::seconds kConnect{5};  // what a connection may take
constexpr std::chrono::seconds kLeave{1};    // for the calls of one that is going away
constexpr std::chrono::milliseconds kLook{250};
// Answers are as large as lists: windows that need not grow first.
constexpr std::int32_t kWindow = 4 * 1024 * 1024, kWindowOfAll = 16 * 1024 * 1024;
// etcd asks how long the way is at each call, unless it waits for an answer: none need wake two threads for it.
constexpr std::chrono::milliseconds kPingAnswer{25};
constexpr std::size_t kRead = 64 * 1024, kMostOut = 1024 * 1024;
constexpr std::size_t kMostPings = 64;  // that wait for their answers

// A fifth more or less, as gRPC does it: hosts that lost their server together do not come back together.
std::chrono::nanoseconds about(std::chrono::nanoseconds pause) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(pause.count()) * std::uniform_real_distribution(0.8, 1.2)(random)));
}

}  // namespace

// Flushes when it is its turn, or when the loop that had it is gone.
struct Channel::FlushTurn {
  FlushTurn(std::shared_ptr<Channel> channel_in, Executor* executor_in) : channel(std::move(channel_in)), executor(executor_in) {}
  FlushTurn(const FlushTurn&) = delete;
  FlushTurn& operator=(const FlushTurn&) = delete;
  ~FlushTurn() {
    const Lock lock(channel->mutex_);
    std::erase(channel->flushing_, executor);
    channel->flush();
    channel->tell_soon();
  }
  const std::shared_ptr<Channel> channel;
  Executor* const executor;
};

// ---- the connection

void Channel::connect() {
  if (reached_elsewhere()) away_ = false;  // calls wait for it
  state_ = State::kResolving;
  tried_at_ = Clock::now();
  try_again_ = Clock::time_point::max();
  give_up_ = tried_at_ + kConnect;
  wire_->look_by(give_up_);
  wire_->post([self = shared_from_this()] {
    const Lock lock(self->mutex_);
    if (self->state_ == State::kResolving) {
      self->drop_connection();  // of an attempt that was given up for this one
      self->resolve();
    }
    self->tell_soon();
  });
}

// One that could not be made waits for its time, unless the server is known to be there: then calls wait for it, and an attempt of before
// that has not even come through, and may never, is made anew.
void Channel::connect_if_worthwhile() {
  if (state_ == State::kIdle) return connect();
  const bool trying = state_ == State::kResolving || state_ == State::kConnecting;
  if ((!trying && state_ != State::kFailed) || !reached_elsewhere()) return;
  away_ = false;
  if (state_ == State::kFailed || (state_ == State::kConnecting && !socket_connected_)) connect();
}

void Channel::resolve() {
  addresses_.clear();
  if (!path_.empty()) {
    addresses_ = {Address::of_path(path_)};
    return try_next_address();
  }
  if (auto address = Address::of_number(host_, port_)) {
    addresses_ = {*address};
    return try_next_address();
  }
  // The one under way does for this attempt, too.
  if (std::exchange(looking_up_, true)) return;
  const std::string problem =
      Address::look_up(host_, port_, [weak = weak_from_this()](std::vector<Address> found, const std::string& error) {
        if (const auto self = weak.lock()) self->resolved(std::move(found), error);
      });
  if (problem.empty()) return;
  looking_up_ = false;
  lose("name resolution of " + host_ + ": " + problem);
}

// Of a thread that nobody waits for: once the channel is closed, the wire may be of a loop that is gone.
void Channel::resolved(std::vector<Address> addresses, const std::string& error) {
  const Lock still(mutex_);
  looking_up_ = false;
  if (state_ != State::kResolving) return;
  wire_->post([self = shared_from_this(), addresses = std::move(addresses), error]() mutable {
    {
      const Lock lock(self->mutex_);
      if (self->state_ != State::kResolving) return;
      self->telling_ = true;
      if (!error.empty()) {
        self->lose("name resolution of " + self->host_ + ": " + error);
      } else {
        std::reverse(addresses.begin(), addresses.end());
        self->addresses_ = std::move(addresses);
        self->try_next_address();
      }
    }
    self->tell();
  });
}

// The last of them is the next.
void Channel::try_next_address() {
  std::string why = "no address";
  while (!addresses_.empty()) {
    const Address address = addresses_.back();
    addresses_.pop_back();
    open(address);
    if (socket_ >= 0) return;
    why = std::strerror(errno);
  }
  lose(why);
}

void Channel::open(const Address& address) {
  socket_ = address.connect();
  if (socket_ < 0) return;
  give_up_ = Clock::now() + kConnect;  // of this one; there may have been others
  wire_->look_by(give_up_);
  state_ = State::kConnecting;
  socket_connected_ = false;
  waits_to_write_ = true;
  wire_->watch(socket_, *this, true);
}

void Channel::begin_session() {
  socket_connected_ = true;
  session_ = make_session();
  const std::array<nghttp2_settings_entry, 2> wishes = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow}}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, wishes.data(), wishes.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindowOfAll);
  heard_ = Clock::now();
  pinged_ = doubted_ = expects_ = false;
  pinged_at_ = {};
  complaint_.clear();
  if (endpoint_.tls) {
    std::string error;
    tls_ = Tls::make(settings_, host_, error);
    if (tls_) error = tls_->begin(out_);
    if (!error.empty()) return lose(error);
  }
  flush();
}

void Channel::connected_now() {
  if (state_ != State::kConnecting) return;
  state_ = State::kReady;
  away_ = false;
  server_->note();
  give_up_ = Clock::time_point::max();
  pause_ = Clock::duration::zero();
  const std::vector<CallRef> calls = std::exchange(waiting_, {});
  for (const CallRef& call : calls) {
    deadlines_.erase({call->due, call.get()});
    call->due = call->deadline;
    if (call->due != Clock::time_point::max()) deadlines_.emplace(call->due, call.get());
    submit(call);
  }
}

void Channel::leave() {
  if (state_ != State::kReady) return;
  state_ = State::kLeaving;
  give_up_ = Clock::now() + kLeave;
  wire_->look_by(give_up_);
  // Those that last would only hold up whoever waits for the next connection: they are begun again on it.
  std::vector<CallRef> lasting;
  for (const auto& [_, call] : streams_) {
    if (call->more) lasting.push_back(call);
  }
  for (const CallRef& call : lasting) end_call(call, {Code::kUnavailable, "the connection is given up"});
}

void Channel::keep_ping(const std::uint8_t* data) {
  if (pings_.size() >= kMostPings) return;
  if (pings_.empty()) answer_pings_at_ = Clock::now() + kPingAnswer;
  std::copy_n(data, sizeof(Ping), pings_.emplace_back().begin());
}

void Channel::answer_pings() {
  for (const Ping& ping : std::exchange(pings_, {})) nghttp2_submit_ping(session_, NGHTTP2_FLAG_ACK, ping.data());
  flush();
}

void Channel::drop_connection() {
  if (socket_ >= 0) {
    wire_->forget(socket_);
    ::close(socket_);
  }
  socket_ = -1;
  nghttp2_session_del(session_);
  session_ = nullptr;
  answered_.clear();
  pings_.clear();
  tls_.reset();
  plain_.clear();
  out_.clear();
  out_offset_ = 0;
}

void Channel::lose(const std::string& why) {
  if (state_ == State::kClosed) return;
  const bool was_ready = state_ == State::kReady || state_ == State::kLeaving;
  drop_connection();
  give_up_ = Clock::time_point::max();
  // One that was made is made again when it is asked for.
  if (was_ready) {
    state_ = State::kIdle;
    const CallStatus broken(Code::kUnavailable, "the connection broke: " + why);
    const std::vector<CallRef> unsent = std::exchange(waiting_, {});
    fail_calls(broken, broken);
    waiting_ = unsent;
    if (!waiting_.empty()) connect();
    return;
  }
  if (!addresses_.empty()) return try_next_address();
  // What this one has tried was of before: files that have been replaced meanwhile, a server that was not up.
  if (reached_elsewhere()) return connect();
  state_ = State::kFailed;
  away_ = true;
  failure_ = "failed to connect to " + endpoint_.shown + ": " + why;
  pause_ = std::clamp<Clock::duration>(pause_ * 8 / 5, kFirstPause, kLongestPause);
  try_again_ = Clock::now() + about(pause_);
  wire_->look_by(try_again_);
  fail_calls({Code::kUnavailable, failure_, true}, {Code::kUnavailable, failure_, true});
}

// ---- bytes

void Channel::flush_soon() {
  Executor* const executor = current_executor();
  if (executor == nullptr) return flush();
  if (std::find(flushing_.begin(), flushing_.end(), executor) != flushing_.end()) return;
  flushing_.push_back(executor);
  executor->post([turn = std::make_shared<FlushTurn>(shared_from_this(), executor)]() mutable { turn.reset(); });
}

// A connection that is found broken here is given up where it is read.
void Channel::flush() {
  if (session_ == nullptr || receiving_ || !socket_connected_ || (endpoint_.tls && tls_ == nullptr)) return;
  if (tls_ != nullptr && !tls_->established()) return write_out();
  std::string& into = tls_ != nullptr ? plain_ : out_;
  while (out_.size() - out_offset_ < kMostOut && plain_.size() < kMostOut) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
    if (count <= 0) break;
    into.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  }
  if (tls_ != nullptr && !plain_.empty()) {
    if (!tls_->send(plain_, out_).empty()) ::shutdown(socket_, SHUT_RDWR);
    plain_.clear();
  }
  write_out();
}

void Channel::write_out() {
  while (out_offset_ < out_.size()) {
    const ssize_t count = ::send(socket_, out_.data() + out_offset_, out_.size() - out_offset_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;  // it is full, or broken, which reading finds out
    out_offset_ += static_cast<std::size_t>(count);
  }
  if (out_offset_ == out_.size()) {
    out_.clear();
    out_offset_ = 0;
  } else if (out_offset_ > kMostOut) {
    out_.erase(0, std::exchange(out_offset_, 0));
  }
  const bool waits = !out_.empty();
  if (std::exchange(waits_to_write_, waits) != waits) wire_->change(socket_, *this, waits);
}

void Channel::take(std::string_view bytes) {
  std::string plain;
  std::string error;
  if (tls_ != nullptr) {
    error = tls_->receive(bytes, plain, out_);
    bytes = plain;
  }
  // What was said before the end of TLS counts.
  if (!bytes.empty()) {
    receiving_ = true;
    const ssize_t taken = nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    receiving_ = false;
    if (taken < 0) error = nghttp2_strerror(static_cast<int>(taken));
  }
  if (!error.empty()) lose(error);
}

void Channel::read_in(std::uint32_t events) {
  if (!socket_connected_) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return lose(std::strerror(error));
    if ((events & EPOLLOUT) == 0) return;
    begin_session();
    if (session_ == nullptr) return;
  }
  static thread_local std::array<char, kRead> buffer;
  for (;;) {
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) return lose(count == 0 ? "the server ended it" : std::strerror(errno));
    heard_ = Clock::now();
    pinged_ = doubted_ = expects_ = false;
    take({buffer.data(), static_cast<std::size_t>(count)});
    if (session_ == nullptr) return;
    // What is left is read at the next look.
    if (static_cast<std::size_t>(count) < buffer.size()) break;
  }
  flush();
  // It has broken the rules, was told so, and is not listened to any more.
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0 && state_ != State::kLeaving)
    return lose(complaint_.empty() ? "the server breaks the rules of HTTP/2" : complaint_);
  if (state_ == State::kLeaving && streams_.empty()) lose("the server went away");
}

void Channel::ready(std::uint32_t events) {
  {
    const Lock lock(mutex_);
    if (socket_ < 0 || state_ == State::kClosed || state_ == State::kResolving) return;
    telling_ = true;
    read_in(events);
  }
  tell();
}

// ---- time

// When the server is asked whether it is alive, if nothing is heard until then.
Channel::Clock::time_point Channel::next_ping() const {
  const bool waits = expects_ || !deadlines_.empty();
  const Clock::duration silence = doubted_ ? Clock::duration::zero() : waits ? settings_.keep_alive : settings_.keep_alive_idle;
  return std::max(heard_ + silence, pinged_at_ + settings_.keep_alive_apart);
}

void Channel::expire(Clock::time_point now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Call& late = *deadlines_.begin()->second;
    CallStatus status(Code::kDeadlineExceeded, "the server did not answer in time");
    if (late.stream != 0 && late.sent > heard_) doubted_ = true;
    if (late.stream == 0) status = {Code::kUnavailable, "there was no connection to " + endpoint_.shown + " in time", true};
    end_call(late.shared_from_this(), std::move(status));
  }
  if (give_up_ <= now) {
    const bool leaves = state_ == State::kLeaving;
    if (leaves || state_ == State::kConnecting || state_ == State::kResolving) lose(leaves ? "the server went away" : "it took too long");
  }
  if (try_again_ <= now && state_ == State::kFailed) connect();
  if (!pings_.empty() && answer_pings_at_ <= now) answer_pings();
  if (state_ != State::kReady || (streams_.empty() && !doubted_)) return;
  if (!pinged_ && now >= next_ping()) {
    pinged_ = true;
    pinged_at_ = now;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    flush();
  } else if (pinged_ && now - pinged_at_ >= settings_.keep_alive_timeout) {
    lose("the server does not answer");
  }
}

Channel::Clock::time_point Channel::look(Clock::time_point now) {
  Clock::time_point next = Clock::time_point::max();
  bool any = false;
  {
    const Lock lock(mutex_);
    const bool tells = std::exchange(telling_, true);
    expire(now);
    telling_ = tells;
    if (!deadlines_.empty()) next = std::min(next, deadlines_.begin()->first);
    next = std::min({next, give_up_, try_again_, pings_.empty() ? next : answer_pings_at_});
    if (state_ == State::kReady && (doubted_ || !streams_.empty())) {
      next = std::min(next, pinged_ ? pinged_at_ + settings_.keep_alive_timeout : next_ping());
    }
    // Calls that come now need not wake the thread for their deadlines.
    if (std::exchange(begun_some_, false)) next = std::min(next, now + kLook);
    looks_at_ = next;
    any = !told_.empty();
    if (any) telling_ = true;
  }
  if (any) tell();
  return next;
}

}  // namespace backplane::etcd
