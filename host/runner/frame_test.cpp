// The frames between host and runner, valid and malformed.
#include "runner/frame.hpp"

#include <gtest/gtest.h>

#include <random>

#include "runner/crossing.hpp"

namespace backplane::runner {
namespace {

std::string head_of(const FrameHead& head) {
  std::string bytes;
  append_head(bytes, head);
  return bytes;
}

TEST(Frame, AHeadIsReadAsItWasWritten) {
  const FrameHead head{FrameType::kAnswer, 7, 1234};
  const auto read = parse_head(head_of(head));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->type, FrameType::kAnswer);
  EXPECT_EQ(std::tuple(read->function, read->size), std::tuple(7, 1234U));
}

TEST(Frame, AHeadThatIsNotValidIsRefused) {
  const std::string good = head_of({FrameType::kCall, 1, 0});
  ASSERT_TRUE(parse_head(good));
  EXPECT_FALSE(parse_head(good.substr(1)));
  const auto changed = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    return parse_head(bytes).has_value();
  };
  EXPECT_FALSE(changed(0, 'X')) << "magic";
  EXPECT_FALSE(changed(4, 0)) << "type";
  EXPECT_FALSE(changed(4, 4)) << "type";
  EXPECT_FALSE(changed(5, 1)) << "type";
  EXPECT_FALSE(changed(12, 1)) << "reserved";
  EXPECT_FALSE(parse_head(head_of({FrameType::kCall, 1, kMostPayload + 1})));
  EXPECT_TRUE(parse_head(head_of({FrameType::kCall, 1, kMostPayload})));
}

TEST(Frame, AReaderThatRunsOutOfBytesFailsAndStaysSo) {
  Writer out;
  out.number(1000, 4);
  Reader text(out.bytes());
  EXPECT_EQ(text.text(), "");
  EXPECT_TRUE(text.failed());
  EXPECT_EQ(text.number(1), 0U);
  Reader count(out.bytes());
  EXPECT_EQ(count.count(1), 0U);
  EXPECT_TRUE(count.failed()) << "a list of more elements than there are bytes is not allocated";
}

TEST(Frame, NumbersKeepTheirSign) {
  Writer out;
  put(out, std::int32_t{-5});
  put(out, std::int64_t{-6});
  Reader in(out.bytes());
  std::int32_t small = 0;
  std::int64_t large = 0;
  take(in, small);
  take(in, large);
  EXPECT_TRUE(in.complete());
  EXPECT_EQ(std::pair(small, large), std::pair(std::int32_t{-5}, std::int64_t{-6}));
}

bp_write sample_write(const bp_user& user) {
  bp_write write{};
  write.operation = BP_UPDATE;
  write.dry_run = 1;
  write.group = stable::str("example.com");
  write.object = stable::str("{\"a\":1}");
  write.user = &user;
  return write;
}

TEST(Crossing, AWriteArrivesWithItsUser) {
  const bp_str groups[] = {stable::str("a"), stable::str("b")};
  bp_user user{sizeof(user), stable::str("jane"), stable::str("7"), groups, 2, stable::str("{}")};
  const bp_write write = sample_write(user);
  Writer out;
  Parameter<const bp_write*>::send(out, &write);
  Reader in(out.bytes());
  Parameter<const bp_write*>::Kept kept;
  kept.take(in);
  ASSERT_TRUE(in.complete());
  const bp_write& got = *kept.given();
  EXPECT_EQ(std::tuple(got.operation, got.dry_run, stable::text(got.group), stable::text(got.object)),
            std::tuple(static_cast<std::uint32_t>(BP_UPDATE), 1, "example.com", "{\"a\":1}"));
  EXPECT_EQ(std::tuple(stable::text(got.user->name), got.user->group_count, stable::text(got.user->groups[1])),
            std::tuple("jane", std::size_t{2}, "b"));
}

TEST(Crossing, AnErrorArrivesWithItsReason) {
  bp_error error{};
  stable::fail(&error, not_found("", "shelves", "a"));
  Writer out;
  put(out, error);
  Reader in(out.bytes());
  bp_error got{};
  take(in, got);
  EXPECT_TRUE(in.complete());
  EXPECT_EQ(stable::status_of(got).message(), "shelves \"a\" not found");
  EXPECT_EQ(stable::status_of(got).reason(), Reason::kNotFound);
}

// Every shortened copy of a valid payload, and many copies with a changed byte: a Reader never reads beyond the payload, and returns
// nothing larger than the payload.
TEST(Crossing, HostileBytesEndInAFailureOrInTextsOfThePayload) {
  const bp_str groups[] = {stable::str("a")};
  bp_user user{sizeof(user), stable::str("jane"), stable::str("7"), groups, 1, stable::str("{}")};
  const bp_write write = sample_write(user);
  Writer out;
  Parameter<const bp_write*>::send(out, &write);
  const auto read = [](const std::string& bytes) {
    Reader in(bytes);
    Parameter<const bp_write*>::Kept kept;
    kept.take(in);
    EXPECT_LE(kept.given()->object.size, bytes.size());
    EXPECT_LE(kept.given()->user->group_count, bytes.size());
    return in.complete();
  };
  EXPECT_TRUE(read(out.bytes()));
  for (std::size_t size = 0; size < out.bytes().size(); ++size) EXPECT_FALSE(read(out.bytes().substr(0, size)));
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = out.bytes();
    for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    (void)read(bytes);
  }
}

}  // namespace
}  // namespace backplane::runner
