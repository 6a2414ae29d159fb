#include "http/http1_head.hpp"

#include <algorithm>
#include <charconv>
#include <list>

#include "http/header_text.hpp"

namespace backplane {
namespace {

// The session sets these headers itself, so it drops the handler's.
bool is_framing(std::string_view canonical) {
  return canonical == "Content-Length" || canonical == "Connection" || canonical == "Transfer-Encoding" || canonical == "Date";
}

// A header and its canonical name. The canonical name nearly always equals the name that the handler used.
struct Line {
  std::string_view name;
  const Header* header;
};

std::vector<Line> sorted_lines(const Headers& headers, std::list<std::string>& renamed) {
  std::vector<Line> lines;
  lines.reserve(headers.size());
  for (const Header& header : headers) {
    std::string_view name = header.first;
    if (!is_canonical_header_name(name)) name = renamed.emplace_back(canonical_header_name(name));
    if (!is_framing(name)) lines.push_back({name, &header});
  }
  // Headers of the same name keep their order, because a.header and b.header point into one vector.
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    const int order = a.name.compare(b.name);
    return order != 0 ? order < 0 : a.header < b.header;
  });
  return lines;
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
  std::list<std::string> renamed;
  for (const Line& line : sorted_lines(head.headers, renamed)) append_line(out, line.name, line.header->second);
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
