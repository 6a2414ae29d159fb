// Tests only: reads a gzip stream with zlib, which checks its length and its CRC.
#pragma once

#include <zlib.h>

#include <string>
#include <vector>

#include "backplane/core/bytes.hpp"

namespace backplane {

// The text. If the stream is malformed or does not end: "?" followed by the text so far.
inline std::string gunzipped(const std::vector<SharedBytes>& chunks) {
  std::string packed, out;
  for (const SharedBytes& chunk : chunks) packed.append(chunk.view());
  z_stream z{};
  inflateInit2(&z, 15 + 16);
  z.next_in = reinterpret_cast<Bytef*>(packed.data());
  z.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK) {
    char buffer[4096];
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof buffer;
    status = inflate(&z, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - z.avail_out);
  }
  const bool ended = status == Z_STREAM_END && z.avail_in == 0;
  inflateEnd(&z);
  return ended ? out : "?" + out;
}

}  // namespace backplane
