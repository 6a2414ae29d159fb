// The text of an ordered list of rows, held as compressed pieces: after a change of some rows only the pieces that contain them are
// rendered and compressed again. Rows that change again and again get pieces of their own, so that their neighbours stay compressed.
//
//   rows.note(changed, former);                  // which rows have changed
//   rows.render(head, append_row);               // the text of the changed pieces; needs the rows
//   rows.pack(compressor, most)                  // compresses it; does not need the rows
//   rows.add_to(assembly);
//
// Memory: the compressed text (a 27th of that of 5,000 histograms), 80 bytes for each piece and two for each row.
//
// Thread-safety: belongs to one thread at a time.
// Errors:        none but std::bad_alloc. After it, the object must be destroyed; also if pack() was not called until it returned true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/gzip_pieces.hpp"

namespace backplane {

class PackedRows {
 public:
  static constexpr std::uint32_t kNew = 0xffffffff;
  // A piece's text is at most this long, unless the piece has a single row that is longer. Compressing a piece takes some 40 µs.
  static constexpr std::size_t kPiece = 32 << 10;

  // `changed`: for each row, whether its text may differ from that of the previous note().
  // `former`: for each row, its position in the previous note(), or kNew for a new row. The positions are in ascending order. An empty
  // `former`: the rows are the same as before.
  void note(std::span<const std::uint8_t> changed, std::span<const std::uint32_t> former);
  // False until the first note(): there is nothing to keep up to date.
  bool in_use() const noexcept { return !pieces_.empty(); }
  // The text begins with `head`, which does not change. `append(row, out)` appends the row's text, which may be empty.
  using AppendRow = std::function<void(std::size_t row, std::string& out)>;
  void render(std::string_view head, const AppendRow& append);
  // Compresses about `most` bytes of the rendered text, and reduces `most` by what it has compressed. Returns false if some are left.
  bool pack(PieceCompressor& compressor, std::size_t& most);

  // The sum of the text, including the head. Valid after pack() has returned true.
  const TextSum& sum() const noexcept { return sum_; }
  void add_to(GzipAssembly& assembly) const;
  std::size_t pieces_for_test() const noexcept { return pieces_.size(); }

 private:
  struct Piece {
    std::uint32_t rows = 0;
    std::uint8_t quiet = 0;  // calls of note() without a change of this piece
    bool dirty = true;
    GzipPiece packed = {};
  };
  class Follower;
  void mark(std::span<const std::uint8_t> changed);
  void merge_quiet();
  void pack_piece(PieceCompressor& compressor, Piece& piece);

  std::vector<Piece> pieces_;
  std::vector<std::uint8_t> turns_;  // by row: the turn (call of note()) of its last change; 0: none yet
  std::vector<std::uint8_t> hot_;    // by row: it has changed in several of the last turns
  std::uint8_t turn_ = 0;
  bool dirty_ = false;  // one of the pieces is dirty
  TextSum sum_;

  // Used between render() and the end of pack():
  std::string text_;                 // the text of the dirty pieces
  std::vector<std::uint32_t> ends_;  // the ends of their rows in text_
  std::size_t next_piece_ = 0, next_row_ = 0, next_end_ = 0;
  std::size_t text_begin_ = 0;
  std::vector<Piece> made_;  // the pieces up to next_piece_
};

}  // namespace backplane
