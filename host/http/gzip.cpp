#include "http/gzip.hpp"

#include <zlib.h>

#include <new>

namespace backplane {
namespace {
constexpr int kLevel = 1;
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;
constexpr std::size_t kOutputStep = 16 << 10;
}  // namespace

struct GzipStream::State {
  z_stream stream{};
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  if (deflateInit2(&state_->stream, kLevel, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
}
GzipStream::~GzipStream() { deflateEnd(&state_->stream); }

std::string GzipStream::add(std::string_view text) { return run(text, Z_NO_FLUSH); }
std::string GzipStream::end() { return run({}, Z_FINISH); }

std::string GzipStream::run(std::string_view text, int flush) {
  z_stream& z = state_->stream;
  std::string out;
  // zlib's input pointer is not const for historical reasons; it is not written to.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  for (;;) {
    const std::size_t used = out.size();
    out.resize(used + kOutputStep);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    z.avail_out = static_cast<uInt>(kOutputStep);
    deflate(&z, flush);
    out.resize(used + kOutputStep - z.avail_out);
    if (z.avail_out != 0) return out;  // deflate() stopped because it has no more input, not because the output is full.
  }
}

}  // namespace backplane
