#include "connections/packed_text.hpp"

#include <zlib.h>

namespace backplane::core {
namespace {

constexpr int kGzip = 15 + 16, kRawDeflate = -15;
constexpr std::size_t kStep = 64 << 10;

}  // namespace

struct PackedText::Streams {
  z_stream in{}, out{};
  bool failed = false;
  bool over = false;  // the compressed stream has ended
};

std::unique_ptr<PackedText> PackedText::of(std::string_view coding) {
  if (coding == "gzip") return std::unique_ptr<PackedText>(new PackedText(kGzip));
  if (coding == "deflate") return std::unique_ptr<PackedText>(new PackedText(kRawDeflate));
  return nullptr;
}

PackedText::PackedText(int window_bits) : streams_(std::make_unique<Streams>()) {
  constexpr int kMemory = 8;
  const bool reads = inflateInit2(&streams_->in, window_bits) == Z_OK;
  const bool writes = deflateInit2(&streams_->out, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  streams_->failed = !reads || !writes;
}

PackedText::~PackedText() {
  inflateEnd(&streams_->in);
  deflateEnd(&streams_->out);
}

bool PackedText::failed() const noexcept { return streams_->failed; }

std::string PackedText::unpack(std::string_view bytes) {
  std::string out;
  z_stream& z = streams_->in;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  bool full = true;  // zlib may have more output
  while (!streams_->failed && !streams_->over && (z.avail_in > 0 || full)) {
    const std::size_t before = out.size();
    out.resize(before + kStep);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    z.avail_out = kStep;
    const int code = inflate(&z, Z_NO_FLUSH);
    full = z.avail_out == 0;
    out.resize(out.size() - z.avail_out);
    streams_->over = code == Z_STREAM_END;
    streams_->failed = (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) || out.size() > kMost;
    if (code == Z_BUF_ERROR) break;
  }
  return out;
}

std::string PackedText::pack(std::string_view text, bool at_end) {
  std::string out;
  z_stream& z = streams_->out;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  if (streams_->failed || (text.empty() && !at_end)) return out;
  do {
    const std::size_t before = out.size();
    out.resize(before + kStep);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    z.avail_out = kStep;
    const int code = deflate(&z, at_end ? Z_FINISH : Z_SYNC_FLUSH);
    out.resize(out.size() - z.avail_out);
    streams_->failed = code == Z_STREAM_ERROR;
  } while (!streams_->failed && z.avail_out == 0);
  return out;
}

}  // namespace backplane::core
