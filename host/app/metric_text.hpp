// The parts of Prometheus' text format, version 0.0.4, with numbers as Go prints them ("1e+06"). MetricLines puts lines together from them.
//
// Thread-safety: pure.
// Errors:        none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// A text in pieces of some 64 KiB: the allocator maps a larger piece separately, with new pages each time.
class TextPieces {
 public:
  TextPieces() : pieces_(1) {}
  // The piece to append lines to.
  std::string& last() noexcept { return pieces_.back(); }
  // Called between two series: the next one may begin a new piece.
  void cut() {
    if (last().size() >= kPiece) begin();
  }
  // Adds a text of whole lines.
  void add(std::string text) {
    if (last().empty()) {
      last() = std::move(text);
    } else if (text.size() < kPiece / 2) {
      last().append(text);
    } else {
      pieces_.push_back(std::move(text));
    }
    cut();
  }
  std::vector<std::string> take() { return std::move(pieces_); }

 private:
  static constexpr std::size_t kPiece = 64 << 10, kRoom = 16 << 10;
  void begin() { pieces_.emplace_back().reserve(kPiece + kRoom); }
  std::vector<std::string> pieces_;
};

// Appends the HELP and TYPE lines of a family. `type`: "counter", "gauge", "histogram" or "summary".
void append_family_head(std::string& out, std::string_view name, std::string_view help, std::string_view type);
// Appends the value of a label, with backslashes, line breaks and quotation marks escaped.
void append_label_value(std::string& out, std::string_view value);
// Appends a number as strconv.FormatFloat(number, 'g', -1, 64) prints it.
void append_go_number(std::string& out, double number);

}  // namespace backplane
