#include "http/http2_callbacks.hpp"

#include <cstring>
#include <new>

#include "base/coarse_clock.hpp"
#include "http/http2_session.hpp"

namespace backplane {

struct Http2Callbacks {
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }
  static std::string_view text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }
  static bool request_headers(const nghttp2_frame* frame) {
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& session = self(user);
    session.header_open_ = true;
    session.header_since_ = coarse_now();
    if (request_headers(frame)) session.begin_stream(frame->hd.stream_id);
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    Http2Session& session = self(user);
    auto* stream = session.stream(frame->hd.stream_id);
    if (stream == nullptr || session.add_header(*stream, text(name, name_size), text(value, value_size))) return 0;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& session = self(user);
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        session.header_open_ = false;
        if (request_headers(frame)) {
          session.headers_complete(frame->hd.stream_id, !ends);
          return 0;
        }
        [[fallthrough]];  // trailers end a body, like a DATA frame with END_STREAM
      case NGHTTP2_DATA:
        if (auto* stream = session.stream(frame->hd.stream_id); ends && stream != nullptr && stream->exchange)
          stream->exchange->body_ended();
        return 0;
      case NGHTTP2_SETTINGS:
        session.settings_seen_ = true;
        return 0;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) session.final_goaway();
        return 0;
      default:
        return 0;
    }
  }

  static int data_chunk(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size, void* user) {
    self(user).body_arrived(id, text(data, size));
    return 0;
  }

  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool of_response = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (of_response && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) self(user).response_sent(frame->hd.stream_id);
    return 0;
  }

  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    self(user).stream_closed(id);
    return 0;
  }

  // nghttp2 calls send_data() for a DATA frame of the length that read_output() has returned. send_data() appends the frame header and the
  // body to the session's output. While the frame waited for room, its exchange may have been aborted and may have dropped its output; the
  // stream is then reset.
  static int send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* frame_header, std::size_t length, nghttp2_data_source* source,
                       void* user) {
    constexpr std::size_t kFrameHeader = 9;
    Http2Session& session = self(user);
    auto& exchange = *static_cast<HttpExchange*>(source->ptr);
    if (exchange.output_size() < length) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (session.out_->size() >= session.budget_) return NGHTTP2_ERR_WOULDBLOCK;
    session.out_->append(reinterpret_cast<const char*>(frame_header), kFrameHeader);
    exchange.take(*session.out_, length);
    return 0;
  }

  static const nghttp2_session_callbacks* make() {
    nghttp2_session_callbacks* table = nullptr;
    if (nghttp2_session_callbacks_new(&table) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_headers_callback(table, begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(table, header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(table, frame_received);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, data_chunk);
    nghttp2_session_callbacks_set_on_frame_send_callback(table, frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(table, stream_closed);
    nghttp2_session_callbacks_set_send_data_callback(table, send_data);
    return table;
  }
};

const nghttp2_session_callbacks* http2_callbacks() {
  static const nghttp2_session_callbacks* table = Http2Callbacks::make();
  return table;
}

}  // namespace backplane
