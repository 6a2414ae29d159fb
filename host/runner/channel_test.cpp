// Two channels over a socket pair.
#include "runner/channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <future>
#include <latch>

namespace backplane::runner {
namespace {

using namespace std::chrono_literals;

Channel::Clock::time_point soon() { return Channel::Clock::now() + 20s; }

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  void connect(Channel::Handler left, Channel::Handler right, std::size_t calls = 4) {
    left_ = std::make_unique<Channel>(ends_[0], std::move(left), ChannelLimits{calls, calls}, "left");
    right_ = std::make_unique<Channel>(ends_[1], std::move(right), ChannelLimits{calls, calls}, "right");
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
  Channel own(ends[0], echo, ChannelLimits{1, 1}, "own");
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

TEST_F(ChannelTest, ACallWaitsForALane) {
  std::promise<void> go;
  auto may_go = go.get_future().share();
  connect(
      echo,
      [may_go](std::uint16_t function, std::string_view payload) {
        may_go.wait();
        return echo(function, payload);
      },
      1);
  auto first = std::async(std::launch::async, [this] { return left_->call(1, "", soon()); });
  EXPECT_EQ(left_->call(2, "", Channel::Clock::now() + 10ms).status().reason(), Reason::kTimeout);
  auto second = std::async(std::launch::async, [this] { return left_->call(2, "", soon()); });
  go.set_value();
  EXPECT_EQ(*first.get(), "1");
  EXPECT_EQ(*second.get(), "2");
}

// A process that the host does not trust. It has the other end of the channel's socket, and the other ends of the lanes.
class RawPeer {
 public:
  RawPeer() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  ~RawPeer() { ::close(ends_[1]); }
  int own_end() const { return ends_[0]; }
  // Opens a lane to the channel.
  int open() const {
    int lane[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lane), 0);
    Message message;
    std::memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message.head)), &lane[0], sizeof(int));
    EXPECT_EQ(::sendmsg(ends_[1], &message.head, MSG_NOSIGNAL), 1);
    ::close(lane[0]);
    return lane[1];
  }
  // Receives a lane that the channel opens.
  int accept() const {
    Message message;
    EXPECT_EQ(::recvmsg(ends_[1], &message.head, 0), 1);
    int lane = -1;
    std::memcpy(&lane, CMSG_DATA(CMSG_FIRSTHDR(&message.head)), sizeof(int));
    return lane;
  }
  void send_bytes(int socket, std::string_view bytes) const {
    EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  int socket() const { return ends_[1]; }

 private:
  struct Message {
    Message() {
      part = {&byte, 1};
      head.msg_iov = &part;
      head.msg_iovlen = 1;
      head.msg_control = control;
      head.msg_controllen = sizeof(control);
      cmsghdr* const header = CMSG_FIRSTHDR(&head);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
    }
    char byte = 'L';
    iovec part{};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr head{};
  };
  int ends_[2] = {-1, -1};
};

std::string frame(const FrameHead& head, const std::string& payload = {}) {
  std::string bytes;
  append_head(bytes, head);
  return bytes + payload;
}

const std::string kHostile[] = {
    std::string(64, '\0'),
    std::string(64, '\xff'),
    frame({FrameType::kCall, 1, kMostPayload + 1}),  // too large
    frame({FrameType::kCall, 1, 1}, "two of one byte"),
};

void expect_closed(const std::function<void(RawPeer&)>& act) {
  RawPeer side;
  Channel own(
      side.own_end(), [](std::uint16_t, std::string_view) -> Result<std::string> { return std::string(); }, {1, 1}, "own");
  std::promise<void> closed;
  own.on_closed([&closed] { closed.set_value(); });
  own.start();
  act(side);
  EXPECT_EQ(closed.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_TRUE(own.closed());
}

TEST(HostileChannel, CallsThatAreNoFramesCloseIt) {
  for (const std::string& bytes : kHostile) {
    expect_closed([&](RawPeer& side) { side.send_bytes(side.open(), bytes); });
  }
  expect_closed([](RawPeer& side) { side.send_bytes(side.open(), frame({FrameType::kAnswer, 1, 0})); });
}

TEST(HostileChannel, AnswersThatAreNoFramesCloseIt) {
  for (const std::string& bytes : kHostile) {
    RawPeer side;
    Channel own(
        side.own_end(), [](std::uint16_t, std::string_view) -> Result<std::string> { return std::string(); }, {1, 1}, "own");
    own.start();
    auto call = std::async(std::launch::async, [&own] { return own.call(1, "", soon()); });
    side.send_bytes(side.accept(), bytes);
    EXPECT_EQ(call.get().status().reason(), Reason::kServiceUnavailable);
    EXPECT_TRUE(own.closed());
  }
}

TEST(HostileChannel, ItsSocketCarriesNothingButLanes) {
  expect_closed([](RawPeer& side) { side.send_bytes(side.socket(), "L"); });
}

TEST(HostileChannel, NoMoreLanesAreServedThanAreAllowed) {
  RawPeer side;
  Channel own(
      side.own_end(), [](std::uint16_t, std::string_view payload) -> Result<std::string> { return std::string(payload); }, {1, 1}, "own");
  own.start();
  auto first = std::make_unique<Lane>(side.open());
  Frame answer;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(first->send({FrameType::kCall, 1, 2}, "ab", soon()), Lane::Outcome::kFrame);
    ASSERT_EQ(first->receive(answer, soon()), Lane::Outcome::kFrame);
    EXPECT_EQ(answer.payload, "ab");
    auto next = std::make_unique<Lane>(side.open());
    ASSERT_EQ(next->send({FrameType::kCall, 1, 1}, "c", soon()), Lane::Outcome::kFrame);
    if (i == 0) {
      EXPECT_EQ(next->receive(answer, Lane::Clock::now() + 20ms), Lane::Outcome::kTimeout);
    }
    first = std::move(next);
    ASSERT_EQ(first->receive(answer, soon()), Lane::Outcome::kFrame);
    EXPECT_EQ(answer.payload, "c");
  }
}

TEST(HostileChannel, ASideThatDoesNotReadIsNotWaitedForLongerThanTheDeadline) {
  RawPeer side;
  Channel own(
      side.own_end(), [](std::uint16_t, std::string_view) -> Result<std::string> { return std::string(); }, {1, 1}, "own");
  own.start();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(own.call(1, std::string(16 << 20, 'x'), Channel::Clock::now() + 50ms).status().reason(), Reason::kTimeout);
    EXPECT_FALSE(own.closed()) << "another call gets another lane";
  }
}

}  // namespace
}  // namespace backplane::runner
