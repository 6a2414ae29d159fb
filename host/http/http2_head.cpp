#include "http/http2_head.hpp"

#include <algorithm>

#include "http/header_text.hpp"

namespace backplane {
namespace {

// RFC 9113 8.2.2, and what the session says itself.
bool not_for_http2(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "keep-alive" || name == "proxy-connection" || name == "upgrade" ||
         name == "content-length" || name == "date";
}

nghttp2_nv pair_of(std::string_view name, std::string_view value) {
  // nghttp2 copies both; its pointers are not const for historical reasons.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())), reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Says how much the next DATA frame carries; send_data() of the session's callbacks moves the bytes.
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

void submit_http2_head(nghttp2_session* session, std::int32_t stream_id, const ResponseHead& head, HttpExchange* body) {
  const std::string code = std::to_string(head.code);
  const std::string length = head.content_length ? std::to_string(*head.content_length) : std::string();
  std::vector<std::pair<std::string, std::string_view>> lines;  // by name, those of one name as they were set
  lines.reserve(head.headers.size());
  for (const auto& [name, value] : head.headers) {
    std::string lower = lower_case(name);
    if (not_for_http2(lower)) continue;
    const auto at = std::upper_bound(lines.begin(), lines.end(), lower, [](const auto& key, const auto& line) { return key < line.first; });
    lines.emplace(at, std::move(lower), value);
  }
  std::vector<nghttp2_nv> pairs;
  pairs.reserve(lines.size() + 3);
  pairs.push_back(pair_of(":status", code));
  for (const auto& [name, value] : lines) pairs.push_back(pair_of(name, value));
  if (head.content_length) pairs.push_back(pair_of("content-length", length));
  pairs.push_back(pair_of("date", http_date()));
  nghttp2_data_provider provider{};
  provider.source.ptr = body;
  provider.read_callback = read_output;
  // Fails only for a stream that the peer has reset, which on_stream_close tells.
  nghttp2_submit_response(session, stream_id, pairs.data(), pairs.size(), body != nullptr ? &provider : nullptr);
}

void submit_http2_continue(nghttp2_session* session, std::int32_t stream_id) {
  const nghttp2_nv status = pair_of(":status", "100");
  nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, stream_id, nullptr, &status, 1, nullptr);
}

}  // namespace backplane
