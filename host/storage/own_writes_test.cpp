#include "storage/own_writes.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

SharedBytes bytes(std::string text) { return SharedBytes(std::move(text)); }

TEST(OwnWrites, AWriteIsTakenOnceAndByItsBytes) {
  OwnWrites writes;
  writes.note("a", bytes("one"), bytes("ONE"));
  writes.note("a", bytes("two"), bytes("TWO"));
  writes.note("b", bytes("one"), bytes("1"));
  EXPECT_FALSE(writes.take("a", bytes("three")));
  EXPECT_FALSE(writes.take("c", bytes("one")));
  EXPECT_EQ(writes.take("a", bytes("two"))->view(), "TWO");
  EXPECT_EQ(writes.take("a", bytes("one"))->view(), "ONE");
  EXPECT_FALSE(writes.take("a", bytes("one")));
  EXPECT_EQ(writes.take("b", bytes("one"))->view(), "1");
}

TEST(OwnWrites, EntriesThatAreNotTakenAreDroppedOldestFirst) {
  OwnWrites writes;
  for (std::size_t i = 0; i < OwnWrites::kMost + 2; ++i) writes.note("same", bytes(std::to_string(i)), bytes("w" + std::to_string(i)));
  EXPECT_FALSE(writes.take("same", bytes("0")));
  EXPECT_FALSE(writes.take("same", bytes("1")));
  EXPECT_EQ(writes.take("same", bytes("2"))->view(), "w2");
}

TEST(OwnWrites, LargeOnesAreBoundedByTheirBytes) {
  OwnWrites writes;
  const std::string large(OwnWrites::kMostBytes / 3, 'x');
  for (const char* key : {"a", "b", "c", "d"}) writes.note(key, bytes(large), bytes(key));
  EXPECT_FALSE(writes.take("a", bytes(large)));
  EXPECT_EQ(writes.take("d", bytes(large))->view(), "d");
}

}  // namespace
}  // namespace backplane
