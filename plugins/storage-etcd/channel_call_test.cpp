#include "channel_call.hpp"

#include <gtest/gtest.h>

namespace backplane::etcd {
namespace {

constexpr Method kMethod{"etcdserverpb.KV", "Range"};

class Nobody final : public CallListener {
 public:
  bool message(std::string) override { return true; }
  void ended(CallStatus) override {}
};

class ChannelCall : public testing::Test {
 protected:
  Channel::Call make() { return {kMethod, nobody_, Channel::Clock::time_point::max(), false, false}; }
  Nobody nobody_;
};

TEST_F(ChannelCall, IsNamedByItsServiceAndMethod) { EXPECT_EQ(make().path, "/etcdserverpb.KV/Range"); }

TEST_F(ChannelCall, MessagesAreTakenHoweverTheyAreCutUp) {
  Channel::Call sent = make();
  sent.add_message("one");
  sent.add_message("");
  sent.add_message(std::string(300, 'x'));
  Channel::Call call = make();
  std::vector<std::string> taken;
  for (const char each : sent.out) {
    call.in += each;
    while (auto message = call.take_message()) taken.push_back(*message);
  }
  EXPECT_EQ(taken, (std::vector<std::string>{"one", "", std::string(300, 'x')}));
  call.in = sent.out;
  EXPECT_EQ(call.take_message(), "one");
  EXPECT_EQ(call.take_message(), "");
  EXPECT_EQ(call.take_message(), std::string(300, 'x'));
  EXPECT_EQ(call.take_message(), std::nullopt);
}

TEST_F(ChannelCall, AStatusIsTheServersWordForIt) {
  Channel::Call call = make();
  call.header(":status", "200");
  call.header("grpc-status", "14");
  call.header("grpc-message", "etcdserver: no leader %e2%80%94 %zz%");
  const CallStatus status = call.status(0);
  EXPECT_EQ(status.code, Code::kUnavailable);
  EXPECT_EQ(status.message, "etcdserver: no leader \xe2\x80\x94 %zz%");
  EXPECT_FALSE(status.never_sent);
}

TEST_F(ChannelCall, WithoutAStatusItIsToldWhyThereIsNone) {
  EXPECT_TRUE(make().status(NGHTTP2_REFUSED_STREAM).never_sent);
  EXPECT_EQ(make().status(NGHTTP2_CANCEL).code, Code::kCancelled);
  EXPECT_EQ(make().status(NGHTTP2_INTERNAL_ERROR).code, Code::kInternal);
  Channel::Call proxied = make();
  proxied.header(":status", "502");
  EXPECT_EQ(proxied.status(0).message, "the server answered 502");
}

TEST_F(ChannelCall, WhatIsCompressedIsRefused) {
  Channel::Call call = make();
  call.in = std::string("\1\0\0\0\1x", 6);
  EXPECT_EQ(call.take_message(), std::nullopt);
  call.header("grpc-status", "0");
  EXPECT_FALSE(call.status(0).ok());
}

TEST_F(ChannelCall, NoRoomIsMadeForWhatIsOnlyAnnounced) {
  Channel::Call call = make();
  call.in = std::string("\0\x7f\xff\xff\xff", 5);
  EXPECT_EQ(call.take_message(), std::nullopt);
  EXPECT_TRUE(call.unreadable.empty());
  EXPECT_LT(call.in.capacity(), std::size_t{64} << 20);
  call.in = std::string("\0\x80\0\0\0", 5);
  EXPECT_EQ(call.take_message(), std::nullopt);
  EXPECT_EQ(call.status(0).code, Code::kInternal);
}

TEST_F(ChannelCall, APageIsNoAnswer) {
  Channel::Call call = make();
  call.header(":status", "200");
  call.header("content-type", "text/html");
  EXPECT_FALSE(call.speaks_grpc());
  EXPECT_EQ(call.status(0).code, Code::kUnavailable);
  EXPECT_NE(call.status(0).message.find("text/html"), std::string::npos);
}

}  // namespace
}  // namespace backplane::etcd
