// The client side of HTTP/2, over nghttp2's memory interface.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "client/http2_fields.hpp"
#include "client/remote_session.hpp"
#include "http/header_text.hpp"

namespace backplane {
namespace {

// Limit of the bytes of header fields in one response. The session resets the stream of a response that exceeds the limit.
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;
constexpr int kMaxInterim = 5;
// The delay of PING acknowledgements. A gRPC server in Go sends a PING with each response to measure the path, unless an earlier PING is
// unacknowledged. The delay therefore avoids most PINGs.
constexpr std::chrono::milliseconds kPingAnswer{25};
constexpr std::size_t kMaxPings = 64;  // the maximum number of unacknowledged PINGs; further PINGs are ignored
// Numbers of fields for which the header and trailer vectors of a response reserve room.
constexpr std::size_t kUsualHeaders = 6, kUsualTrailers = 2;

class Http2ClientSession final : public RemoteSession, private CallCarrier {
 public:
  Http2ClientSession(RemotePort& port, std::string authority, Http2ClientSettings settings);
  ~Http2ClientSession() override { nghttp2_session_del(session_); }

  bool can_take() const override {
    return !closing_ && streams_.size() < nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) &&
           nghttp2_session_check_request_allowed(session_) != 0;
  }
  bool idle() const override { return streams_.empty(); }
  bool runs_only_lasting() const override {
    const auto lasting = [](const auto& each) { return each->call->lasting(); };
    return !streams_.empty() && std::all_of(streams_.begin(), streams_.end(), lasting);
  }
  bool finished() const override {
    const bool dead = broken_ || (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
    return dead || (streams_.empty() && (closing_ || nghttp2_session_check_request_allowed(session_) == 0));
  }
  void retire() override {
    closing_ = true;
    port_.want_flush();
  }
  // The flow-control windows limit the received data.
  bool wants_input() const override { return true; }
  void start(RemoteCallRef call) override;
  void receive(std::string_view bytes) override {
    if (!std::exchange(has_received_, true) && bytes.starts_with("HTTP/1")) why_ = "http2: the server responded with HTTP/1";
    const auto used = nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (used < 0) broken_ = closing_ = true;
    if (nghttp2_session_want_write(session_) != 0 || finished()) port_.want_flush();
  }
  void receive_end() override { closing_ = true; }
  void ping() override {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    port_.want_flush();
  }
  void fill(std::string& out, std::size_t budget) override {
    if (!pings_.empty() && Clock::now() >= answer_pings_at_) answer_pings();
    while (out.size() < budget) {
      const std::uint8_t* bytes = nullptr;
      const auto size = nghttp2_session_mem_send(session_, &bytes);
      if (size <= 0) return;
      out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
  }
  std::vector<RemoteCallRef> lost(const Status& reason) override {
    closing_ = true;
    const Status why = why_.empty() ? reason : service_unavailable(why_);
    std::vector<RemoteCallRef> again = std::exchange(refused_, {});
    found_ = nullptr;
    for (const auto& stream : std::exchange(streams_, {})) {
      if (!stream->has_head && may_be_repeated(stream->call->request())) {
        again.push_back(std::move(stream->call));
      } else {
        stream->call->fail(why);
      }
    }
    return again;
  }

 private:
  struct Stream {
    RemoteCallRef call;
    std::size_t place = 0;  // in streams_
    int code = 0;
    Headers headers;
    std::size_t sent = 0;  // bytes of the request body
    std::size_t header_bytes = 0;
    int interim = 0;
    bool has_head = false;  // headers_complete() has stored the response head in the call
    Headers trailers;
    bool whole = false;  // the server has ended the stream
  };
  static Http2ClientSession& self(void* data) { return *static_cast<Http2ClientSession*>(data); }
  // Returns the stream that nghttp2 stores as user data of the HTTP/2 stream `id`. Returns null if this session has dropped the stream, or
  // if nghttp2 has not begun to send its request.
  Stream* stream(std::int32_t id) {
    if (found_ == nullptr || found_->call->stream != id) found_ = static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_, id));
    return found_;
  }
  // Removes a stream that may still be open in nghttp2. The caller must submit an RST_STREAM frame.
  RemoteCallRef drop(Stream& stream);
  RemoteCallRef remove(Stream& stream);
  void call_read(RemoteCall& call, std::size_t count) override;
  void call_has_body(RemoteCall& call) override;
  void call_cancelled(RemoteCall& call) override;
  void header(std::int32_t id, std::string_view name, std::string_view value);
  void headers_complete(std::int32_t id);
  void cancel_stream(std::int32_t id, const char* why);
  void data(std::int32_t id, std::string_view bytes);
  void answered(std::int32_t id);
  void stream_closed(std::int32_t id, std::uint32_t error);
  void note_ping(const std::uint8_t* data);
  void answer_pings();
  static ssize_t send_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                           nghttp2_data_source*, void* data);
  static nghttp2_session_callbacks* callbacks();

  using Clock = std::chrono::steady_clock;
  using Ping = std::array<std::uint8_t, 8>;

  RemotePort& port_;
  Http2FieldDefaults fields_;
  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<Stream>> streams_;
  Stream* found_ = nullptr;             // the result of the last stream(); most calls of stream() are for the same id as the previous one
  std::vector<RemoteCallRef> refused_;  // calls whose streams the server has refused; lost() returns them for a retry
  std::vector<Ping> pings_;             // acknowledged at answer_pings_at_
  Clock::time_point answer_pings_at_{};
  std::string why_;  // the server's protocol error; empty: none
  bool has_received_ = false;
  bool closing_ = false;
  bool broken_ = false;
};

nghttp2_session_callbacks* Http2ClientSession::callbacks() {
  static nghttp2_session_callbacks* table = [] {
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                 std::size_t value_size, std::uint8_t, void* data) {
          self(data).header(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_size},
                            {reinterpret_cast<const char*>(value), value_size});
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, [](nghttp2_session*, const nghttp2_frame* frame, void* data) {
      if (frame->hd.type == NGHTTP2_HEADERS) self(data).headers_complete(frame->hd.stream_id);
      const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
      if (carries && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) self(data).answered(frame->hd.stream_id);
      if (frame->hd.type == NGHTTP2_GOAWAY) self(data).closing_ = true;
      if (frame->hd.type == NGHTTP2_SETTINGS) self(data).port_.has_room();
      if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) self(data).note_ping(frame->ping.opaque_data);
      return 0;
    });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size, void* data) {
          self(data).data(id, {reinterpret_cast<const char*>(bytes), size});
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(made, [](nghttp2_session*, std::int32_t id, std::uint32_t error, void* data) {
      self(data).stream_closed(id, error);
      return 0;
    });
    return made;
  }();
  return table;
}

Http2ClientSession::Http2ClientSession(RemotePort& port, std::string authority, Http2ClientSettings settings)
    : port_(port), fields_{settings.scheme, std::move(authority)} {
  strip_line_breaks(fields_.authority);
  nghttp2_option* options = nullptr;
  if (nghttp2_option_new(&options) != 0) throw std::bad_alloc();
  // The session extends windows explicitly: the connection's window when data() receives bytes, a stream's window when the reader has read
  // the bytes. If the call takes the whole response, data() extends both windows.
  nghttp2_option_set_no_auto_window_update(options, 1);
  nghttp2_option_set_no_auto_ping_ack(options, 1);
  const int made = nghttp2_session_client_new2(&session_, callbacks(), this, options);
  nghttp2_option_del(options);
  if (made != 0) throw std::bad_alloc();
  const nghttp2_settings_entry entries[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                            {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries, std::size(entries));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(settings.connection_window));
  port_.want_flush();
}

ssize_t Http2ClientSession::send_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                                      nghttp2_data_source*, void* data) {
  Stream* stream = self(data).stream(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  if (stream->call->streams_body()) {
    const std::string piece = stream->call->take_body(size);
    if (piece.empty() && !stream->call->body_taken()) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(buffer, piece.data(), piece.size());
    stream->sent += piece.size();
    const bool whole = stream->call->body_taken();
    const auto& declared = stream->call->request().body_size;
    if (declared && (stream->sent > *declared || (whole && stream->sent < *declared))) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (whole) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(piece.size());
  }
  const std::string& body = stream->call->request().body;
  const std::size_t count = std::min(size, body.size() - stream->sent);
  std::memcpy(buffer, body.data() + stream->sent, count);
  stream->sent += count;
  if (stream->sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

void Http2ClientSession::note_ping(const std::uint8_t* data) {
  if (pings_.size() >= kMaxPings) return;
  if (pings_.empty()) {
    answer_pings_at_ = Clock::now() + kPingAnswer;
    port_.flush_after(kPingAnswer);
  }
  std::copy_n(data, sizeof(Ping), pings_.emplace_back().begin());
}

void Http2ClientSession::answer_pings() {
  for (const Ping& ping : std::exchange(pings_, {})) nghttp2_submit_ping(session_, NGHTTP2_FLAG_ACK, ping.data());
}

void Http2ClientSession::start(RemoteCallRef call) {
  const Http2Fields fields(*call, fields_);
  nghttp2_data_provider body{};
  body.read_callback = send_body;
  const bool has_body = call->streams_body() || !call->request().body.empty();
  auto stream = std::make_unique<Stream>();
  const auto submitted = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), has_body ? &body : nullptr, stream.get());
  if (submitted < 0) {
    closing_ = true;
    call->refused();
    call->fail(service_unavailable("the connection accepts no more requests"));
    return;
  }
  call->stream = submitted;
  call->carried_by(this);
  stream->call = std::move(call);
  stream->place = streams_.size();
  streams_.push_back(std::move(stream));
  port_.want_flush();
}

void Http2ClientSession::call_read(RemoteCall& call, std::size_t count) {
  nghttp2_session_consume_stream(session_, call.stream, count);
  if (nghttp2_session_want_write(session_) != 0) port_.want_flush();
}

void Http2ClientSession::call_has_body(RemoteCall& call) {
  nghttp2_session_resume_data(session_, call.stream);
  port_.want_flush();
}

void Http2ClientSession::call_cancelled(RemoteCall& call) {
  const auto of_call = [&call](const auto& each) { return each->call.get() == &call; };
  const auto found = std::find_if(streams_.begin(), streams_.end(), of_call);
  const RemoteCallRef kept = found != streams_.end() ? drop(**found) : nullptr;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.stream, NGHTTP2_CANCEL);
  port_.want_flush();
  port_.has_room();
}

// nghttp2's header fields of an unsent request point into the call. The caller's RST_STREAM stops nghttp2 from reading them.
RemoteCallRef Http2ClientSession::drop(Stream& stream) {
  nghttp2_session_set_stream_user_data(session_, stream.call->stream, nullptr);
  return remove(stream);
}

RemoteCallRef Http2ClientSession::remove(Stream& stream) {
  if (found_ == &stream) found_ = nullptr;
  RemoteCallRef call = std::move(stream.call);
  const std::size_t place = stream.place;
  if (place + 1 < streams_.size()) {
    std::swap(streams_[place], streams_.back());
    streams_[place]->place = place;
  }
  streams_.pop_back();  // destroys the stream
  return call;
}

void Http2ClientSession::header(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* found = stream(id);
  if (found == nullptr) return;
  found->header_bytes += name.size() + value.size();
  if (found->header_bytes > kMaxHeaderBytes) return cancel_stream(id, "http2: response header list larger than advertised limit");
  if (found->has_head) {
    if (found->trailers.empty()) found->trailers.reserve(kUsualTrailers);
    found->trailers.emplace_back(name, value);
  } else if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), found->code);
  } else {
    if (found->headers.empty()) found->headers.reserve(kUsualHeaders);
    found->headers.emplace_back(name, value);
  }
}

void Http2ClientSession::headers_complete(std::int32_t id) {
  Stream* found = stream(id);
  if (found == nullptr) return;
  if (found->has_head) return found->call->trailers(std::move(found->trailers));
  if (found->code == 101) return cancel_stream(id, "http2: a response cannot switch protocols");
  if (found->code < 200) {
    if (++found->interim > kMaxInterim) return cancel_stream(id, "http2: too many 1xx informational responses");
    found->headers.clear();
    return;
  }
  found->has_head = true;
  found->call->head(found->code, std::move(found->headers));
}

void Http2ClientSession::cancel_stream(std::int32_t id, const char* why) {
  Stream* const found = stream(id);
  if (found == nullptr) return;
  const RemoteCallRef call = drop(*found);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  call->fail(service_unavailable(why));
  port_.has_room();
}

void Http2ClientSession::data(std::int32_t id, std::string_view bytes) {
  Stream* const found = stream(id);
  if (found != nullptr && found->call->takes_whole()) {
    nghttp2_session_consume(session_, id, bytes.size());
  } else {
    nghttp2_session_consume_connection(session_, bytes.size());
  }
  if (found != nullptr) found->call->body(bytes);
}

// The response is complete. The session does not send the rest of the request body, because the server may never open the window for it.
void Http2ClientSession::answered(std::int32_t id) {
  Stream* found = stream(id);
  if (found != nullptr) found->whole = true;
  if (found == nullptr || !found->has_head || nghttp2_session_get_stream_local_close(session_, id) == 1) return;
  const RemoteCallRef call = drop(*found);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  call->end();
  port_.has_room();
}

void Http2ClientSession::stream_closed(std::int32_t id, std::uint32_t error) {
  Stream* const found = stream(id);
  if (found == nullptr) return;
  const bool whole = found->whole, has_head = found->has_head;
  const RemoteCallRef call = remove(*found);
  const bool refused = error == NGHTTP2_REFUSED_STREAM && !has_head;
  if (refused) {
    call->refused();
    closing_ = true;  // the server closes the connection or would refuse these calls again
  }
  if (refused && !call->streams_body()) {
    call->carried_by(nullptr);
    refused_.push_back(call);
  } else if (error == NGHTTP2_NO_ERROR && whole && has_head) {
    call->end();
  } else {
    call->fail(service_unavailable(std::string("the server has reset the stream: ") + nghttp2_http2_strerror(error)));
  }
  port_.has_room();
}

}  // namespace

std::unique_ptr<RemoteSession> make_http2_client_session(RemotePort& port, std::string authority, Http2ClientSettings settings) {
  return std::make_unique<Http2ClientSession>(port, std::move(authority), settings);
}

}  // namespace backplane
