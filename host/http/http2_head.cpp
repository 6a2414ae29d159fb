#include "http/http2_head.hpp"

#include <algorithm>

#include "http/header_text.hpp"

namespace backplane {
namespace {

// Headers that HTTP/2 forbids (RFC 9113, section 8.2.2), and headers that submit_http2_head() sets itself.
bool not_for_http2(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "keep-alive" || name == "proxy-connection" || name == "upgrade" ||
         name == "content-length" || name == "date";
}

// A header whose value is always new is not indexed. It would displace other headers from the peer's HPACK table, and each lookup would
// compare its value with all entries of its name.
std::uint8_t flags_of(std::string_view name) { return name == "audit-id" ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE; }

nghttp2_nv pair_of(std::string_view name, std::string_view value) {
  // nghttp2 copies name and value. Its pointers are not const for historical reasons.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())), reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          name.size(), value.size(), flags_of(name)};
}

struct Line {
  std::string_view name;
  const Header* header;
};

// Buffers for building a head. Each thread reuses its buffers for the next head.
struct Scratch {
  std::string names;
  std::vector<Line> lines;
  std::vector<nghttp2_nv> pairs;
};

// Fills `lines` with the headers, sorted by lower-case name. `names` stores the lower-case names. Headers of the same name keep their
// order.
void sort_lines(const Headers& headers, std::string& names, std::vector<Line>& lines) {
  std::size_t size = 0;
  for (const Header& header : headers) size += header.first.size();
  names.clear();
  names.reserve(size);
  lines.clear();
  for (const Header& header : headers) {
    const std::size_t begin = names.size();
    append_lower_case(names, header.first);
    const std::string_view name = std::string_view(names).substr(begin);
    if (!not_for_http2(name)) lines.push_back({name, &header});
  }
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    const int order = a.name.compare(b.name);
    return order != 0 ? order < 0 : a.header < b.header;
  });
}

// Returns the size of the next DATA frame. send_data() in http2_callbacks.cpp copies the bytes.
ssize_t read_output(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t room, std::uint32_t* flags, nghttp2_data_source* source,
                    void*) {
  auto& exchange = *static_cast<HttpExchange*>(source->ptr);
  const std::size_t size = std::min(exchange.output_size(), room);
  const bool ends = exchange.output_ended() && size == exchange.output_size();
  if (size == 0 && !ends) {
    exchange.parked = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  if (size > 0) *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

}  // namespace

void submit_http2_head(nghttp2_session* session, std::int32_t stream_id, const ResponseHead& head, HttpExchange* exchange) {
  const std::string code = std::to_string(head.code);
  const std::string length = head.content_length ? std::to_string(*head.content_length) : std::string();
  thread_local Scratch scratch;
  auto& [names, lines, pairs] = scratch;
  sort_lines(head.headers, names, lines);
  pairs.clear();
  pairs.push_back(pair_of(":status", code));
  for (const Line& line : lines) pairs.push_back(pair_of(line.name, line.header->second));
  if (head.content_length) pairs.push_back(pair_of("content-length", length));
  pairs.push_back(pair_of("date", http_date()));
  nghttp2_data_provider provider{};
  provider.source.ptr = exchange;
  provider.read_callback = read_output;
  // The call fails only if the peer has reset the stream; on_stream_close then reports it.
  nghttp2_submit_response(session, stream_id, pairs.data(), pairs.size(), exchange != nullptr ? &provider : nullptr);
}

void submit_http2_continue(nghttp2_session* session, std::int32_t stream_id) {
  const nghttp2_nv status = pair_of(":status", "100");
  nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, stream_id, nullptr, &status, 1, nullptr);
}

}  // namespace backplane
