#include "streams/websocket_server.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <utility>

namespace backplane::core {
namespace {

// RFC 6455, 1.3: Sec-WebSocket-Accept is the SHA-1 hash of the client's key and this text.
constexpr std::string_view kAcceptGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr unsigned kContinuation = 0, kPing = 9;
constexpr unsigned kFinal = 0x80, kReserved = 0x70, kMasked = 0x80, kControl = 8;
constexpr std::uint64_t kMaxControlPayload = 125;

std::string accept_key(std::string_view key) {
  const std::string text = std::string(key) + std::string(kAcceptGuid);
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 4 * ((SHA_DIGEST_LENGTH + 2) / 3) + 1> out{};
  const int length = EVP_EncodeBlock(out.data(), digest.data(), static_cast<int>(digest.size()));
  return std::string(reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(length));
}

}  // namespace

bool is_websocket_request(const Exchange& exchange) {
  return boost::algorithm::iequals(exchange.header("Upgrade"), "websocket") &&
         boost::algorithm::icontains(exchange.header("Connection"), "upgrade");
}

std::vector<std::string> websocket_protocols(const Exchange& exchange) {
  std::vector<std::string> out;
  for (const auto& [name, value] : exchange.headers()) {
    if (!boost::algorithm::iequals(name, "Sec-WebSocket-Protocol")) continue;
    for (std::size_t begin = 0; begin <= value.size();) {
      const auto end = std::min(value.find(',', begin), value.size());
      std::string word = boost::algorithm::trim_copy(value.substr(begin, end - begin));
      if (!word.empty()) out.push_back(std::move(word));
      begin = end + 1;
    }
  }
  return out;
}

HandshakeProblem check_handshake(const Exchange& exchange) {
  if (exchange.method() != "GET") return {405, "bad method"};
  if (exchange.header("Sec-WebSocket-Key").empty()) return {400, "mismatch challenge/response"};
  if (exchange.header("Sec-WebSocket-Version") != "13") return {400, "missing or bad WebSocket Version"};
  return {};
}

Task<Status> accept_websocket(Exchange& exchange, std::string protocol) {
  exchange.set_response_header("Sec-WebSocket-Accept", accept_key(exchange.header("Sec-WebSocket-Key")));
  if (!protocol.empty()) exchange.set_response_header("Sec-WebSocket-Protocol", std::move(protocol));
  Status switched = co_await exchange.switch_protocols("websocket");
  co_return switched;
}

// ---- frames of the client

void MessageReader::feed(std::string_view bytes) {
  input_.erase(0, std::exchange(at_, 0));
  input_.append(bytes);
}

std::string MessageReader::unmasked(std::size_t size) {
  std::string out = input_.substr(at_, size);
  for (char& c : out) c = static_cast<char>(c ^ mask_[masked_++ % 4]);
  at_ += size;
  return out;
}

MessageReader::Event MessageReader::next() {
  Event out;
  while (!broken_) {
    if (!in_data_) {
      if (!read_head(out)) break;
      if (!in_data_ && out.kind == Event::Kind::kNeedsMore) continue;  // an unsolicited pong
      if (!in_data_) return out;
    }
    const std::size_t here = input_.size() - at_;
    if (here == 0 && left_ > 0) return {};
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>({here, left_, kMaxPiece}));
    out.kind = Event::Kind::kData;
    out.data = unmasked(size);
    left_ -= size;
    in_data_ = left_ > 0;
    out.first = std::exchange(first_, false);
    out.last = left_ == 0 && final_;
    out.text = text_;
    if (out.last) in_message_ = false;
    return out;
  }
  if (broken_) out.kind = Event::Kind::kBroken;
  return out;
}

// False: more bytes are needed, or the client has violated the protocol. A control frame is returned complete in `out`; the payload of a
// data frame is read next.
bool MessageReader::read_head(Event& out) {
  const auto byte = [this](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(input_[at_ + i])); };
  const std::size_t here = input_.size() - at_;
  if (here < 2) return false;
  const unsigned opcode = byte(0) & 0x0f, short_length = byte(1) & 0x7f;
  const std::size_t extra = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
  const std::size_t head = 2 + extra + 4;
  // Clients must mask their frames, and no extension was negotiated that would use the reserved bits.
  broken_ = (byte(0) & kReserved) != 0 || (byte(1) & kMasked) == 0 || ((opcode & kControl) != 0 && (short_length > kMaxControlPayload));
  if (broken_ || here < head) return false;
  std::uint64_t length = extra == 0 ? short_length : 0;
  for (std::size_t i = 0; i < extra; ++i) length = (length << 8) | byte(2 + i);
  const bool final = (byte(0) & kFinal) != 0;
  if ((opcode & kControl) != 0) {
    broken_ = !final;
    return !broken_ && read_control(out, opcode, head, static_cast<std::size_t>(length));
  }
  // A continuation frame is valid only within a message, any other data frame only outside of one.
  broken_ = opcode > kBinaryFrame || (opcode == kContinuation) != in_message_;
  if (broken_) return false;
  if (opcode != kContinuation) text_ = opcode == kTextFrame;
  first_ = opcode != kContinuation;
  in_message_ = in_data_ = true;
  final_ = final;
  left_ = length;
  mask_ = input_.substr(at_ + 2 + extra, 4);
  masked_ = 0;
  at_ += head;
  return true;
}

bool MessageReader::read_control(Event& out, unsigned opcode, std::size_t head, std::size_t length) {
  if (input_.size() - at_ < head + length) return false;
  mask_ = input_.substr(at_ + head - 4, 4);
  masked_ = 0;
  at_ += head;
  out.data = unmasked(length);
  if (opcode == kCloseFrame) out.kind = Event::Kind::kClose;
  if (opcode == kPing) out.kind = Event::Kind::kPing;
  return true;
}

// ---- frames of the server

std::string frame(unsigned opcode, std::string_view payload) {
  std::string out(1, static_cast<char>(kFinal | opcode));
  const std::uint64_t length = payload.size();
  const int bytes = length < 126 ? 0 : length <= 0xffff ? 2 : 8;
  out.push_back(static_cast<char>(bytes == 0 ? length : bytes == 2 ? 126 : 127));
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
  return out.append(payload);
}

std::string close_frame() { return frame(kCloseFrame, std::string_view("\x03\xe8", 2)); }

}  // namespace backplane::core
