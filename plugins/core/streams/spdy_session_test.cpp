#include "streams/spdy_session.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "streams/big_endian.hpp"

namespace backplane::core::spdy {
namespace {

using Kind = Session::Event::Kind;

std::string control(unsigned type, unsigned flags, const std::string& body) {
  std::string out;
  append_number(out, 0x80030000u | type);
  append_number(out, (flags << 24) | static_cast<std::uint32_t>(body.size()));
  return out + body;
}

std::string number(std::uint32_t value) {
  std::string out;
  append_number(out, value);
  return out;
}

std::string data(std::uint32_t stream, const std::string& bytes, bool last = false) {
  return number(stream) + number((last ? 1u << 24 : 0u) | static_cast<std::uint32_t>(bytes.size())) + bytes;
}

// Decompresses the complete output of a zlib stream.
class Unpacker {
 public:
  Unpacker() { inflateInit(&z_); }
  ~Unpacker() { inflateEnd(&z_); }
  std::string read(std::string packed) {
    std::string out(4096, '\0');
    z_.next_in = reinterpret_cast<Bytef*>(packed.data());
    z_.avail_in = static_cast<uInt>(packed.size());
    z_.next_out = reinterpret_cast<Bytef*>(out.data());
    z_.avail_out = static_cast<uInt>(out.size());
    int code = inflate(&z_, Z_SYNC_FLUSH);
    if (code == Z_NEED_DICT) {
      const std::string& words = dictionary();
      inflateSetDictionary(&z_, reinterpret_cast<const Bytef*>(words.data()), static_cast<uInt>(words.size()));
      code = inflate(&z_, Z_SYNC_FLUSH);
    }
    EXPECT_EQ(code, Z_OK);
    out.resize(out.size() - z_.avail_out);
    return out;
  }

 private:
  z_stream z_{};
};

TEST(SpdyHeaders, TheDictionaryIsTheProtocols) {
  const std::string& words = dictionary();
  EXPECT_EQ(words.size(), 1423u);
  // The checksum of the dictionary in every zlib stream of SPDY/3.
  EXPECT_EQ(adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(words.data()), static_cast<uInt>(words.size())), 0xe3c6a7c2u);
}

TEST(SpdySession, StreamsAreOpenedWithTheirHeaders) {
  Session session;
  Unpacker unpacker;
  for (const auto& [id, type] : {std::pair{1u, "error"}, std::pair{3u, "stdin"}}) {
    EXPECT_EQ(session.open("streamtype", type), id);
    const std::string sent = session.take_output();
    EXPECT_EQ(read_number(sent, 0), 0x80030001u);
    EXPECT_EQ(read_number(sent, 4), sent.size() - 8);
    EXPECT_EQ(read_number(sent, 8), id);
    const std::string type_text = type;
    EXPECT_EQ(unpacker.read(sent.substr(18)),
              number(1) + number(10) + "streamtype" + number(static_cast<std::uint32_t>(type_text.size())) + type_text);
  }
}

TEST(SpdySession, WhatIsSentIsCutIntoFramesAndEndsOnce) {
  Session session;
  const auto stream = session.open("streamtype", "stdin");
  session.take_output();
  session.send(stream, std::string(Session::kMaxPiece + 1, 'x'));
  session.end(stream);
  session.end(stream);
  session.send(stream, "too late");
  EXPECT_EQ(session.take_output(), data(stream, std::string(Session::kMaxPiece, 'x')) + data(stream, "x") + data(stream, "", true));
}

TEST(SpdySession, DataComesInWhateverPieces) {
  Session session;
  const auto out = session.open("streamtype", "stdout");
  const std::string bytes = control(2, 0, number(out)) + data(out, "hello ") + data(99, "nobody's") + data(out, "world", true);
  std::string got;
  int opened = 0, ended = 0;
  for (const char c : bytes) {
    session.feed(std::string_view(&c, 1));
    for (auto event = session.next(); event.kind != Kind::kNeedsMore; event = session.next()) {
      ASSERT_NE(event.kind, Kind::kBroken);
      EXPECT_EQ(event.stream, out);
      if (event.kind == Kind::kOpened) ++opened;
      if (event.kind == Kind::kData) got += event.data;
      if (event.kind == Kind::kEnded) ++ended;
    }
  }
  EXPECT_EQ(got, "hello world");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(ended, 1);
}

TEST(SpdySession, PingsAreAnsweredAndOwnOnesAreNot) {
  Session session;
  session.feed(control(6, 0, number(2)) + control(6, 0, number(1)));
  EXPECT_EQ(session.next().kind, Kind::kNeedsMore);
  EXPECT_EQ(session.take_output(), control(6, 0, number(2)));
  session.ping();
  session.ping();
  EXPECT_EQ(session.take_output(), control(6, 0, number(1)) + control(6, 0, number(3)));
}

TEST(SpdySession, AResetEndsBothDirections) {
  Session session;
  const auto stream = session.open("streamtype", "stdin");
  session.take_output();
  session.feed(control(3, 0, number(stream) + number(5)));
  EXPECT_EQ(session.next().kind, Kind::kEnded);
  session.send(stream, "x");
  EXPECT_EQ(session.take_output(), "");
  EXPECT_EQ(session.next().kind, Kind::kNeedsMore);
}

TEST(SpdySession, AReplyMayEndItsStream) {
  Session session;
  const auto stream = session.open("streamtype", "stdout");
  session.feed(control(2, 1, number(stream)));
  EXPECT_EQ(session.next().kind, Kind::kOpened);
  EXPECT_EQ(session.next().kind, Kind::kEnded);
}

TEST(SpdySession, WhatBreaksTheProtocolEndsIt) {
  for (const std::string& bytes : {number(0x80020006u) + number(4) + number(2),             // another version
                                   number(0x80030004u) + number(Session::kMaxControl + 1),  // too long
                                   control(3, 0, "ab")}) {                                  // too short
    Session session;
    session.feed(bytes);
    EXPECT_EQ(session.next().kind, Kind::kBroken);
    session.feed(data(1, "x"));
    EXPECT_EQ(session.next().kind, Kind::kBroken);
  }
}

TEST(SpdySession, StreamsOfThePeerAreRefused) {
  Session session;
  session.feed(control(1, 0, number(2) + number(0) + "xx"));
  EXPECT_EQ(session.next().kind, Kind::kNeedsMore);
  EXPECT_EQ(session.take_output(), control(3, 0, number(2) + number(5)));
}

TEST(SpdySession, NoiseNeverHoldsMoreThanItWasGiven) {
  std::minstd_rand random(7);
  for (int round = 0; round < 300; ++round) {
    Session session;
    session.open("streamtype", "stdout");
    std::size_t given = 0, got = 0;
    for (int piece = 0; piece < 20; ++piece) {
      std::string noise(random() % 200, '\0');
      for (char& c : noise) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 4);
      given += noise.size();
      session.feed(noise);
      for (auto event = session.next(); event.kind != Kind::kNeedsMore && event.kind != Kind::kBroken; event = session.next()) {
        got += event.data.size();
      }
    }
    EXPECT_LE(got, given);
  }
}

}  // namespace
}  // namespace backplane::core::spdy
