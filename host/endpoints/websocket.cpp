#include "endpoints/websocket.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "backplane/types/url.hpp"
#include "base/caught.hpp"
#include "endpoints/log.hpp"

namespace backplane::endpoints {
namespace {

// The GUID for Sec-WebSocket-Accept (RFC 6455, section 1.3).
constexpr std::string_view kAcceptGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr unsigned kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;
constexpr unsigned kFinal = 0x80, kReserved = 0x70, kMasked = 0x80, kControl = 8;
constexpr std::uint64_t kMaxControlPayload = 125;
constexpr std::string_view kNormalClosure = "\x03\xe8";  // 1000

std::string accept_key(std::string_view key) {
  const std::string text = std::string(key) + std::string(kAcceptGuid);
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 4 * ((SHA_DIGEST_LENGTH + 2) / 3) + 1> out{};
  const int length = EVP_EncodeBlock(out.data(), digest.data(), static_cast<int>(digest.size()));
  return std::string(reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(length));
}

std::string frame_head(unsigned opcode, std::uint64_t length) {
  std::string head(1, static_cast<char>(kFinal | opcode));
  const int bytes = length < 126 ? 0 : length <= 0xffff ? 2 : 8;
  head.push_back(static_cast<char>(bytes == 0 ? length : bytes == 2 ? 126 : 127));
  for (int i = bytes - 1; i >= 0; --i) head.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
  return head;
}

std::vector<SharedBytes> control_frame(unsigned opcode, std::string_view payload) {
  std::vector<SharedBytes> frame;
  frame.emplace_back(frame_head(opcode, payload.size()) + std::string(payload));
  return frame;
}

}  // namespace

bool is_websocket_request(const Exchange& exchange) {
  return boost::algorithm::iequals(exchange.header("Upgrade"), "websocket") &&
         boost::algorithm::icontains(exchange.header("Connection"), "upgrade");
}

// ---- frames from the client

FrameParser::Head FrameParser::read_head() const {
  const std::string_view input = left();
  const auto byte = [input](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(input[i])); };
  if (input.size() < 2) return {};
  const unsigned short_length = byte(1) & 0x7f;
  const std::size_t extra = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
  Head head;
  const std::size_t size = 2 + extra + 4;
  if (input.size() < size) return {};
  head.opcode = byte(0) & 0x0f;
  head.length = extra == 0 ? short_length : 0;
  for (std::size_t i = 0; i < extra; ++i) head.length = (head.length << 8) | byte(2 + i);
  head.mask = input.substr(2 + extra, 4);
  head.size = size;
  return head;
}

FrameParser::Event FrameParser::needs_more() {
  input_.erase(0, std::exchange(at_, 0));
  return Event::kNeedsMore;
}

FrameParser::Event FrameParser::next() {
  for (;;) {
    const std::size_t passed = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, left().size()));
    at_ += passed;
    skip_ -= passed;
    const std::string_view input = left();
    if (skip_ > 0 || input.size() < 2) return needs_more();
    const auto first = static_cast<unsigned char>(input[0]), second = static_cast<unsigned char>(input[1]);
    // The client must mask its frames. Reserved bits must be 0, because no extension was negotiated.
    if ((first & kReserved) != 0 || (second & kMasked) == 0) return Event::kBroken;
    const Head head = read_head();
    if (head.size == 0) return needs_more();
    if ((head.opcode & kControl) == 0) {
      at_ += head.size;
      skip_ = head.length;
      continue;
    }
    if (head.length > kMaxControlPayload || (first & kFinal) == 0) return Event::kBroken;
    if (input.size() < head.size + head.length) return needs_more();
    payload_ = input.substr(head.size, head.length);
    for (std::size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<char>(payload_[i] ^ head.mask[i % 4]);
    at_ += head.size + head.length;
    if (head.opcode == kClose) return Event::kClose;
    if (head.opcode == kPing) return Event::kPing;
  }
}

// ---- the socket

Task<void> WebSocket::refuse(int code, std::string text) {
  exchange_.close_connection_after();
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange_.respond(code, "text/plain; charset=utf-8", std::move(body));
}

Task<bool> WebSocket::open() {
  const std::string_view key = exchange_.header("Sec-WebSocket-Key");
  const std::string_view protocol = exchange_.header("Sec-WebSocket-Protocol");
  int code = 0;
  std::string problem;
  if (key.empty()) {
    code = 400;
    problem = "mismatch challenge/response";
  } else if (exchange_.header("Sec-WebSocket-Version") != "13") {
    code = 400;
    problem = "missing or bad WebSocket Version";
    exchange_.set_response_header("Sec-WebSocket-Version", "13");
  } else if (!request_uri_problem(exchange_.header("Origin")).empty()) {
    code = 403;  // browsers send a URL, or "null" from a page without an origin; other clients may send nothing
  } else if (protocol.find(',') != std::string_view::npos) {
    code = 400;  // several protocols are not supported
    problem = "missing or bad WebSocket-Protocol";
  }
  if (code != 0) {
    co_await refuse(code, std::move(problem));
    co_return false;
  }
  exchange_.set_response_header("Sec-WebSocket-Accept", accept_key(key));
  if (!protocol.empty()) exchange_.set_response_header("Sec-WebSocket-Protocol", boost::algorithm::trim_copy(std::string(protocol)));
  Status switched = co_await exchange_.switch_protocols("websocket");
  if (switched.ok()) co_return true;
  std::string why = switched.message();
  if (!exchange_.started()) co_await refuse(400, std::move(why));
  co_return false;
}

void WebSocket::listen(std::function<void()> closed) {
  listening_ = true;
  spawn_detached(*current_executor(), listen_fenced(std::move(closed)), [done = listening_done_] { done.set(true); });
}

Task<void> WebSocket::listen_fenced(std::function<void()> closed) {
  try {
    co_await read_loop();
  } catch (...) {
    // If reading fails, the client counts as disconnected.
    endpoints_log().error("reading from a WebSocket failed error={}", caught().what);
  }
  closed();
}

Task<void> WebSocket::read_loop() {
  FrameParser parser;
  for (;;) {
    const auto event = parser.next();
    if (event == FrameParser::Event::kClose || event == FrameParser::Event::kBroken) break;
    if (event == FrameParser::Event::kPing) {
      std::vector<SharedBytes> pong = control_frame(kPong, parser.payload());
      Status sent = co_await exchange_.write(std::move(pong));
      if (!sent.ok()) break;
      continue;
    }
    std::string some = co_await exchange_.read_some();
    if (some.empty()) break;
    parser.feed(some);
  }
}

void WebSocket::frame(std::vector<SharedBytes>& pieces, std::size_t first, bool text) {
  std::uint64_t length = 0;
  for (std::size_t i = first; i < pieces.size(); ++i) length += pieces[i].size();
  pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(first), SharedBytes(frame_head(text ? kText : kBinary, length)));
}

Task<void> WebSocket::end() {
  std::vector<SharedBytes> farewell = control_frame(kClose, kNormalClosure);
  Status sent = co_await exchange_.write(std::move(farewell));
  (void)sent;  // the client may have disconnected
  co_await exchange_.finish();
  if (!listening_) co_return;
  bool done = co_await listening_done_.future();
  (void)done;
}

}  // namespace backplane::endpoints
