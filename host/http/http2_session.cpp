#include "http/http2_session.hpp"

#include <algorithm>

#include "base/coarse_clock.hpp"
#include "http/header_pool.hpp"
#include "http/header_text.hpp"
#include "http/http2_callbacks.hpp"
#include "http/http2_head.hpp"
#include "http/log.hpp"

namespace backplane {
namespace {

// How long the client may take to acknowledge the PING of drain().
constexpr std::chrono::seconds kNoticeTimeout{1};
constexpr std::uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n', 0, 0, 0};
// After a response, the session discards the rest of the request body within these limits and only then resets the stream, because many
// clients treat a reset as an error, whatever its code.
constexpr std::chrono::seconds kDiscardTimeout{5};
constexpr std::size_t kMaxDiscarded = 16 << 20;
// Like maxQueuedControlFrames of net/http.
constexpr std::size_t kMaxQueuedFrames = 10'000;
// A CONTINUATION frame usually has up to 16 KiB.
constexpr std::size_t kUsualFrame = 16 << 10;
// A request whose headers exceed max_header_bytes gets 431. If they exceed it by more than this factor, the connection is closed.
constexpr std::size_t kHeaderBytesFactor = 2;

struct OptionsDeleter {
  void operator()(nghttp2_option* options) const { nghttp2_option_del(options); }
};

std::unique_ptr<nghttp2_option, OptionsDeleter> session_options(const HttpLimits& limits) {
  nghttp2_option* raw = nullptr;
  if (nghttp2_option_new(&raw) != 0) throw std::bad_alloc();
  std::unique_ptr<nghttp2_option, OptionsDeleter> options(raw);
  nghttp2_option_set_no_auto_window_update(raw, 1);  // the session extends windows when handlers read
  nghttp2_option_set_no_closed_streams(raw, 1);
  nghttp2_option_set_max_continuations(raw, limits.max_header_bytes / kUsualFrame + 16);
  return options;
}

}  // namespace

std::shared_ptr<Http2Session> Http2Session::make(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer) {
  return std::shared_ptr<Http2Session>(new Http2Session(transport, runner, std::move(peer)));
}

Http2Session::Http2Session(SessionTransport& transport, HandlerRunner& runner, std::shared_ptr<const PeerInfo> peer)
    : transport_(&transport), runner_(runner), limits_(runner.limits()), peer_(std::move(peer)) {
  const auto options = session_options(limits_);
  if (nghttp2_session_server_new2(&session_, http2_callbacks(), this, options.get()) != 0) throw std::bad_alloc();
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, limits_.h2_max_frame_size},
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.h2_max_concurrent_streams},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits_.max_header_bytes)},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits_.h2_stream_window},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  const std::uint64_t window = std::uint64_t{limits_.h2_stream_window} * limits_.h2_max_concurrent_streams;
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(std::min<std::uint64_t>(window, INT32_MAX)));
  want_flush();
}

Http2Session::~Http2Session() { nghttp2_session_del(session_); }

void Http2Session::want_flush() {
  if (transport_ != nullptr) transport_->want_flush();
}

void Http2Session::fail() {
  failed_ = true;
  waiting_.clear();
  for (auto& [_, stream] : streams_) {
    if (stream.exchange) stream.exchange->lost();
  }
  want_flush();
}

// ---- input

void Http2Session::receive(std::string_view bytes) {
  if (failed_) return;
  const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) {
    http_log().debug("closing an HTTP/2 connection peer={} error={}", peer_->remote_address, nghttp2_strerror(static_cast<int>(used)));
    return fail();
  }
  // RST_STREAM frames stay in this queue until the client reads. The limit prevents that a client that never reads exhausts the memory.
  if (nghttp2_session_get_outbound_queue_size(session_) > kMaxQueuedFrames) {
    http_log().debug("closing an HTTP/2 connection whose client does not read responses peer={}", peer_->remote_address);
    return fail();
  }
  start_waiting();
  want_flush();
}

void Http2Session::receive_end() { fail(); }

Http2Session::Stream* Http2Session::stream(std::int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : &found->second;
}

void Http2Session::begin_stream(std::int32_t id) {
  RequestHead& head = streams_[id].head;
  head.major = 2;
  head.headers = take_headers();
}

// Few compressed bytes can expand to many long headers. If a client exceeds the limit by the factor kHeaderBytesFactor, the connection is
// closed without a response.
bool Http2Session::add_header(Stream& stream, std::string_view name, std::string_view value) {
  stream.header_bytes += name.size() + value.size() + 32;  // the size of a header according to RFC 9113
  if (stream.header_bytes > limits_.max_header_bytes * kHeaderBytesFactor) return false;
  if (stream.exchange || stream.header_too_large) return true;  // a trailer, or a header of a request that is refused
  if (stream.header_bytes > limits_.max_header_bytes) {
    stream.header_too_large = true;
    stream.head = {};
    return true;
  }
  RequestHead& head = stream.head;
  if (name == ":method") {
    head.method = value;
  } else if (name == ":path") {
    head.target = value;
  } else if (name == ":authority") {
    head.headers.emplace_back("host", value);
  } else if (!name.starts_with(':')) {
    if (name == "host" && !find_header(head.headers, "host").empty()) return true;  // :authority has precedence over host
    head.headers.emplace_back(name, value);
  }
  return true;
}

void Http2Session::headers_complete(std::int32_t id, bool body_follows) {
  Stream* stream = this->stream(id);
  if (stream == nullptr || stream->exchange) return;
  if (stream->header_too_large) return refuse(id, 431);
  if (!stream->head.target.starts_with('/') && stream->head.target != "*") return refuse(id, 400);
  const std::string_view length = find_header(stream->head.headers, "content-length");
  if (!length.empty()) stream->head.content_length = std::strtoull(std::string(length).c_str(), nullptr, 10);
  stream->exchange = std::allocate_shared<HttpExchange>(FrameAllocator<HttpExchange>(), std::move(stream->head), peer_, limits_, *this);
  stream->exchange->id = id;
  if (!body_follows) stream->exchange->body_ended();
  waiting_.push_back(stream->exchange);
  if (waiting_.size() > std::size_t{limits_.h2_max_concurrent_streams} * limits_.h2_waiting_streams_factor) {
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

void Http2Session::refuse(std::int32_t id, int code) {
  ResponseHead head;
  head.code = code;
  head.has_body = false;
  head.content_length = 0;
  submit_http2_head(session_, id, head, nullptr);
  want_flush();
}

void Http2Session::start_waiting() {
  if (starting_) return;  // a handler has ended inside run(); the loop in the outer call continues
  starting_ = true;
  while (!waiting_.empty() && running_ < limits_.h2_max_concurrent_streams) {
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next->closed()) continue;  // the stream was reset while its exchange waited
    ++running_;
    runner_.run(next);
  }
  starting_ = false;
}

void Http2Session::handler_ended(HttpExchange&) {
  --running_;
  if (!failed_) start_waiting();
}

void Http2Session::body_arrived(std::int32_t id, std::string_view bytes) {
  Stream* stream = this->stream(id);
  if (stream != nullptr && stream->exchange && !stream->exchange->closed() && !stream->exchange->output_ended()) {
    stream->exchange->body_arrived(bytes);
  } else {
    nghttp2_session_consume(session_, id, bytes.size());  // the body is discarded
    if (stream == nullptr || !stream->discarding) return;
    stream->discarded += bytes.size();
    if (stream->discarded > kMaxDiscarded) stop_upload(*stream, id);
  }
}

// ---- output

void Http2Session::fill(std::string& out, std::size_t budget) {
  if (failed_) return;
  out_ = &out;
  budget_ = budget;
  while (out.size() < budget) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) {
      fail();
      break;
    }
    if (size == 0) break;
    out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  out_ = nullptr;
}

bool Http2Session::finished() const {
  return failed_ || (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

void Http2Session::head_ready(HttpExchange& exchange) {
  const ResponseHead& head = exchange.response_head();
  if (header_has_token(head.headers, "Connection", "close")) drain();
  submit_http2_head(session_, exchange.id, head, head.has_body ? &exchange : nullptr);
  want_flush();
}

void Http2Session::output_ready(HttpExchange& exchange) {
  if (!exchange.parked) return want_flush();
  exchange.parked = false;
  nghttp2_session_resume_data(session_, exchange.id);
  want_flush();
}

void Http2Session::body_wanted(HttpExchange& exchange) {
  if (exchange.head_sent() || !equal_ignoring_case(exchange.header("expect"), "100-continue")) return;
  submit_http2_continue(session_, exchange.id);
  want_flush();
}

void Http2Session::body_consumed(HttpExchange& exchange, std::size_t count) {
  nghttp2_session_consume(session_, exchange.id, count);
  want_flush();
}

void Http2Session::release_body(HttpExchange& exchange) {
  const std::size_t unread = exchange.drop_body();
  if (unread > 0) nghttp2_session_consume_connection(session_, unread);
}

// Asks the client to stop sending a body that is not read. The response is not affected.
void Http2Session::stop_upload(Stream& stream, std::int32_t id) {
  stream.discarding = false;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  want_flush();
}

void Http2Session::response_sent(std::int32_t id) {
  Stream* stream = this->stream(id);
  if (stream == nullptr) return;
  const auto exchange = stream->exchange;
  const bool body_open = exchange ? !exchange->body_complete() : true;
  stream->discarding = body_open;
  stream->discarding_since = coarse_now();
  if (!exchange) return;
  release_body(*exchange);
  exchange->detach();
}

void Http2Session::stream_closed(std::int32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto exchange = std::move(found->second.exchange);
  streams_.erase(found);
  idle_since_ = coarse_now();
  if (!exchange) return;
  release_body(*exchange);
  exchange->lost();  // has no effect after detach(), i.e. if the response has been sent
}

void Http2Session::break_off(HttpExchange& exchange) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange.id, NGHTTP2_INTERNAL_ERROR);
  release_body(exchange);
  exchange.lost();
  want_flush();
}

// ---- lifetime

void Http2Session::connection_lost() {
  transport_ = nullptr;
  if (!failed_) fail();
}

void Http2Session::drain() {
  if (failed_ || drain_ != Drain::kNo) return;
  drain_ = Drain::kNoticeSent;
  drain_since_ = Clock::now();
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kDrainPing);
  want_flush();
}

void Http2Session::final_goaway() {
  if (drain_ != Drain::kNoticeSent) return;
  drain_ = Drain::kFinal;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR, nullptr, 0);
  want_flush();
}

void Http2Session::tick(Clock::time_point now) {
  if (failed_) return;
  for (auto& [id, stream] : streams_) {
    if (stream.discarding && now - stream.discarding_since > kDiscardTimeout) stop_upload(stream, id);
    if (stream.exchange && stream.exchange->stalled(now)) break_off(*stream.exchange);
  }
  if (drain_ == Drain::kNoticeSent && now - drain_since_ >= kNoticeTimeout) final_goaway();
  const bool head_late = (header_open_ || !settings_seen_) && now - header_since_ > limits_.read_header_timeout;
  if (head_late) return fail();
  if (streams_.empty() && now - idle_since_ > limits_.idle_timeout) drain();
}

}  // namespace backplane
