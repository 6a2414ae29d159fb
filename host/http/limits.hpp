// The limits of one connection: sizes, times and counts that every protocol session enforces.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace backplane {

struct HttpLimits {
  // A larger header block gets 431.
  std::size_t max_header_bytes = 1 << 20;
  // From the first byte of a request (HTTP/1.1: or of the connection) to the end of its headers.
  std::chrono::milliseconds read_header_timeout{32'000};
  // A connection without requests is closed after this.
  std::chrono::milliseconds idle_timeout{90'000};
  // A body that a handler waits for must make progress within this.
  std::chrono::milliseconds body_timeout{60'000};
  // A connection whose peer reads nothing of the pending output for this time is closed.
  std::chrono::milliseconds write_timeout{120'000};
  // The same once the server is about to stop.
  std::chrono::milliseconds last_write_timeout{5'000};

  // Exchange::write waits while more than this is unsent.
  std::size_t write_window = 256 << 10;
  // Body bytes held for a handler that does not read yet (HTTP/1.1; HTTP/2 has its stream window).
  std::size_t read_window = 256 << 10;
  // Unread bytes of a body that are discarded to keep an HTTP/1.1 connection open; if there are more, the connection is closed.
  std::size_t max_discarded_body = 256 << 10;

  bool gzip = true;
  std::size_t gzip_threshold = 128 << 10;

  std::uint32_t h2_max_concurrent_streams = 100;
  std::uint32_t h2_stream_window = 256 << 10;
  std::uint32_t h2_max_frame_size = 256 << 10;
  // A stream that the peer has reset counts against the maximum of streams while its handler runs. If more than this many times the maximum
  // wait for their turn, the connection is closed with ENHANCE_YOUR_CALM.
  std::uint32_t h2_waiting_streams_factor = 4;
};

}  // namespace backplane
