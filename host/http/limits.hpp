// What one connection may cost: sizes, times and counts that every protocol session keeps to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace backplane {

struct HttpLimits {
  // A larger header block is answered 431.
  std::size_t max_header_bytes = 1 << 20;
  // From the first byte of a request (HTTP/1.1: or of the connection) to the end of its headers.
  std::chrono::milliseconds read_header_timeout{32'000};
  // A connection without requests is closed after this.
  std::chrono::milliseconds idle_timeout{90'000};
  // A body that a handler waits for must make progress within this.
  std::chrono::milliseconds body_timeout{60'000};
  // A peer that takes nothing of what waits for it for so long is cut off.
  std::chrono::milliseconds write_timeout{120'000};
  // The same once the server is about to stop.
  std::chrono::milliseconds last_write_timeout{5'000};

  // Exchange::write waits while more than this is unsent.
  std::size_t write_window = 256 << 10;
  // Body bytes held for a handler that does not read yet (HTTP/1.1; HTTP/2 has its stream window).
  std::size_t read_window = 256 << 10;
  // Unread body that is thrown away to keep an HTTP/1.1 connection; past it the connection is closed.
  std::size_t max_discarded_body = 256 << 10;

  bool gzip = true;
  std::size_t gzip_threshold = 128 << 10;

  std::uint32_t h2_max_concurrent_streams = 100;
  std::uint32_t h2_stream_window = 256 << 10;
  std::uint32_t h2_max_frame_size = 256 << 10;
  // Streams the peer has reset whose handlers still run count against the streams of a connection; so many times the maximum may
  // wait for their turn before the connection is ended with ENHANCE_YOUR_CALM.
  std::uint32_t h2_waiting_streams_factor = 4;
};

}  // namespace backplane
