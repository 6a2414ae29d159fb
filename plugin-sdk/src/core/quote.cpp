// Quotes texts as Go's strconv.Quote does.
#include <string>

#include "backplane/core/status.hpp"
#include "text/utf8.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void append_hex(std::string& out, char32_t code, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out.push_back(kHex[(code >> shift) & 0xF]);
}

// unicode.IsPrint for the characters that names and messages contain: letters, marks, numbers, punctuation and symbols of every script.
bool printable(char32_t code) noexcept {
  if (code < 0xA1 || code == 0xAD) return false;
  if (code >= 0x2000 && code <= 0x200F) return false;
  if (code >= 0x2028 && code <= 0x202F) return false;
  if (code >= 0x205F && code <= 0x206F) return false;
  if (code == 0x1680 || code == 0x3000 || code == 0xFEFF) return false;
  if (code >= 0xE000 && code <= 0xF8FF) return false;
  if (code >= 0xFFF0 && code <= 0xFFFB) return false;
  return (code & 0xFFFE) != 0xFFFE && code < 0xE0000;
}

bool append_short_escape(std::string& out, char letter) {
  static constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kTo = "abfnrtv\\\"";
  const auto at = kFrom.find(letter);
  if (at == std::string_view::npos) return false;
  out.push_back('\\');
  out.push_back(kTo[at]);
  return true;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out.push_back('"');
  while (!text.empty()) {
    const Rune rune = decode_rune(text);
    if (!rune.valid || (rune.code < 0x80 && (rune.code < 0x20 || rune.code == 0x7F || rune.code == '"' || rune.code == '\\'))) {
      if (!rune.valid || !append_short_escape(out, text[0])) {
        out.append("\\x");
        append_hex(out, static_cast<unsigned char>(text[0]), 2);
      }
    } else if (rune.code < 0x80 || printable(rune.code)) {
      out.append(text.substr(0, rune.size));
    } else if (rune.code < 0x10000) {
      out.append("\\u");
      append_hex(out, rune.code, 4);
    } else {
      out.append("\\U");
      append_hex(out, rune.code, 8);
    }
    text.remove_prefix(rune.size);
  }
  out.push_back('"');
  return out;
}

}  // namespace BACKPLANE_API
