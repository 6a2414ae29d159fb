#include "app/packed_rows.hpp"

#include <algorithm>
#include <cstring>

namespace backplane {
namespace {

constexpr std::uint8_t kTurns = 255;      // a turn is a call of note(); turns are counted from 1 to kTurns, and then from 1 again
constexpr std::uint8_t kHotTurns = 4;     // a row that changes twice within so many turns is hot
constexpr std::size_t kHotShare = 4;      // a piece is split only if at most a quarter of its rows, or all of them, are hot
constexpr std::uint8_t kQuietTurns = 16;  // pieces that have not changed for so many turns may be merged
constexpr std::size_t kMerges = 2;        // number of merges in one turn: each merged piece is compressed again
constexpr std::size_t kSplit = 8 << 10;   // a smaller piece is not split
constexpr std::size_t kShort = 2 << 10;   // unchanged rows before a hot row are compressed together with it if their text is shorter

bool has_change(std::span<const std::uint8_t> changed) {
  return !changed.empty() && std::memchr(changed.data(), 1, changed.size()) != nullptr;
}

}  // namespace

// Moves the pieces to the rows' new positions.
class PackedRows::Follower {
 public:
  explicit Follower(std::vector<Piece> pieces) : old_(std::move(pieces)) { begin_next(); }

  void add(std::uint32_t former) {
    if (former == kNew) {
      now_.dirty = true;  // the row joins the piece of the row before it
    } else {
      while (former >= old_end_) {
        keep();
        ++index_;
        begin_next();
      }
      ++survivors_;
    }
    ++now_.rows;
  }
  std::vector<Piece> finish() {
    keep();
    if (out_.empty()) out_.push_back({});
    if (index_of_first_ != 0) out_.front().dirty = true;  // the head is rendered with the first piece
    return std::move(out_);
  }

 private:
  void begin_next() {
    now_ = std::move(old_[index_]);
    old_rows_ = now_.rows;
    old_end_ += now_.rows;
    now_.rows = 0;
    survivors_ = 0;
  }
  void keep() {
    if (now_.rows == 0) return;
    if (survivors_ != old_rows_) now_.dirty = true;
    if (out_.empty()) index_of_first_ = index_;
    out_.push_back(std::move(now_));
  }

  std::vector<Piece> old_, out_;
  std::size_t index_ = 0, index_of_first_ = 0;
  Piece now_;
  std::uint32_t old_rows_ = 0, old_end_ = 0, survivors_ = 0;
};

void PackedRows::note(std::span<const std::uint8_t> changed, std::span<const std::uint32_t> former) {
  turn_ = static_cast<std::uint8_t>(turn_ % kTurns + 1);
  if (pieces_.empty()) {
    pieces_.push_back({.rows = static_cast<std::uint32_t>(changed.size())});
    turns_.assign(changed.size(), 0);
    hot_.assign(changed.size(), 0);
  } else if (!former.empty() || changed.size() != turns_.size()) {
    Follower follower(std::move(pieces_));
    std::vector<std::uint8_t> turns;
    turns.reserve(former.size());
    for (const std::uint32_t place : former) {
      follower.add(place);
      turns.push_back(place == kNew ? std::uint8_t{0} : turns_[place]);
    }
    pieces_ = follower.finish();
    turns_ = std::move(turns);
    hot_.assign(changed.size(), 0);
  }
  mark(changed);
  merge_quiet();
  dirty_ = std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return piece.dirty; });
}

void PackedRows::mark(std::span<const std::uint8_t> changed) {
  std::size_t first = 0;
  for (Piece& piece : pieces_) {
    const std::size_t end = first + piece.rows;
    if (!has_change(changed.subspan(first, piece.rows))) {
      piece.quiet = static_cast<std::uint8_t>(std::min<unsigned>(piece.quiet + 1U, kQuietTurns));
      first = end;
      continue;
    }
    piece.dirty = true;
    std::size_t hot = 0;
    for (std::size_t row = first; row != end; ++row) {
      hot_[row] = 0;
      if (changed[row] == 0) continue;
      const int age = (turn_ + kTurns - turns_[row]) % kTurns;
      hot_[row] = turns_[row] != 0 && age <= kHotTurns ? 1 : 0;
      hot += hot_[row];
      turns_[row] = turn_;
    }
    // A piece of which more than a quarter of the rows are hot, but not all, is not split.
    if (hot < piece.rows && hot * kHotShare > piece.rows) std::fill_n(hot_.begin() + static_cast<std::ptrdiff_t>(first), piece.rows, 0);
    first = end;
  }
}

void PackedRows::merge_quiet() {
  const auto mergeable = [](const Piece& piece) { return !piece.dirty && piece.quiet >= kQuietTurns; };
  std::size_t left = kMerges, first = 0;
  for (std::size_t i = 0; i + 1 < pieces_.size() && left > 0; first += pieces_[i++].rows) {
    Piece& piece = pieces_[i];
    const Piece& next = pieces_[i + 1];
    if (!mergeable(piece) || !mergeable(next) || piece.packed.sum.size() + next.packed.sum.size() > kPiece) continue;
    piece.rows += next.rows;
    piece.dirty = true;
    std::fill_n(hot_.begin() + static_cast<std::ptrdiff_t>(first), piece.rows, 0);
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    --left;
  }
}

void PackedRows::render(std::string_view head, const AppendRow& append) {
  if (!dirty_) return;
  text_.clear();
  ends_.clear();
  made_.clear();
  next_piece_ = next_row_ = next_end_ = text_begin_ = 0;
  if (!pieces_.empty() && pieces_.front().dirty) text_ = head;
  std::size_t row = 0;
  for (const Piece& piece : pieces_) {
    const std::size_t end = row + piece.rows;
    for (; piece.dirty && row != end; ++row) {
      append(row, text_);
      ends_.push_back(static_cast<std::uint32_t>(text_.size()));
    }
    row = end;
  }
}

bool PackedRows::pack(PieceCompressor& compressor, std::size_t& most) {
  if (!dirty_) return true;
  made_.reserve(pieces_.size());
  while (next_piece_ < pieces_.size()) {
    Piece& piece = pieces_[next_piece_];
    if (piece.dirty) {
      if (most == 0) return false;
      pack_piece(compressor, piece);
      most -= std::min<std::size_t>(most, made_.back().packed.sum.size());
      if (piece.rows != 0) continue;
    } else {
      next_row_ += piece.rows;
      made_.push_back(std::move(piece));
    }
    ++next_piece_;
  }
  pieces_ = std::move(made_);
  made_.clear();
  if (text_.capacity() > kPiece) std::string().swap(text_);
  dirty_ = false;
  sum_ = {};
  for (const Piece& piece : pieces_) sum_.append(piece.packed.sum);
  sum_.seal();
  return true;
}

// Packs the first rows of a dirty piece, together with the head if the piece is the first one, and removes these rows from `piece`.
void PackedRows::pack_piece(PieceCompressor& compressor, Piece& piece) {
  const std::size_t all_end = piece.rows == 0 ? text_.size() : ends_[next_end_ + piece.rows - 1];
  const bool whole = all_end - text_begin_ <= kSplit;
  bool hot = false;
  std::uint32_t rows = 0;
  std::size_t end = piece.rows == 0 ? all_end : text_begin_;
  for (; rows < piece.rows; ++rows) {
    const std::size_t row_end = ends_[next_end_ + rows];
    const bool row_hot = hot_[next_row_ + rows] != 0;
    if (rows > 0 && row_end - text_begin_ > kPiece) break;
    if (rows > 0 && !whole && row_hot != hot && (hot || end - text_begin_ >= kShort)) break;
    hot = row_hot || (whole && hot);
    end = row_end;
  }
  Piece& made = made_.emplace_back();
  made.rows = rows;
  made.dirty = false;
  const std::string_view text = std::string_view(text_).substr(text_begin_, end - text_begin_);
  made.packed = hot ? compressor.compress_briefly(text) : compressor.compress(text);
  piece.rows -= rows;
  next_row_ += rows;
  next_end_ += rows;
  text_begin_ = end;
}

void PackedRows::add_to(GzipAssembly& assembly) const {
  for (const Piece& piece : pieces_) assembly.add(piece.packed.bytes);
  assembly.add(sum_);
}

}  // namespace backplane
