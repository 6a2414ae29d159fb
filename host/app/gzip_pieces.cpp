#include "app/gzip_pieces.hpp"

#include <zlib.h>

#include <array>
#include <new>
#include <string>

namespace backplane {
namespace {

constexpr int kLevel = 1;
constexpr int kRawDeflate = -15;  // no header and no trailer
constexpr int kMemoryLevel = 8;
constexpr std::size_t kOutputStep = 16 << 10;

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

}  // namespace

TextSum TextSum::of(std::string_view text) {
  TextSum out;
  out.size_ = text.size();
  out.crc_ = static_cast<std::uint32_t>(crc32_z(0, bytes_of(text), text.size()));
  out.seal();
  return out;
}

void TextSum::append(const TextSum& next) {
  if (next.size_ == 0) return;
  crc_ = size_ == 0 ? next.crc_ : static_cast<std::uint32_t>(crc32_combine_op(crc_, next.crc_, next.shift_));
  size_ += next.size_;
}

void TextSum::seal() { shift_ = static_cast<std::uint32_t>(crc32_combine_gen(static_cast<z_off_t>(size_))); }

struct PieceCompressor::State {
  z_stream stream{};
  std::string out;
};

PieceCompressor::PieceCompressor() : state_(std::make_unique<State>()) {
  if (deflateInit2(&state_->stream, kLevel, Z_DEFLATED, kRawDeflate, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
}
PieceCompressor::~PieceCompressor() { deflateEnd(&state_->stream); }

GzipPiece PieceCompressor::compress(std::string_view text) {
  z_stream& z = state_->stream;
  std::string& out = state_->out;
  deflateReset(&z);
  z.next_in = const_cast<Bytef*>(bytes_of(text));  // zlib declares it without const, but does not write to it
  z.avail_in = static_cast<uInt>(text.size());
  std::size_t used = 0;
  do {
    if (out.size() < used + kOutputStep) out.resize(used + kOutputStep);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    z.avail_out = static_cast<uInt>(out.size() - used);
    deflate(&z, Z_SYNC_FLUSH);
    used = out.size() - z.avail_out;
  } while (z.avail_out == 0);
  const std::string_view packed(out.data(), used);
  return {SharedBytes::concat({&packed, 1}), TextSum::of(text)};
}

GzipPiece PieceCompressor::compress_briefly(std::string_view text) {
  constexpr std::size_t kShort = 6 << 10;
  if (text.size() > kShort || stored_ + text.size() > kMostStored) return compress(text);
  stored_ += text.size();
  const auto size = static_cast<unsigned>(text.size());
  const std::array<char, 5> head = {0, static_cast<char>(size & 0xff), static_cast<char>(size >> 8 & 0xff), static_cast<char>(~size & 0xff),
                                    static_cast<char>(~size >> 8 & 0xff)};
  const std::array<std::string_view, 2> parts = {std::string_view(head.data(), head.size()), text};
  return {SharedBytes::concat(parts), TextSum::of(text)};
}

GzipAssembly::GzipAssembly() {
  // Magic numbers, deflate, no flags, no time, compressed for speed, Unix.
  constexpr std::string_view kHeader("\x1f\x8b\x08\0\0\0\0\0\x04\x03", 10);
  add(SharedBytes::from_static(kHeader));
}

std::vector<SharedBytes> GzipAssembly::finish() {
  std::string trailer("\x03\0", 2);  // an empty last block
  for (const auto number : {sum_.crc(), static_cast<std::uint32_t>(sum_.size())}) {
    for (int shift = 0; shift < 32; shift += 8) trailer.push_back(static_cast<char>(number >> shift & 0xff));
  }
  add(SharedBytes(std::move(trailer)));
  return std::move(out_);
}

}  // namespace backplane
