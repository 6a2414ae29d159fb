// Two channels over a socket pair.
#include "runner/channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>

namespace backplane::runner {
namespace {

using namespace std::chrono_literals;

Channel::Clock::time_point soon() { return Channel::Clock::now() + 20s; }

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  void connect(Channel::Handler left, Channel::Handler right, std::size_t threads = 4) {
    left_ = std::make_unique<Channel>(ends_[0], std::move(left), threads, "left");
    right_ = std::make_unique<Channel>(ends_[1], std::move(right), threads, "right");
    left_->start();
    right_->start();
  }
  static Result<std::string> echo(std::uint16_t function, std::string_view payload) {
    return std::to_string(function) + std::string(payload);
  }

  int ends_[2] = {-1, -1};
  std::unique_ptr<Channel> left_, right_;
};

TEST_F(ChannelTest, ACallIsAnswered) {
  connect(echo, echo);
  EXPECT_EQ(*left_->call(3, "abc", soon()), "3abc");
  EXPECT_EQ(*right_->call(4, std::string(5 << 20, 'x'), soon()), "4" + std::string(5 << 20, 'x'));
}

TEST_F(ChannelTest, ARefusalIsTheStatusOfTheOtherSide) {
  connect(echo, [](std::uint16_t function, std::string_view) -> Result<std::string> {
    if (function == 1) return not_found("", "shelves", "a");
    throw std::runtime_error("thrown");
  });
  const auto refused = left_->call(1, "", soon());
  EXPECT_EQ(std::pair(refused.status().code(), refused.status().message()), std::pair(404, std::string("shelves \"a\" not found")));
  EXPECT_EQ(left_->call(2, "", soon()).status().code(), 500);
}

TEST_F(ChannelTest, ManyCallsAreUnderWayAtATime) {
  std::latch all(4);
  connect(echo, [&all](std::uint16_t, std::string_view payload) -> Result<std::string> {
    all.arrive_and_wait();
    return std::string(payload);
  });
  std::vector<std::future<Result<std::string>>> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(std::async(std::launch::async, [this, i] { return left_->call(1, std::to_string(i), soon()); }));
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(*calls[static_cast<std::size_t>(i)].get(), std::to_string(i));
}

TEST_F(ChannelTest, ACallForACallRunsOnTheThreadThatWaits) {
  std::thread::id at;
  connect(
      [&at](std::uint16_t, std::string_view payload) -> Result<std::string> {
        at = std::this_thread::get_id();
        return "inner " + std::string(payload);
      },
      [this](std::uint16_t, std::string_view payload) { return right_->call(9, std::string(payload), soon()); }, 1);
  EXPECT_EQ(*left_->call(1, "x", soon()), "inner x");
  EXPECT_EQ(at, std::this_thread::get_id());
}

TEST_F(ChannelTest, EndlessNestingIsRefused) {
  const auto again = [](std::unique_ptr<Channel>& channel) {
    return [&channel](std::uint16_t, std::string_view) { return channel->call(1, "", soon()); };
  };
  connect(again(left_), again(right_));
  EXPECT_EQ(left_->call(1, "", soon()).status().code(), 500);
}

TEST_F(ChannelTest, ACallWithoutAnAnswerInTimeIsATimeoutAndALateAnswerIsDropped) {
  std::promise<void> go;
  auto may_go = go.get_future().share();
  connect(echo, [may_go](std::uint16_t function, std::string_view payload) {
    if (function == 1) may_go.wait();
    return echo(function, payload);
  });
  EXPECT_EQ(left_->call(1, "", Channel::Clock::now() + 10ms).status().reason(), Reason::kTimeout);
  go.set_value();
  EXPECT_EQ(*left_->call(2, "", soon()), "2");
}

TEST_F(ChannelTest, TheEndOfTheOtherSideEndsAllCalls) {
  std::promise<void> closed;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Channel own(ends[0], echo, 1, "own");
  own.on_closed([&closed] { closed.set_value(); });
  own.start();
  auto call = std::async(std::launch::async, [&own] { return own.call(7, "", soon()); });
  char byte = 0;
  ASSERT_EQ(::recv(ends[1], &byte, 1, 0), 1) << "the call was sent";
  ::close(ends[1]);
  EXPECT_EQ(call.get().status().reason(), Reason::kServiceUnavailable);
  closed.get_future().wait();
  EXPECT_EQ(own.interrupted(), std::vector<std::uint16_t>{7});
  EXPECT_EQ(own.call(7, "", soon()).status().reason(), Reason::kServiceUnavailable);
}

// Bytes of a process that the host does not trust.
TEST_F(ChannelTest, HostileFramesCloseTheChannel) {
  const auto frame = [](const FrameHead& head, std::string payload = {}) {
    std::string bytes;
    append_head(bytes, head);
    return bytes + payload;
  };
  const std::string hostile[] = {
      std::string(64, '\0'),
      std::string(64, '\xff'),
      frame({FrameType::kAnswer, 1, 0, 999, 0}),             // of a call that was never made
      frame({FrameType::kCall, 1, 0, 1, 999}),               // for a call that was never made
      frame({FrameType::kCall, 1, kMostPayload + 1, 1, 0}),  // too large
  };
  for (const std::string& bytes : hostile) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    Channel own(ends[0], echo, 1, "own");
    std::promise<void> closed;
    own.on_closed([&closed] { closed.set_value(); });
    own.start();
    ASSERT_EQ(::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(closed.get_future().wait_for(20s), std::future_status::ready);
    EXPECT_TRUE(own.closed());
    ::close(ends[1]);
  }
}

TEST_F(ChannelTest, AnotherSideThatDoesNotReadIsNotWaitedForLongerThanTheDeadline) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Channel own(ends[0], echo, 1, "own");
  own.start();
  EXPECT_FALSE(own.call(1, std::string(16 << 20, 'x'), Channel::Clock::now() + 50ms).ok());
  EXPECT_TRUE(own.closed()) << "a part of the frame was sent";
  ::close(ends[1]);
}

}  // namespace
}  // namespace backplane::runner
