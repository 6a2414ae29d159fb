// The limits of one connection: sizes, times and counts. The HTTP/1.1 and HTTP/2 sessions enforce them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace backplane {

struct HttpLimits {
  // A request with more header bytes gets 431.
  std::size_t max_header_bytes = 1 << 20;
  // Maximum time from the first byte of a request to the end of its headers. For the first request on HTTP/1.1, the time begins when the
  // connection is open, i.e. after the TLS handshake.
  std::chrono::milliseconds read_header_timeout{32'000};
  // A connection without a request is closed after this time.
  std::chrono::milliseconds idle_timeout{90'000};
  // Maximum time between two arrivals of body bytes while a handler waits for the body.
  std::chrono::milliseconds body_timeout{60'000};
  // A connection is closed if its peer reads none of the pending output for this time.
  std::chrono::milliseconds write_timeout{120'000};
  // The write timeout after the server has begun to stop, if it is shorter than write_timeout.
  std::chrono::milliseconds last_write_timeout{5'000};

  // Exchange::write() waits while more bytes than this are unsent.
  std::size_t write_window = 256 << 10;
  // HTTP/1.1: the session stops reading a body while this many bytes are unread by the handler. HTTP/2 uses h2_stream_window.
  std::size_t read_window = 256 << 10;
  // HTTP/1.1: the session discards this many unread bytes of a body to keep the connection open. If there are more, the connection is
  // closed.
  std::size_t max_discarded_body = 256 << 10;

  bool gzip = true;
  std::size_t gzip_threshold = 128 << 10;

  std::uint32_t h2_max_concurrent_streams = 100;
  std::uint32_t h2_stream_window = 256 << 10;
  std::uint32_t h2_max_frame_size = 256 << 10;
  // A stream that the peer has reset still counts against h2_max_concurrent_streams while its handler runs. If more than this many times
  // h2_max_concurrent_streams exchanges wait for a handler, the connection is closed with ENHANCE_YOUR_CALM.
  std::uint32_t h2_waiting_streams_factor = 4;
};

}  // namespace backplane
