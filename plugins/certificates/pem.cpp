#include "pem.hpp"

#include <algorithm>

#include "backplane/types/base64.hpp"

namespace backplane::certificates {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";

// Removes the first line of `text` and returns it without trailing blanks.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  const auto last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Removes the lines "Name: value" at the start of `text`; a line without a colon ends them. Returns true if there are any.
bool take_headers(std::string_view& text) {
  bool found = false;
  for (std::string_view rest = text; !rest.empty(); text = rest) {
    const std::string_view line = take_line(rest);
    if (line.find(':') == std::string_view::npos) break;
    found = true;
  }
  return found;
}

// Returns the position of the first line that begins with `mark`.
std::size_t find_line(std::string_view text, std::string_view mark) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return at;
  }
  return std::string_view::npos;
}

// Reads a block of `type`, and removes it from `text`, which begins after the opening line of the block.
std::optional<PemBlock> read_block(std::string_view type, std::string_view& text) {
  PemBlock block;
  block.type = type;
  std::string_view rest = text;
  block.headers = take_headers(rest);
  const std::size_t end = find_line(rest, kEnd);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view tail = rest.substr(end + kEnd.size());
  const std::string_view closing = take_line(tail);
  if (!closing.ends_with(kDashes) || closing.substr(0, closing.size() - kDashes.size()) != type) return std::nullopt;
  std::string body(rest.substr(0, end));
  body.erase(std::remove_if(body.begin(), body.end(), is_blank), body.end());
  auto bytes = from_base64(body);
  if (!bytes) return std::nullopt;
  block.bytes = std::move(*bytes);
  text = tail;
  return block;
}

}  // namespace

std::optional<PemBlock> next_pem_block(std::string_view& text) {
  for (;;) {
    const std::size_t begin = find_line(text, kBegin);
    if (begin == std::string_view::npos) return std::nullopt;
    text.remove_prefix(begin + kBegin.size());
    const std::string_view opening = take_line(text);
    if (!opening.ends_with(kDashes)) continue;
    if (auto block = read_block(opening.substr(0, opening.size() - kDashes.size()), text)) return block;
  }
}

}  // namespace backplane::certificates
