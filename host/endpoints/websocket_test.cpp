// Watches over WebSocket: the handshake, and the frames of both sides.
#include "endpoints/websocket.hpp"

#include <gtest/gtest.h>

#include "endpoints/testing/harness.hpp"

namespace backplane::testing {
namespace {

using endpoints::FrameParser;
using endpoints::WebSocket;
using Event = FrameParser::Event;

constexpr std::string_view kMask = "\x01\x02\x03\x04";

std::string client_frame(unsigned opcode, std::string payload, bool masked = true) {
  std::string frame(1, static_cast<char>(0x80 | opcode));
  const char bit = masked ? static_cast<char>(0x80) : '\0';
  if (payload.size() < 126) {
    frame.push_back(static_cast<char>(bit | static_cast<char>(payload.size())));
  } else {
    frame.push_back(static_cast<char>(bit | 126));
    frame.push_back(static_cast<char>(payload.size() >> 8));
    frame.push_back(static_cast<char>(payload.size() & 0xff));
  }
  if (!masked) return frame + payload;
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ kMask[i % 4]);
  return frame + std::string(kMask) + payload;
}

TEST(FrameParser, PassesOverDataAndShowsPingsAndTheEndHoweverTheBytesCome) {
  const std::string sent = client_frame(1, std::string(300, 'x')) + client_frame(9, "are you there") + client_frame(2, "") +
                           client_frame(10, "pong") + client_frame(8, "\x03\xe8");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, sent.size()}) {
    FrameParser parser;
    std::vector<Event> met;
    std::string ping;
    for (std::size_t at = 0; at < sent.size(); at += piece) {
      parser.feed(std::string_view(sent).substr(at, piece));
      for (Event event = parser.next(); event != Event::kNeedsMore; event = parser.next()) {
        met.push_back(event);
        if (event == Event::kPing) ping = parser.payload();
        if (event == Event::kClose) break;
      }
    }
    EXPECT_EQ(met, (std::vector<Event>{Event::kPing, Event::kClose})) << piece;
    EXPECT_EQ(ping, "are you there") << piece;
  }
}

// Regression: each frame moved all bytes after it, which took hours for many small frames.
TEST(FrameParser, ManySmallFramesCostNoMoreThanTheirBytes) {
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  const std::string one = client_frame(1, "") + client_frame(10, "");
  std::string sent;
  sent.reserve(kBytes + one.size());
  while (sent.size() < kBytes) sent += one;
  FrameParser parser;
  parser.feed(sent);
  EXPECT_EQ(parser.next(), Event::kNeedsMore);
  parser.feed(client_frame(9, "still there"));
  EXPECT_EQ(parser.next(), Event::kPing);
  EXPECT_EQ(parser.payload(), "still there");
}

TEST(FrameParser, RefusesWhatNoClientMaySend) {
  const std::string wrong[] = {
      client_frame(1, "open", false),                   // not masked
      "\xf1\x80",                                       // reserved bits
      client_frame(9, std::string(126, 'x')),           // a control frame that is too long
      std::string("\x09\x80", 2) + std::string(kMask),  // a fragmented control frame
  };
  for (const std::string& bytes : wrong) {
    FrameParser parser;
    parser.feed(bytes);
    EXPECT_EQ(parser.next(), Event::kBroken) << json::serialize(bytes);
  }
}

TEST(WebSocketFrames, HaveTheLengthOfAllPieces) {
  const auto head_for = [](std::size_t size) {
    std::vector<SharedBytes> pieces;
    pieces.emplace_back(std::string("before"));
    pieces.emplace_back(std::string(size - 1, 'x'));
    pieces.emplace_back(std::string("y"));
    WebSocket::frame(pieces, 1, true);
    return std::string(pieces.at(1).view());
  };
  EXPECT_EQ(head_for(125), std::string("\x81\x7d"));
  EXPECT_EQ(head_for(126), std::string("\x81\x7e\x00\x7e", 4));
  EXPECT_EQ(head_for(65536), std::string("\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
}

class WebSocketWatch : public Api {
 protected:
  WebSocketWatch() { use_config_maps(); }
  Response ask(Headers headers) {
    store_->stream = std::make_unique<ScriptedStream>();
    headers.emplace_back("Upgrade", "WebSocket");
    headers.emplace_back("Connection", "keep-alive, Upgrade");
    return send("GET", "namespaces/n/configmaps?watch=true", "", std::move(headers));
  }
};

TEST_F(WebSocketWatch, AHandshakeThatCannotBeIsRefused) {
  const Header key{"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}, version{"Sec-WebSocket-Version", "13"}, origin{"Origin", "https://a"};
  struct Case {
    Headers headers;
    int code;
    std::string_view text;
  };
  for (const Case& each :
       {Case{{version, origin}, 400, "mismatch challenge/response"}, Case{{key, origin}, 400, "missing or bad WebSocket Version"},
        Case{{key, version}, 403, ""}, Case{{key, version, {"Origin", "null"}}, 403, ""},
        Case{{key, version, {"Origin", "example.com"}}, 403, ""}, Case{{key, version, {"Origin", "http://[a"}}, 403, ""},
        Case{{key, version, {"Origin", "file:"}}, 400, "this connection cannot leave HTTP"},
        Case{{key, version, origin, {"Sec-WebSocket-Protocol", "a, b"}}, 400, "missing or bad WebSocket-Protocol"},
        // The handshake is valid, but this connection cannot switch protocols.
        Case{{key, version, origin}, 400, "this connection cannot leave HTTP"}}) {
    const Response got = ask(each.headers);
    EXPECT_EQ(got.code(), each.code) << each.text;
    EXPECT_EQ(got.body(), each.text);
  }
}

}  // namespace
}  // namespace backplane::testing
