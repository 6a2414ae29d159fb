#include "streams/websocket_server.hpp"

#include <gtest/gtest.h>

#include <random>

namespace backplane::core {
namespace {

using Kind = MessageReader::Event::Kind;

// As clients send it.
std::string masked(unsigned first, const std::string& payload) {
  std::string out(1, static_cast<char>(first));
  const std::size_t size = payload.size();
  const int bytes = size < 126 ? 0 : size <= 0xffff ? 2 : 8;
  out += static_cast<char>(0x80 | (bytes == 0 ? size : bytes == 2 ? 126 : 127));
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>((size >> (8 * i)) & 0xff);
  const std::string mask = "\x01\x02\x03\x04";
  out += mask;
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

TEST(MessageReader, MessagesComeInPiecesThatSayWhereTheyStand) {
  const std::string long_one(70'000, 'y');
  const std::string bytes = masked(0x82, "hello") + masked(0x01, "te") + masked(0x89, "ping") + masked(0x80, "xt") + masked(0x82, "") +
                            masked(0x82, long_one) + masked(0x8a, "pong") + masked(0x88, "\x03\xe8");
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    MessageReader reader;
    std::vector<std::string> messages;
    std::vector<bool> texts;
    int pings = 0, closes = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.feed(std::string_view(bytes).substr(at, step));
      for (auto event = reader.next(); event.kind != Kind::kNeedsMore; event = reader.next()) {
        ASSERT_NE(event.kind, Kind::kBroken);
        if (event.kind == Kind::kPing) {
          EXPECT_EQ(event.data, "ping");
          ++pings;
        } else if (event.kind == Kind::kClose) {
          ++closes;
        } else {
          if (event.first) {
            messages.emplace_back();
            texts.push_back(event.text);
          }
          EXPECT_LE(event.data.size(), MessageReader::kMaxPiece);
          messages.back() += event.data;
        }
      }
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"hello", "text", "", long_one})) << step;
    EXPECT_EQ(texts, (std::vector<bool>{false, true, false, false}));
    EXPECT_EQ(pings, 1);
    EXPECT_EQ(closes, 1);
  }
}

TEST(MessageReader, ClientsThatBreakTheProtocolAreNotHeard) {
  std::string plain = masked(0x82, "x");
  plain[1] = 1;  // not masked
  for (const std::string& bytes : {plain, masked(0xc2, "x"), masked(0x80, "goes on"), masked(0x02, "a") + masked(0x82, "b"),
                                   masked(0x09, "cut"), masked(0x83, "x"), masked(0x89, std::string(126, 'p'))}) {
    MessageReader reader;
    reader.feed(bytes);
    auto event = reader.next();
    while (event.kind == Kind::kData) event = reader.next();
    EXPECT_EQ(event.kind, Kind::kBroken);
  }
}

TEST(MessageReader, ManyUnaskedPongsCostNoStack) {
  MessageReader reader;
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += masked(0x8a, "");
  reader.feed(bytes + masked(0x82, "x"));
  EXPECT_EQ(reader.next().data, "x");
}

TEST(WebSocketFrames, HaveTheShortestLength) {
  EXPECT_EQ(frame(kBinaryFrame, "ab"),
            "\x82\x02"
            "ab");
  EXPECT_EQ(frame(kBinaryFrame, std::string(126, 'x')).substr(0, 4), std::string("\x82\x7e\x00\x7e", 4));
  EXPECT_EQ(frame(kBinaryFrame, std::string(70'000, 'x')).substr(0, 10), std::string("\x82\x7f\0\0\0\0\0\x01\x11\x70", 10));
  EXPECT_EQ(close_frame(), "\x88\x02\x03\xe8");
}

}  // namespace
}  // namespace backplane::core
