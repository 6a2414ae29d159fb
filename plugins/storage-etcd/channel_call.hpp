// One call of a channel: what is still to be sent of it, and what has come.
//
// Thread-safety: under the channel's lock.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/query.hpp"
#include "backplane/core/status.hpp"
#include "channel.hpp"

namespace backplane::etcd {

class Channel::Call : public std::enable_shared_from_this<Channel::Call> {
 public:
  Call(const Method& method, CallListener& listener_in, Clock::time_point deadline_in, bool more_in, bool needs_leader_in)
      : listener(&listener_in), deadline(deadline_in), more(more_in), needs_leader(needs_leader_in) {
    path.reserve(2 + method.service.size() + method.name.size());
    ((path += '/') += method.service) += '/';
    path += method.name;
  }

  // A byte that says "not compressed", four of the size, and the message.
  static constexpr std::size_t kPrefix = 5;

  void add_message(std::string_view message) {
    const auto size = static_cast<std::uint32_t>(message.size());
    out.reserve(out.size() + kPrefix + message.size());
    out += '\0';
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(size >> shift & 0xFFU);
    out += message;
  }

  // What etcd's clients in Go take; protobuf reads no more.
  static constexpr std::size_t kMostMessage = 0x7fffffff;
  // Room that is made for what a server announces, before it has come.
  static constexpr std::size_t kMostAhead = 8 * 1024 * 1024;

  // The first whole one of what has come; none, too, when it is `unreadable`.
  std::optional<std::string> take_message() {
    if (in.size() < kPrefix || !unreadable.empty()) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 1; i < kPrefix; ++i) size = size << 8U | static_cast<unsigned char>(in[i]);
    if (in[0] != '\0') unreadable = "the server compresses what it says";
    if (size > kMostMessage) unreadable = "the server's answer is too large";
    if (!unreadable.empty()) return std::nullopt;
    if (in.size() - kPrefix < size) {
      if (in.capacity() < kMostAhead) in.reserve(std::min(kPrefix + size, kMostAhead));
      return std::nullopt;
    }
    std::string message;
    if (in.size() == kPrefix + size) {
      in.erase(0, kPrefix);
      message.swap(in);
    } else {
      message = in.substr(kPrefix, size);
      in.erase(0, kPrefix + size);
    }
    return message;
  }

  void header(std::string_view name, std::string_view value) {
    int number = 0;
    const bool is_number = std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc();
    if (name == ":status" && is_number) http_status = number;
    if (name == "content-type") content_type = value;
    if (name == "grpc-status" && is_number) grpc_status = number;
    if (name == "grpc-message") grpc_message = percent_decode(value, false);
  }

  // Whether what comes is messages: a proxy's page is not.
  bool speaks_grpc() const { return http_status == 200 && content_type.starts_with("application/grpc"); }

  // How it has ended; `error`: HTTP/2's.
  CallStatus status(std::uint32_t error) const {
    if (!unreadable.empty()) return {Code::kInternal, unreadable};
    if (grpc_status) {
      const bool known = *grpc_status >= 0 && *grpc_status <= static_cast<int>(Code::kUnauthenticated);
      return {known ? static_cast<Code>(*grpc_status) : Code::kUnknown, grpc_message};
    }
    if (error == NGHTTP2_REFUSED_STREAM) return {Code::kUnavailable, "the server took no more calls", true};
    if (error == NGHTTP2_CANCEL) return {Code::kCancelled, "the server gave the call up"};
    if (http_status != 0 && http_status != 200) return {Code::kUnavailable, "the server answered " + std::to_string(http_status)};
    if (http_status == 200 && !speaks_grpc()) {
      return {Code::kUnavailable, "what answered is no etcd: its answer is of the type " + backplane::quoted(content_type)};
    }
    return {Code::kInternal, std::string("the server ended the call without a status: ") + nghttp2_http2_strerror(error)};
  }

  std::string path;
  CallListener* const listener;
  const Clock::time_point deadline;
  Clock::time_point due;     // the deadline, or when it must have been sent
  Clock::time_point sent{};  // of one with a deadline
  const bool more, needs_leader;
  std::int32_t stream = 0;  // 0: it waits for the connection
  std::string out;
  std::size_t out_offset = 0;
  bool deferred = false;  // there was nothing to send
  std::string in;
  std::size_t unconsumed = 0;  // bytes that came and the server was not told to replace
  bool paused = false, resumed = false;
  bool over = false, server_ended = false;
  std::string unreadable;  // why what has come is; empty: it is not

 private:
  int http_status = 0;
  std::optional<int> grpc_status;
  std::string grpc_message, content_type;
};

// What is to be told, without the lock.
struct Channel::Told {
  CallRef call;
  std::optional<CallStatus> end;
  std::string message;
};

}  // namespace backplane::etcd
