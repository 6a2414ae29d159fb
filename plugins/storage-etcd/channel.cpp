#include "channel.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "channel_address.hpp"
#include "channel_call.hpp"

namespace backplane::etcd {
namespace {

constexpr std::size_t kMostAnswered = 256;  // whose end is waited for

nghttp2_nv field(std::string_view name, std::string_view value, std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  // nghttp2 changes neither.
  const auto bytes = [](std::string_view text) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); };
  return {bytes(name), bytes(value), name.size(), value.size(), flags};
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }

}  // namespace

// ---- what nghttp2 tells

struct Channel::Callbacks {
  static Channel& channel(void* user) { return *static_cast<Channel*>(user); }
  static Call* call(nghttp2_session* session, std::int32_t stream) {
    return static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void*) {
    if (Call* const found = call(session, frame->hd.stream_id)) found->header(text_of(name, name_size), text_of(value, value_size));
    return 0;
  }
  static int data(nghttp2_session* session, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes, std::size_t size, void* user) {
    Channel& self = channel(user);
    nghttp2_session_consume_connection(session, size);
    Call* const found = call(session, stream);
    if (found == nullptr) return 0;
    found->unconsumed += size;
    if (!found->over && found->speaks_grpc()) found->in.append(text_of(bytes, size));
    while (!found->over) {
      auto message = found->take_message();
      if (!message) break;
      self.told_message(*found, std::move(*message));
      // A server that answers has done what it was asked for: what it says afterwards is waited for by nobody.
      if (!found->more) self.end_answered(*found);
    }
    if (!found->unreadable.empty()) {
      self.end_call(found->shared_from_this(), found->status(NGHTTP2_NO_ERROR));
      return 0;
    }
    if (!found->paused) nghttp2_session_consume_stream(session, stream, std::exchange(found->unconsumed, 0));
    return 0;
  }
  static int frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    Channel& self = channel(user);
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) self.connected_now();
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) self.keep_ping(frame->ping.opaque_data);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.leave();
    // The server has said all it has to say; that it would hear more, or has not heard all, concerns nobody.
    const bool last =
        (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    Call* const found = last ? call(session, frame->hd.stream_id) : nullptr;
    if (found != nullptr && nghttp2_session_get_stream_local_close(session, frame->hd.stream_id) == 0)
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
  }
  static int invalid(nghttp2_session*, const nghttp2_frame*, int error, void* user) {
    channel(user).complaint_ = nghttp2_strerror(error);
    return 0;
  }
  static int complain(nghttp2_session*, int, const char* text, std::size_t size, void* user) {
    channel(user).complaint_.assign(text, size);
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t stream, std::uint32_t error, void* user) {
    Channel& self = channel(user);
    self.answered_.erase(stream);
    const auto found = self.streams_.find(stream);
    if (found == self.streams_.end()) return 0;
    const CallRef ended = found->second;
    ended->server_ended = true;
    self.end_call(ended, ended->status(error));
    return 0;
  }
  static ssize_t body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t room, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    Call& from = *static_cast<Call*>(source->ptr);
    const std::size_t count = std::min(room, from.out.size() - from.out_offset);
    std::memcpy(buffer, from.out.data() + from.out_offset, count);
    from.out_offset += count;
    if (from.out_offset < from.out.size()) return static_cast<ssize_t>(count);
    from.out.clear();
    from.out_offset = 0;
    if (!from.more) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (from.more && count == 0) {
      from.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(count);
  }

  static nghttp2_session* session(Channel& of) {
    static nghttp2_session_callbacks* const all = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_header_callback(made, header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, frame);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, closed);
      nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, invalid);
      nghttp2_session_callbacks_set_error_callback2(made, complain);
      return made;
    }();
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_auto_ping_ack(options, 1);
    nghttp2_session* made = nullptr;
    nghttp2_session_client_new2(&made, all, &of, options);
    nghttp2_option_del(options);
    return made;
  }
};

nghttp2_session* Channel::make_session() { return Callbacks::session(*this); }

// ---- calls

std::shared_ptr<Channel> Channel::make(const std::shared_ptr<Wire>& wire, const Settings& settings, const Endpoint& endpoint,
                                       std::shared_ptr<Reachability> server) {
  auto made = std::make_shared<Channel>(wire, settings, endpoint, std::move(server));
  wire->add(*made);
  return made;
}

Channel::Channel(std::shared_ptr<Wire> wire, const Settings& settings, const Endpoint& endpoint, std::shared_ptr<Reachability> server)
    : wire_(std::move(wire)), settings_(settings), endpoint_(endpoint), server_(std::move(server)) {
  const std::string& address = endpoint_.address;
  const std::string_view rest = std::string_view(address).substr(address.find(':') + 1);
  if (address.starts_with("unix:")) {
    path_ = rest;
    authority_ = host_ = "localhost";
    return;
  }
  authority_ = rest;
  const auto colon = rest.rfind(':');
  host_ = rest.substr(0, colon);
  port_ = rest.substr(colon + 1);
  if (host_.starts_with('[')) host_ = host_.substr(1, host_.size() - 2);
}

Channel::~Channel() { drop_connection(); }

Channel::CallRef Channel::start(Begin begin, CallListener& listener) {
  auto call = std::make_shared<Call>(begin.method, listener, begin.deadline, begin.more, begin.needs_leader);
  call->due = begin.deadline;
  call->add_message(begin.message);
  // Once the lock is given back the call may have ended, and the channel gone with whoever waited for it.
  const Lock lock(mutex_);
  if (state_ != State::kReady) connect_if_worthwhile();
  if (state_ == State::kClosed) {
    end_call(call, {Code::kCancelled, "the store has stopped", true});
  } else if (away_) {
    end_call(call, {Code::kUnavailable, failure_, true});
  } else {
    if (state_ != State::kReady) call->due = std::min(begin.deadline, begin.connect_by);
    if (call->due != Clock::time_point::max()) deadlines_.emplace(call->due, call.get());
    begun_some_ = true;
    // One without a deadline counts on the server being asked whether it is alive, and one that was silent for long may be gone.
    const auto heard = state_ == State::kReady && streams_.empty() ? heard_ : Clock::now();
    const auto due = std::min(call->due, heard + settings_.keep_alive);
    if (due < looks_at_) wire_->look_by(due);
    if (state_ == State::kReady) {
      submit(call);
      flush_soon();
    } else {
      waiting_.push_back(call);
    }
  }
  tell_soon();
  return call;
}

void Channel::submit(const CallRef& call) {
  std::array<char, 24> timeout{};
  std::string_view timeout_text;
  if (call->deadline != Clock::time_point::max()) {
    call->sent = Clock::now();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(call->deadline - call->sent).count();
    const auto end = std::to_chars(timeout.data(), timeout.data() + 12, std::max<std::int64_t>(left, 1)).ptr;
    *end = 'm';
    timeout_text = {timeout.data(), static_cast<std::size_t>(end + 1 - timeout.data())};
  }
  constexpr std::uint8_t kOnce = NGHTTP2_NV_FLAG_NO_INDEX;
  const std::array<nghttp2_nv, 9> fields = {field(":method", "POST"),
                                            field(":scheme", endpoint_.tls ? "https" : "http"),
                                            field(":path", call->path),
                                            field(":authority", authority_),
                                            field("te", "trailers"),
                                            field("content-type", "application/grpc"),
                                            field("user-agent", "backplane"),
                                            field("hasleader", "true"),
                                            field("grpc-timeout", timeout_text, kOnce)};
  // The last two are left out where they are not wanted.
  auto sent = fields;
  std::size_t count = 7;
  if (call->needs_leader) sent.at(count++) = fields[7];
  if (!timeout_text.empty()) sent.at(count++) = fields[8];
  nghttp2_data_provider body{};
  body.source.ptr = call.get();
  body.read_callback = Callbacks::body;
  call->stream = nghttp2_submit_request(session_, nullptr, sent.data(), count, &body, call.get());
  if (call->stream < 0) {
    call->stream = 0;
    end_call(call, {Code::kUnavailable, "the connection has no streams left", true});
    return;
  }
  streams_.emplace(call->stream, call);
  if (call->stream >= settings_.last_stream) leave();
}

void Channel::send(const CallRef& call, std::string message) {
  const Lock lock(mutex_);
  if (call->over) return;
  call->add_message(message);
  if (call->stream == 0 || !std::exchange(call->deferred, false)) return;
  nghttp2_session_resume_data(session_, call->stream);
  flush_soon();
  tell_soon();
}

void Channel::resume(const CallRef& call) {
  const Lock lock(mutex_);
  call->resumed = true;
  if (call->over || !std::exchange(call->paused, false) || call->stream == 0) return;
  nghttp2_session_consume_stream(session_, call->stream, std::exchange(call->unconsumed, 0));
  flush_soon();
  tell_soon();
}

void Channel::cancel(const CallRef& call) {
  const Lock lock(mutex_);
  end_call(call, {Code::kCancelled, "the call was given up"});
  tell_soon();
}

void Channel::end_call(const CallRef& call, CallStatus status) {
  if (std::exchange(call->over, true)) return;
  deadlines_.erase({call->due, call.get()});
  std::erase(waiting_, call);
  if (call->stream != 0 && streams_.erase(call->stream) > 0 && session_ != nullptr) {
    // Nothing of it is told any more, and what it would still send is not read.
    nghttp2_session_set_stream_user_data(session_, call->stream, nullptr);
    if (!call->server_ended) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL);
      flush_soon();
    }
  }
  told_.push_back({call, std::move(status), ""});
}

// Its stream goes on until the server has ended it; of too many the oldest is ended here.
void Channel::end_answered(Call& call) {
  const CallRef ended = call.shared_from_this();
  answered_.emplace(call.stream, ended);
  if (answered_.size() > kMostAnswered) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, answered_.begin()->first, NGHTTP2_CANCEL);
  streams_.erase(call.stream);
  end_call(ended, CallStatus());
}

void Channel::told_message(Call& call, std::string bytes) {
  if (!call.over) told_.push_back({call.shared_from_this(), std::nullopt, std::move(bytes)});
}

void Channel::fail_calls(const CallStatus& sent, const CallStatus& unsent) {
  std::vector<CallRef> all = std::move(waiting_);
  waiting_.clear();
  for (const CallRef& call : all) end_call(call, unsent);
  all.clear();
  for (const auto& [_, call] : streams_) all.push_back(call);
  for (const CallRef& call : all) {
    call->server_ended = true;  // there is nobody to be told
    end_call(call, sent);
  }
}

void Channel::tell_soon() {
  if (told_.empty() || std::exchange(telling_, true)) return;
  wire_->post([self = shared_from_this()] { self->tell(); });
}

void Channel::tell() {
  for (;;) {
    std::vector<Told> told;
    {
      const Lock lock(mutex_);
      told.swap(told_);
      telling_ = !told.empty();
    }
    if (told.empty()) return;
    for (Told& each : told) {
      if (each.end) {
        each.call->listener->ended(std::move(*each.end));
      } else {
        tell_message(*each.call, std::move(each.message));
      }
    }
  }
}

void Channel::tell_message(Call& call, std::string message) {
  if (!call.more) {
    call.listener->message(std::move(message));
    return;
  }
  {
    const Lock lock(mutex_);
    call.resumed = false;
  }
  if (call.listener->message(std::move(message))) return;
  const Lock lock(mutex_);
  call.paused = !call.resumed;
}

bool Channel::connected() {
  const Lock lock(mutex_);
  if (state_ != State::kReady) connect_if_worthwhile();
  return state_ == State::kReady && !doubted_;
}

void Channel::expect() {
  const Lock lock(mutex_);
  if (expects_ || state_ != State::kReady || streams_.empty()) return;
  expects_ = true;
  if (const auto due = next_ping(); due < looks_at_) wire_->look_by(due);
}

void Channel::dispose() {
  close();
  const Lock lock(mutex_);
  drop_connection();
}

void Channel::close() {
  const Lock lock(mutex_);
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  fail_calls({Code::kCancelled, "the store has stopped"}, {Code::kCancelled, "the store has stopped", true});
  tell_soon();
  // The socket goes where it is read.
  wire_->post([self = shared_from_this()] {
    const Lock closing(self->mutex_);
    self->drop_connection();
  });
}

}  // namespace backplane::etcd
