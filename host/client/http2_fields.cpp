#include "client/http2_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "http/header_text.hpp"

namespace backplane {
namespace {

constexpr std::size_t kAuthority = 2;  // the index of :authority in rows_
constexpr std::string_view kTimeout = "grpc-timeout";
// For lower-case names: nghttp2 need not copy them. It converts the names that it copies to lower case.
constexpr unsigned kNameIsLower = NGHTTP2_NV_FLAG_NO_COPY_NAME;
constexpr unsigned kNoCopy = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
constexpr std::uint64_t kEachByte = 0x0101010101010101;

template <class Word>
std::uint64_t word_at(const char* from) noexcept {
  Word out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

// Returns a text of at most eight bytes as one word. The word may contain a byte of the text twice; an empty text becomes eight spaces.
std::uint64_t short_text(std::string_view text) noexcept {
  const char *const begin = text.data(), *const end = begin + text.size();
  if (text.empty()) return ' ' * kEachByte;
  if (text.size() >= 4) return word_at<std::uint32_t>(begin) << 32U | word_at<std::uint32_t>(end - 4);
  const auto byte = [](char c) { return std::uint64_t{static_cast<unsigned char>(c)}; };
  return ' ' * (kEachByte << 24U) | byte(*begin) << 16U | byte(begin[text.size() / 2]) << 8U | byte(end[-1]);
}

// Returns whether `test` is true for any of the eight-byte words that cover the text.
template <class Test>
bool any_eight(std::string_view text, const Test& test) noexcept {
  if (text.size() <= 8) return test(short_text(text));
  const char* const last = text.data() + text.size() - 8;
  for (const char* from = text.data(); from < last; from += 8) {
    if (test(word_at<std::uint64_t>(from))) return true;
  }
  return test(word_at<std::uint64_t>(last));
}

// If the function returns false, the text has no \r, \n or \0. These bytes are less than 14, and few other bytes of a header field are.
bool may_have_breaks(std::string_view text) noexcept {
  return any_eight(text, [](std::uint64_t bytes) { return ((bytes - 14 * kEachByte) & ~bytes & 0x80 * kEachByte) != 0; });
}

// If the function returns false, the text has no upper-case letter. Upper-case letters have bit 0x40 and do not have bit 0x20.
bool may_have_upper_case(std::string_view text) noexcept {
  return any_eight(text, [](std::uint64_t bytes) { return (bytes & ~(bytes << 1U) & 0x40 * kEachByte) != 0; });
}

std::uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); }

nghttp2_nv unchecked_row(std::string_view name, std::string_view value, unsigned flags) {
  return {bytes_of(name), bytes_of(value), name.size(), value.size(), static_cast<std::uint8_t>(flags)};
}

}  // namespace

bool Http2FieldDefaults::is_usual_timeout(std::string_view value) {
  if (value == usual_timeout) return true;
  if (value == last_timeout) {
    usual_timeout = value;
    return true;
  }
  last_timeout = value;
  return false;
}

// A gRPC request gets no content-length, because each gRPC message has a length prefix. An unusual grpc-timeout is sent with
// NGHTTP2_NV_FLAG_NO_INDEX, so that it does not displace other fields from the HPACK table.
Http2Fields::Http2Fields(const RemoteCall& call, Http2FieldDefaults& defaults) {
  const HttpCall& request = call.request();
  rows_.push_back(row(":method", request.method, kNameIsLower));
  rows_.push_back(unchecked_row(":scheme", defaults.scheme, kNoCopy));
  rows_.push_back(unchecked_row(":authority", defaults.authority, kNoCopy));
  rows_.push_back(row(":path", request.target, kNameIsLower));
  bool grpc = false;
  for (const auto& [name, value] : request.headers) {
    if (name.size() == 4 && equal_ignoring_case(name, "Host")) {
      if (!value.empty()) rows_[kAuthority] = row(":authority", value, kNameIsLower);
      continue;
    }
    // A streamed body has its length in HttpCall::body_size; the field is added below.
    if (call.streams_body() && equal_ignoring_case(name, "Content-Length")) continue;
    unsigned flags = may_have_upper_case(name) ? 0U : kNameIsLower;
    if (name.size() == kTimeout.size()) {
      if (name == kTimeout && !defaults.is_usual_timeout(value)) flags |= NGHTTP2_NV_FLAG_NO_INDEX;
      grpc = grpc || (name == "content-type" && value.starts_with("application/grpc"));
    }
    rows_.push_back(row(name, value, flags));
  }
  if (!request.body.empty() && !grpc) add_length(request.body.size());
  if (call.streams_body() && request.body_size) add_length(*request.body_size);
}

nghttp2_nv Http2Fields::row(std::string_view name, std::string_view value, unsigned flags) {
  if (!may_have_breaks(value)) return unchecked_row(name, value, flags | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
  // A server could take a line break in a value for the start of another field, so it becomes a blank.
  std::string& text = changed_.emplace_front(value);
  strip_line_breaks(text);
  return unchecked_row(name, text, flags);
}

void Http2Fields::add_length(std::uint64_t size) {
  const char* const end = std::to_chars(length_.data(), length_.data() + length_.size(), size).ptr;
  const std::string_view digits(length_.data(), static_cast<std::size_t>(end - length_.data()));
  rows_.push_back(unchecked_row("content-length", digits, kNameIsLower | NGHTTP2_NV_FLAG_NO_INDEX));
}

}  // namespace backplane
