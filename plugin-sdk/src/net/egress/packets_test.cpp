#include "net/egress/packets.hpp"

#include <gtest/gtest.h>

namespace backplane::egress {
namespace {

TEST(Packets, AreTheBytesOfTheirProtobufMessages) {
  EXPECT_EQ(dial_request("a:1", 300), std::string("\x08\x00\x12\x0d\x0a\x03tcp\x12\x03"
                                                  "a:1\x18\xac\x02",
                                                  17));
  EXPECT_EQ(close_request(7), std::string("\x08\x02\x2a\x02\x08\x07", 6));
  EXPECT_EQ(dial_close(1), std::string("\x08\x05\x3a\x02\x08\x01", 6));
  EXPECT_EQ(data_packet(7, "xyz"), std::string("\x08\x04\x22\x07\x08\x07\x1a\x03xyz", 11));
}

TEST(Packets, AreReadWithTheMembersOfTheirType) {
  const auto answer = read_packet(std::string("\x08\x01\x1a\x09\x0a\x02no\x10\x05\x18\xac\x02", 13));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->type, PacketType::kDialResponse);
  EXPECT_EQ(answer->error, "no");
  EXPECT_EQ(answer->connection, 5);
  EXPECT_EQ(answer->random, 300);
  const auto data = read_packet(data_packet(9, "bytes"));
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->type, PacketType::kData);
  EXPECT_EQ(data->connection, 9);
  EXPECT_EQ(data->data, "bytes");
}

TEST(Packets, BytesThatAreNoneAreNotRead) {
  EXPECT_FALSE(read_packet("\x08").has_value());
  EXPECT_FALSE(read_packet("\x08\x63").has_value()) << "an unknown type";
  EXPECT_FALSE(read_packet("\x1a\x09").has_value()) << "shorter than it says";
  EXPECT_FALSE(read_packet("\x0f").has_value()) << "an unknown wire type";
}

}  // namespace
}  // namespace backplane::egress
