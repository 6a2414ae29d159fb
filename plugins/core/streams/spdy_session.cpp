#include "streams/spdy_session.hpp"

#include <algorithm>
#include <utility>

#include "streams/big_endian.hpp"

namespace backplane::core::spdy {
namespace {

constexpr std::uint32_t kControlBit = 0x80000000u, kVersion = 3;
constexpr unsigned kSynStream = 1, kSynReply = 2, kRstStream = 3, kPing = 6, kGoAway = 7, kHeaders = 8;
constexpr unsigned kFin = 1;
constexpr std::size_t kHead = 8;
constexpr std::uint32_t kCancel = 5;

}  // namespace

void Session::control(unsigned type, unsigned flags, std::string_view body) {
  append_number(output_, kControlBit | (kVersion << 16) | type);
  append_number(output_, (flags << 24) | static_cast<std::uint32_t>(body.size()));
  output_.append(body);
}

std::uint32_t Session::open(std::string_view name, std::string_view value) {
  const std::uint32_t stream = std::exchange(next_stream_, next_stream_ + 2);
  std::string body;
  append_number(body, stream);
  append_number(body, 0);                    // no associated stream
  body.append(std::string_view("\0\0", 2));  // priority and slot
  body.append(headers_.block({{name, value}}));
  control(kSynStream, 0, body);
  streams_.emplace(stream, Stream());
  return stream;
}

void Session::send(std::uint32_t stream, std::string_view data) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || !found->second.sends) return;
  while (!data.empty()) {
    const std::string_view piece = data.substr(0, kMaxPiece);
    append_number(output_, stream);
    append_number(output_, static_cast<std::uint32_t>(piece.size()));
    output_.append(piece);
    data.remove_prefix(piece.size());
  }
}

void Session::end(std::uint32_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || !std::exchange(found->second.sends, false)) return;
  append_number(output_, stream);
  append_number(output_, kFin << 24);
}

void Session::ping() {
  std::string id;
  append_number(id, std::exchange(next_ping_, next_ping_ + 2));
  control(kPing, 0, id);
}

std::string Session::take_output() { return std::exchange(output_, {}); }

void Session::feed(std::string_view bytes) {
  input_.erase(0, std::exchange(at_, 0));
  input_.append(bytes);
}

Session::Event Session::broken() {
  Event out;
  out.kind = Event::Kind::kBroken;
  return out;
}

Session::Event Session::next() {
  Event out;
  while (!broken_) {
    if (in_data_) {
      if (read_data(out)) return out;
      if (in_data_) return {};
      continue;
    }
    if (unread().size() < kHead) return {};
    const std::uint32_t first = read_number(unread(), 0), second = read_number(unread(), 4);
    if ((first & kControlBit) != 0) {
      if ((second & 0xffffff) > kMaxControl) break;
      if (unread().size() < kHead + (second & 0xffffff)) return {};
      if (read_control(out)) return out;
      continue;
    }
    data_stream_ = first;
    data_left_ = second & 0xffffff;
    data_ends_ = ((second >> 24) & kFin) != 0;
    in_data_ = true;
    at_ += kHead;
  }
  broken_ = true;
  return broken();
}

// Precondition: the control frame is complete.
bool Session::read_control(Event& out) {
  const std::uint32_t first = read_number(unread(), 0), second = read_number(unread(), 4);
  const std::size_t length = second & 0xffffff;
  const std::string_view body = unread().substr(kHead, length);
  at_ += kHead + length;
  if (((first >> 16) & 0x7fff) != kVersion) {
    broken_ = true;
    return false;
  }
  return on_control(first & 0xffff, second >> 24, body, out);
}

// False: the frame causes no event.
bool Session::on_control(unsigned type, unsigned flags, std::string_view body, Event& out) {
  const bool names_stream = type == kSynStream || type == kSynReply || type == kRstStream || type == kPing || type == kHeaders;
  if (names_stream && body.size() < 4) {
    broken_ = true;
    return false;
  }
  const std::uint32_t number = names_stream ? read_number(body, 0) : 0;
  switch (type) {
    case kSynReply:
      if (streams_.count(number) == 0) return false;
      // read_data() reports the end of the stream after this event.
      if ((flags & kFin) != 0) {
        in_data_ = data_ends_ = true;
        data_stream_ = number;
        data_left_ = 0;
      }
      out.kind = Event::Kind::kOpened;
      out.stream = number;
      return true;
    case kHeaders:
      return (flags & kFin) != 0 && end_of(number, false, out);
    case kRstStream:
      return end_of(number, true, out);
    case kSynStream: {
      // Kubelets open no streams, so the stream is refused.
      std::string refusal;
      append_number(refusal, number);
      append_number(refusal, kCancel);
      control(kRstStream, 0, refusal);
      return false;
    }
    case kPing:
      // Pings with even numbers come from the peer.
      if (number % 2 == 0) control(kPing, 0, body.substr(0, 4));
      return false;
    case kGoAway:
    default:
      return false;
  }
}

bool Session::end_of(std::uint32_t stream, bool of_both, Event& out) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return false;
  if (of_both) found->second.sends = false;
  if (!std::exchange(found->second.receives, false)) return false;
  out.kind = Event::Kind::kEnded;
  out.stream = stream;
  return true;
}

// Returns a piece of the data frame, or the end of its stream. False: there is no event, because more input is needed or the frame has
// ended.
bool Session::read_data(Event& out) {
  while (data_left_ > 0) {
    const std::string_view piece = unread().substr(0, std::min(data_left_, kMaxPiece));
    if (piece.empty()) return false;
    data_left_ -= piece.size();
    at_ += piece.size();
    const auto found = streams_.find(data_stream_);
    if (found == streams_.end() || !found->second.receives) continue;
    out.kind = Event::Kind::kData;
    out.stream = data_stream_;
    out.data = piece;
    return true;
  }
  in_data_ = false;
  return data_ends_ && end_of(data_stream_, false, out);
}

}  // namespace backplane::core::spdy
