#include "http/http1_head.hpp"

#include <algorithm>
#include <charconv>

#include "http/header_text.hpp"

namespace backplane {
namespace {

// Framing is the session's: a handler's words about it are not passed on.
bool is_framing(std::string_view canonical) {
  return canonical == "Content-Length" || canonical == "Connection" || canonical == "Transfer-Encoding" || canonical == "Date";
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

}  // namespace

void append_http1_head(std::string& out, const ResponseHead& head, Http1Framing framing) {
  out += framing.http10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out += std::to_string(head.code);
  out += ' ';
  out += reason_phrase(head.code);
  out += "\r\n";
  std::vector<std::pair<std::string, std::string_view>> lines;
  lines.reserve(head.headers.size());
  for (const auto& [name, value] : head.headers) {
    std::string canonical = canonical_header_name(name);
    if (!is_framing(canonical)) lines.emplace_back(std::move(canonical), value);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, value] : lines) append_line(out, name, value);
  append_line(out, "Date", http_date());
  if (head.content_length) append_line(out, "Content-Length", std::to_string(*head.content_length));
  if (framing.switched) {
    append_line(out, "Connection", "Upgrade");
  } else if (!framing.keep_alive) {
    append_line(out, "Connection", "close");
  } else if (framing.http10) {
    append_line(out, "Connection", "keep-alive");
  }
  if (framing.chunked) append_line(out, "Transfer-Encoding", "chunked");
  out += "\r\n";
}

void append_chunk_size(std::string& out, std::size_t size) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, size, 16).ptr;
  out.append(digits, end);
  out += "\r\n";
}

}  // namespace backplane
