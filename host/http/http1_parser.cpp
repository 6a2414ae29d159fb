#include "http/http1_parser.hpp"

#include <algorithm>
#include <cctype>

#include "http/header_text.hpp"

namespace backplane {

Http1Parser::Http1Parser(std::size_t max_header_bytes) {
  header_limit(static_cast<std::uint32_t>(max_header_bytes));
  body_limit(boost::none);  // the handler limits the body in read_body()
  eager(false);
}

void Http1Parser::on_request_impl(boost::beast::http::verb, StringView method, StringView target, int http_version, Error&) {
  head.method.assign(method.data(), method.size());
  head.target.assign(target.data(), target.size());
  head.headers.reserve(12);
  version = http_version;
}

void Http1Parser::on_field_impl(boost::beast::http::field, StringView name, StringView value, Error&) {
  if (header_done_) return;  // trailers
  head.headers.emplace_back(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
}

std::size_t Http1Parser::on_body_impl(StringView bytes, Error&) {
  body.append(bytes.data(), bytes.size());
  return bytes.size();
}

std::size_t Http1Parser::on_chunk_body_impl(std::uint64_t, StringView bytes, Error&) {
  body.append(bytes.data(), bytes.size());
  return bytes.size();
}

namespace {

// Like golang.org/x/net/http/httpguts.ValidHostHeader.
bool valid_host(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) ||
           std::string_view("!$%&'()*+,-.:;=[]_~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string http1_refusal(const Http1Parser& parser) {
  const Headers& headers = parser.head.headers;
  int hosts = 0;
  int encodings = 0;
  for (const auto& [name, value] : headers) {
    if (equal_ignoring_case(name, "Host")) {
      ++hosts;
      if (!valid_host(value)) return "400 Bad Request: malformed Host header";
    }
    // Beast's parser reads "5, 5" as 5, but a proxy between client and server may read it differently (request smuggling).
    if (equal_ignoring_case(name, "Content-Length") && !is_number(trimmed(value))) return "400 Bad Request";
    if (equal_ignoring_case(name, "Transfer-Encoding")) {
      // If an unsupported transfer encoding were ignored, the request would seem to have no body.
      if (++encodings > 1 || parser.version < 11 || !equal_ignoring_case(trimmed(value), "chunked")) {
        return "501 Not Implemented: Unsupported transfer encoding";
      }
    }
  }
  if (hosts == 0 && parser.version >= 11) return "400 Bad Request: missing required Host header";
  if (hosts > 1) return "400 Bad Request: too many Host headers";
  const std::string_view expect = find_header(headers, "Expect");
  if (!expect.empty() && !equal_ignoring_case(expect, "100-continue")) return "417 Expectation Failed";
  return {};
}

void normalize_target(RequestHead& head) {
  const std::string lower = lower_case(std::string_view(head.target).substr(0, 8));
  const std::size_t scheme = lower.starts_with("https://") ? 8 : lower.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return;
  const std::size_t path = head.target.find_first_of("/?", scheme);
  const std::string host = head.target.substr(scheme, path == std::string::npos ? path : path - scheme);
  head.target = path == std::string::npos ? "/" : head.target.substr(path);
  if (head.target.front() == '?') head.target.insert(0, 1, '/');
  for (auto& [name, value] : head.headers) {
    if (equal_ignoring_case(name, "Host")) value = host;
  }
}

}  // namespace backplane
