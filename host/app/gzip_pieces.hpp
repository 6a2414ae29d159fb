// A gzip stream assembled from pieces that were compressed independently, so that a piece whose text has not changed is compressed once.
// Each piece is a sequence of whole deflate blocks that refer to no text outside the piece and end at a byte boundary.
//
// Thread-safety: a compressor belongs to one thread at a time; pieces are values.
// Errors:        none but std::bad_alloc: deflate of memory cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"

namespace backplane {

// Size and CRC of a text. append() makes the sum of a concatenation from the sums of its parts.
class TextSum {
 public:
  TextSum() = default;
  static TextSum of(std::string_view text);

  // `next` is the result of of(), or next.seal() has been called since its last append().
  void append(const TextSum& next);
  // Prepares this sum for being the argument of append(). Takes a microsecond; append() takes 50 nanoseconds.
  void seal();
  std::uint64_t size() const noexcept { return size_; }
  std::uint32_t crc() const noexcept { return crc_; }

 private:
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;
  std::uint32_t shift_ = 0;  // crc32_combine_gen() of size_
};

struct GzipPiece {
  SharedBytes bytes;
  TextSum sum;
};

class PieceCompressor {
 public:
  PieceCompressor();
  ~PieceCompressor();
  GzipPiece compress(std::string_view text);
  // For a text that will change soon: a short one is not compressed, because compressing it takes longer than sending the bytes that this
  // saves. That adds at most kMostStored bytes to a stream; they are counted from the last begin_stream().
  GzipPiece compress_briefly(std::string_view text);
  void begin_stream() noexcept { stored_ = 0; }
  static constexpr std::size_t kMostStored = 64 << 10;

 private:
  struct State;
  const std::unique_ptr<State> state_;
  std::size_t stored_ = 0;
};

// Assembles a gzip stream from pieces. The bytes of the pieces are shared, not copied.
class GzipAssembly {
 public:
  GzipAssembly();
  // Adds the bytes of one or several pieces, in the order of the text.
  void add(SharedBytes bytes) { out_.push_back(std::move(bytes)); }
  // Adds the sum of their text: once for each piece, or once for several pieces.
  void add(const TextSum& sealed) { sum_.append(sealed); }
  std::vector<SharedBytes> finish();

 private:
  std::vector<SharedBytes> out_;
  TextSum sum_;
};

}  // namespace backplane
