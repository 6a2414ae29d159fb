#include "channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <thread>

#include "base/io_loop.hpp"
#include "scripted_server.hpp"
#include "wire_on_loop.hpp"
#include "wire_thread.hpp"

namespace backplane::etcd {
namespace {

using namespace std::chrono_literals;

constexpr Method kRange{"etcdserverpb.KV", "Range"};

class Heard final : public CallListener {
 public:
  bool message(std::string bytes) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(bytes));
    changed_.notify_all();
    return goes_on;
  }
  void ended(CallStatus status) override {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(end_) << "told twice";
    end_ = std::move(status);
    changed_.notify_all();
  }
  CallStatus end() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [this] { return end_.has_value(); })) return {Code::kUnknown, "nobody told of the end"};
    return *end_;
  }
  bool has_ended() {
    const std::lock_guard lock(mutex_);
    return end_.has_value();
  }
  std::vector<std::string> messages(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return messages_.size() >= count; });
    return messages_;
  }
  std::atomic<bool> goes_on{true};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> messages_;
  std::optional<CallStatus> end_;
};

enum class On : std::uint8_t { kThread, kLoop };

class ChannelOverWire : public testing::TestWithParam<On> {
 protected:
  void SetUp() override {
    settings_.keep_alive_apart = 0ms;
    loop_.start();
    if (GetParam() == On::kThread) wire_ = std::make_shared<WireThread>();
    if (GetParam() == On::kLoop) wire_ = std::make_shared<WireOnLoop>(loop_);
  }
  void TearDown() override {
    end();
    loop_.stop();
  }
  void end() {
    if (channel_ == nullptr) return;
    channel_->close();
    where_it_belongs([this] {
      wire_->stop();
      channel_->dispose();
    });
    channel_.reset();
  }
  // A loop's own is made and let go there.
  void where_it_belongs(std::function<void()> work) {
    if (GetParam() == On::kThread) return work();
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void open(std::string host = "127.0.0.1") {
    const Endpoint endpoint{"dns:" + host + ":" + std::to_string(server_.port()), "http://server", false};
    where_it_belongs([&] { channel_ = Channel::make(wire_, settings_, endpoint, reached_); });
  }
  Channel::CallRef call(Heard& heard, bool more = false, Channel::Clock::duration patience = 60s, std::string message = "ask") {
    const auto deadline = more ? Channel::Clock::time_point::max() : Channel::Clock::now() + patience;
    return channel_->start({more ? kWatchMethod : kRange, std::move(message), deadline, more}, heard);
  }
  void answer(std::uint32_t stream) { server_.say(Frame::begin(stream) + Frame::data(stream, Frame::message("yes")) + Frame::end(stream)); }
  // A connection with one call that has been answered.
  void connect() {
    open();
    Heard heard;
    call(heard);
    server_.take_http2();
    answer(server_.request());
    EXPECT_TRUE(heard.end().ok());
  }

  ScriptedServer server_;
  Settings settings_;
  IoLoop loop_{"wire"};
  std::shared_ptr<Wire> wire_;
  const std::shared_ptr<Reachability> reached_ = std::make_shared<Reachability>();
  std::shared_ptr<Channel> channel_;
};

INSTANTIATE_TEST_SUITE_P(, ChannelOverWire, testing::Values(On::kThread, On::kLoop),
                         [](const auto& each) { return each.param == On::kThread ? "OfAThread" : "OnALoop"; });

// ---- answers

TEST_P(ChannelOverWire, AnAnswerIsToldOnceHoweverItIsCutUp) {
  open();
  Heard heard;
  call(heard);
  server_.take_http2();
  const auto stream = server_.request();
  server_.say(Frame::begin(stream));
  for (const char byte : Frame::message("answer")) server_.say(Frame::data(stream, std::string(1, byte)));
  server_.say(Frame::end(stream));
  EXPECT_TRUE(heard.end().ok());
  EXPECT_THAT(heard.messages(1), testing::ElementsAre("answer"));
}

TEST_P(ChannelOverWire, StreamsThatTheServerNeverEndsAreEndedFromTheOldestOn) {
  open();
  const auto answered = [this](Heard& heard) {
    const auto stream = server_.request();
    server_.say(Frame::begin(stream) + Frame::data(stream, Frame::message("yes")));
    EXPECT_TRUE(heard.end().ok());
    return stream;
  };
  std::vector<std::unique_ptr<Heard>> all;
  std::uint32_t first = 0;
  for (int i = 0; i < 257; ++i) {
    call(*all.emplace_back(std::make_unique<Heard>()));
    if (i == 0) server_.take_http2();
    const auto stream = answered(*all.back());
    if (i == 0) first = stream;
  }
  EXPECT_EQ(server_.hear(Frame::kReset).stream, first);
}

TEST_P(ChannelOverWire, AStreamsMessagesMayShareAFrame) {
  open();
  Heard heard;
  call(heard, /*more=*/true);
  server_.take_http2();
  const auto stream = server_.request();
  server_.say(Frame::begin(stream) +
              Frame::data(stream, Frame::message("one") + Frame::message("") + Frame::message("three").substr(0, 7)) +
              Frame::data(stream, Frame::message("three").substr(7)));
  EXPECT_THAT(heard.messages(3), testing::ElementsAre("one", "", "three"));
  server_.say(Frame::end(stream, "14", "etcdserver: no%20leader"));
  EXPECT_EQ(heard.end().message, "etcdserver: no leader");
  EXPECT_EQ(server_.hear(Frame::kReset).stream, stream);
}

TEST_P(ChannelOverWire, AnAnswerOfTrailersAloneIsAStatus) {
  open();
  Heard heard;
  call(heard);
  server_.take_http2();
  server_.say(Frame::headers(
      server_.request(), {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "8"}, {"grpc-message", "too%20large"}},
      true));
  EXPECT_EQ(heard.end().code, Code::kResourceExhausted);
  EXPECT_EQ(heard.end().message, "too large");
}

TEST_P(ChannelOverWire, WhatIsCompressedIsNotTakenForAnAnswer) {
  open();
  for (const bool more : {false, true}) {
    Heard heard;
    call(heard, more);
    if (!more) server_.take_http2();
    const auto stream = server_.request();
    server_.say(Frame::begin(stream) + Frame::data(stream, std::string("\1\0\0\0\1x", 6)) + Frame::end(stream));
    EXPECT_EQ(heard.end().code, Code::kInternal);
    EXPECT_TRUE(heard.messages(0).empty());
  }
}

TEST_P(ChannelOverWire, APageOfAProxyIsNoMessage) {
  open();
  for (const char* status : {"404", "200"}) {
    Heard heard;
    call(heard);
    if (std::string_view(status) == "404") server_.take_http2();
    const auto stream = server_.request();
    server_.say(Frame::headers(stream, {{":status", status}, {"content-type", "text/html"}}) + Frame::data(stream, "<html><body>", true));
    const CallStatus end = heard.end();
    EXPECT_EQ(end.code, Code::kUnavailable) << end.message;
    EXPECT_FALSE(end.never_sent);
    EXPECT_TRUE(heard.messages(0).empty());
  }
}

// A server that refuses a request need not take the rest of it.
TEST_P(ChannelOverWire, AnEndBeforeTheRequestIsTakenIsTheEnd) {
  open();
  Heard heard;
  call(heard, false, 60s, std::string(1'000'000, 'x'));
  server_.take_http2();
  const auto stream = server_.request();
  server_.say(Frame::begin(stream) + Frame::end(stream, "8", "too large"));
  EXPECT_EQ(heard.end().code, Code::kResourceExhausted);
}

// ---- what may be asked again

TEST_P(ChannelOverWire, WhatAServerHasNotTakenIsKnownNotToHaveHappened) {
  connect();
  Heard taken, passed_over;
  call(taken);
  call(passed_over);
  const auto first = server_.request();
  server_.request();
  server_.say(Frame::go_away(first));
  const CallStatus refused = passed_over.end();
  EXPECT_EQ(refused.code, Code::kUnavailable);
  EXPECT_TRUE(refused.never_sent);
  answer(first);
  EXPECT_TRUE(taken.end().ok());
}

TEST_P(ChannelOverWire, ACallThatBrokeOffMayHaveHappened) {
  connect();
  Heard heard;
  call(heard);
  server_.request();
  server_.hang_up();
  EXPECT_EQ(heard.end().code, Code::kUnavailable);
  EXPECT_FALSE(heard.end().never_sent);
}

TEST_P(ChannelOverWire, AStreamThatIsResetIsRefusedOnlyWhereTheServerSaysSo) {
  connect();
  Heard refused, broken;
  call(refused);
  server_.say(Frame::reset(server_.request(), 7));  // REFUSED_STREAM
  EXPECT_TRUE(refused.end().never_sent);
  call(broken);
  server_.say(Frame::reset(server_.request(), 2));
  EXPECT_FALSE(broken.end().never_sent);
  EXPECT_EQ(broken.end().code, Code::kInternal);
}

// ---- connections that are left

TEST_P(ChannelOverWire, AConnectionThatIsLeftIsHeldUpByNoWatch) {
  connect();
  Heard watch, next;
  call(watch, /*more=*/true);
  const auto stream = server_.request();
  server_.say(Frame::begin(stream) + Frame::go_away(stream));
  EXPECT_EQ(watch.end().code, Code::kUnavailable);
  EXPECT_TRUE(server_.hears_the_end());
  call(next);
  server_.take_http2();
  answer(server_.request());
  EXPECT_TRUE(next.end().ok());
}

TEST_P(ChannelOverWire, AConnectionWhoseStreamsAreUsedUpIsMadeAnew) {
  settings_.last_stream = 3;
  connect();
  Heard last, next;
  call(last);
  const auto stream = server_.request();
  EXPECT_EQ(stream, 3U);
  call(next);
  answer(stream);
  EXPECT_TRUE(last.end().ok());
  server_.take_http2();
  answer(server_.request());
  EXPECT_TRUE(next.end().ok());
}

// ---- servers that break the rules

TEST_P(ChannelOverWire, AServerOfHttp1IsSaidToBeNone) {
  open();
  Heard heard;
  call(heard);
  server_.take();
  server_.say("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n");
  const CallStatus end = heard.end();
  EXPECT_TRUE(end.never_sent);
  EXPECT_NE(end.message.find("HTTP/2"), std::string::npos) << end.message;
}

TEST_P(ChannelOverWire, AConnectionWhoseRulesAreBrokenIsGivenUp) {
  connect();
  Heard watch;
  call(watch, /*more=*/true);
  server_.request();
  server_.say(Frame{Frame::kWindow, 0, 0, Frame::number(0)}.bytes());
  EXPECT_EQ(watch.end().code, Code::kUnavailable);
  EXPECT_TRUE(server_.hears_the_end());
}

TEST_P(ChannelOverWire, AServerThatComesBackIsFoundByItself) {
  server_.go_away();
  open();
  Heard refused;
  call(refused);
  EXPECT_TRUE(refused.end().never_sent);
  server_.come();
  // Nothing is asked meanwhile.
  server_.take_http2();
  while (!channel_->connected()) std::this_thread::sleep_for(1ms);
  Heard heard;
  call(heard);
  answer(server_.request());
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

// A host has several connections to a server: one that is told no does not refuse what comes once another one has been made.
TEST_P(ChannelOverWire, AServerThatAnotherConnectionHasReachedIsTriedAtOnce) {
  server_.go_away();
  open();
  Heard refused, refused_again, heard;
  call(refused);
  EXPECT_TRUE(refused.end().never_sent);
  reached_->note();
  call(refused_again);  // it was there, and is not
  EXPECT_TRUE(refused_again.end().never_sent);
  server_.come();
  reached_->note();
  call(heard);
  server_.take_http2();
  answer(server_.request());
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

TEST_P(ChannelOverWire, WhoAsksDuringAnAttemptOfBeforeWaitsForTheNext) {
  server_.go_away();
  open();
  Heard refused, heard;
  call(refused);
  EXPECT_TRUE(refused.end().never_sent);
  server_.come();
  server_.take();  // by itself, and nothing is said to it
  reached_->note();
  call(heard);
  server_.hang_up();
  server_.take_http2();
  answer(server_.request());
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

// What has waited in vain says that the connection may be dead: others are used until it is heard of again.
TEST_P(ChannelOverWire, AConnectionThatIsSilentIsInDoubtUntilItSaysSomething) {
  connect();
  Heard late;
  call(late, /*more=*/false, 30ms);
  server_.request();
  EXPECT_EQ(late.end().code, Code::kDeadlineExceeded);
  EXPECT_FALSE(channel_->connected());
  Frame ping = server_.hear(Frame::kPing);
  ping.flags = Frame::kAck;
  server_.say(ping.bytes());
  while (!channel_->connected()) std::this_thread::sleep_for(1ms);
}

TEST_P(ChannelOverWire, AConnectionThatStaysSilentIsMadeAnew) {
  settings_.keep_alive_timeout = 50ms;
  connect();
  Heard late, heard;
  call(late, /*more=*/false, 30ms);
  EXPECT_EQ(late.end().code, Code::kDeadlineExceeded);
  EXPECT_TRUE(server_.hears_the_end());
  call(heard);
  server_.take_http2();
  answer(server_.request());
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

TEST_P(ChannelOverWire, AnAttemptOfBeforeTheServerWasReachedIsMadeAgain) {
  open();
  Heard heard;
  call(heard);
  server_.take();
  reached_->note();
  server_.hang_up();
  server_.take_http2();
  answer(server_.request());
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

// What it must have been sent by is no limit for its answer.
TEST_P(ChannelOverWire, ACallThatWaitsForAConnectionMayBeAnsweredLater) {
  open();
  Heard heard, late;
  const auto begin = [](Channel::Clock::duration connection) {
    Channel::Begin made{kRange, "ask", Channel::Clock::now() + 60s};
    made.connect_by = Channel::Clock::now() + connection;
    return made;
  };
  channel_->start(begin(50ms), late);
  const CallStatus end = late.end();  // the server has not said a word
  EXPECT_EQ(end.code, Code::kUnavailable);
  EXPECT_TRUE(end.never_sent);
  Channel::Begin patient = begin(3s);
  const auto connect_by = patient.connect_by;
  channel_->start(std::move(patient), heard);
  server_.take_http2();
  const auto stream = server_.request();
  std::this_thread::sleep_until(connect_by + 100ms);
  answer(stream);
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

// ---- silence

TEST_P(ChannelOverWire, ASilentServerIsGivenUp) {
  settings_.keep_alive_idle = settings_.keep_alive_timeout = 50ms;
  open();
  Heard watch;
  call(watch, /*more=*/true);
  server_.take_http2();
  EXPECT_EQ(server_.hear(Frame::kPing).type, Frame::kPing);
  EXPECT_EQ(watch.end().code, Code::kUnavailable);
}

// Nothing is heard of a server that nothing is asked.
TEST_P(ChannelOverWire, AServerThatNothingWasAskedIsNotSilent) {
  settings_.keep_alive = 1ms;
  settings_.keep_alive_timeout = 3s;
  connect();
  std::this_thread::sleep_for(settings_.keep_alive + settings_.keep_alive_timeout);
  Heard heard;
  call(heard);
  const auto stream = server_.request();
  const Frame ping = server_.hear(Frame::kPing);
  server_.say(Frame{Frame::kPing, Frame::kAck, 0, ping.payload}.bytes());
  EXPECT_FALSE(heard.has_ended());
  answer(stream);
  EXPECT_TRUE(heard.end().ok()) << heard.end().message;
}

// A watch that begins when nothing else is under way is looked after, too.
TEST_P(ChannelOverWire, AServerThatFallsSilentWhileNothingIsAskedIsFoundOut) {
  settings_.keep_alive = settings_.keep_alive_idle = 2s;
  settings_.keep_alive_timeout = 1s;
  connect();
  std::this_thread::sleep_for(300ms);  // until nobody looks at the clock any more
  Heard watch;
  call(watch, /*more=*/true);
  EXPECT_EQ(watch.end().code, Code::kUnavailable);
}

// Nothing need come of a watch for hours, unless something must.
TEST_P(ChannelOverWire, AWatchThatIsToBringSomethingIsLookedAfterSooner) {
  settings_.keep_alive = settings_.keep_alive_timeout = 50ms;
  connect();
  Heard watch;
  call(watch, /*more=*/true);
  server_.request();
  std::this_thread::sleep_for(150ms);
  EXPECT_FALSE(watch.has_ended());
  channel_->expect();
  EXPECT_EQ(server_.hear(Frame::kPing).type, Frame::kPing);
  EXPECT_EQ(watch.end().code, Code::kUnavailable);
}

TEST_P(ChannelOverWire, ACallThatIsNotAnsweredInTimeEndsAndIsTakenBack) {
  connect();
  Heard heard;
  call(heard, false, 50ms);
  const auto stream = server_.request();
  EXPECT_EQ(heard.end().code, Code::kDeadlineExceeded);
  EXPECT_EQ(server_.hear(Frame::kReset).stream, stream);
}

// ---- flow

TEST_P(ChannelOverWire, AStreamThatIsNotReadHasTheServerWait) {
  open();
  Heard watch;
  watch.goes_on = false;
  const auto ref = call(watch, /*more=*/true);
  server_.take_http2();
  const auto stream = server_.request();
  server_.say(Frame::begin(stream) + Frame::data(stream, Frame::message("first")));
  watch.messages(1);
  // As much as its window: the connection's is given back, for others, and the stream's is not.
  const std::string piece = Frame::data(stream, Frame::message(std::string(16'000, 'x')));
  constexpr std::size_t kPieces = (4 << 20) / 16'005;
  std::thread saying([&] {
    for (std::size_t i = 0; i < kPieces; ++i) server_.say(piece);
  });
  watch.messages(1 + kPieces);
  saying.join();
  watch.goes_on = true;
  channel_->resume(ref);
  bool given_back = false;
  while (!given_back) {
    const Frame window = server_.hear(Frame::kWindow);
    ASSERT_EQ(window.type, Frame::kWindow);
    given_back = window.stream == stream;
  }
  channel_->cancel(ref);
  EXPECT_EQ(watch.end().code, Code::kCancelled);
}

// ---- the end

TEST_P(ChannelOverWire, EveryCallIsToldOfTheEndWhenItCloses) {
  connect();
  std::vector<std::unique_ptr<Heard>> all;
  for (int i = 0; i < 20; ++i) call(*all.emplace_back(std::make_unique<Heard>()), i % 2 == 0);
  channel_->close();
  Heard late;
  call(late);
  for (const auto& heard : all) EXPECT_EQ(heard->end().code, Code::kCancelled);
  EXPECT_TRUE(late.end().never_sent);
}

TEST_P(ChannelOverWire, ConnectionsLeaveNoDescriptorBehind) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), std::filesystem::directory_iterator());
  };
  connect();
  const auto before = descriptors();
  for (int i = 0; i < 10; ++i) {
    Heard heard;
    call(heard);
    if (i > 0) server_.take_http2();
    server_.request();
    server_.hang_up();
    EXPECT_FALSE(heard.end().ok());
  }
  EXPECT_LE(descriptors(), before);
}

// ---- the sockets of a loop

// Told of by a loop; what it does then is the test's.
class Told final : public Wire::User {
 public:
  explicit Told(std::function<void(std::uint32_t)> what) : what_(std::move(what)) {}
  void ready(std::uint32_t events) override { what_(events); }
  Wire::Clock::time_point look(Wire::Clock::time_point) override { return Wire::Clock::time_point::max(); }

 private:
  std::function<void(std::uint32_t)> what_;
};

class LoopsSockets : public testing::Test {
 protected:
  void SetUp() override {
    loop_.start();
    for (auto& pair : pairs_) ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
  }
  void TearDown() override {
    std::promise<void> done;
    loop_.post([&] {
      wire_->forget(pairs_[0][0]);
      done.set_value();
    });
    done.get_future().wait();
    loop_.stop();
    for (const auto& pair : pairs_) {
      for (const int each : pair) close(each);
    }
  }
  IoLoop loop_{"wire"};
  const std::shared_ptr<WireOnLoop> wire_ = std::make_shared<WireOnLoop>(loop_);
  std::array<std::array<int, 2>, 2> pairs_{};
  std::unique_ptr<Told> told_;  // until its socket is forgotten
};

TEST_F(LoopsSockets, ANumberThatIsUsedAgainWhileItIsToldOfIsHeard) {
  const int number = pairs_[0][0];
  std::promise<char> heard;
  int times = 0;
  told_ = std::make_unique<Told>([&](std::uint32_t) {
    char byte = 0;
    if (++times == 2) return heard.set_value(read(number, &byte, 1) == 1 ? byte : '?');
    wire_->forget(number);
    ASSERT_EQ(dup2(pairs_[1][0], number), number);  // closes the one that was there
    wire_->watch(number, *told_, false);
  });
  loop_.post([&] { wire_->watch(number, *told_, false); });
  ASSERT_EQ(write(pairs_[0][1], "a", 1), 1);
  ASSERT_EQ(write(pairs_[1][1], "b", 1), 1);
  auto answer = heard.get_future();
  ASSERT_EQ(answer.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(answer.get(), 'b');
}

TEST_F(LoopsSockets, WhoCouldNotWriteAllIsToldAgain) {
  const int number = pairs_[0][0];
  std::promise<void> written;
  int times = 0;
  told_ = std::make_unique<Told>([&](std::uint32_t events) {
    EXPECT_EQ(events, static_cast<std::uint32_t>(EPOLLOUT));
    if (++times != 3) return;
    wire_->change(number, *told_, false);
    written.set_value();
  });
  loop_.post([&] { wire_->watch(number, *told_, true); });
  auto all = written.get_future();
  EXPECT_EQ(all.wait_for(20s), std::future_status::ready);
}

}  // namespace
}  // namespace backplane::etcd
