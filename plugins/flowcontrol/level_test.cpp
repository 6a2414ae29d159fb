#include "level.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "flow_queue.hpp"
#include "shuffle.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace std::chrono_literals;

// A level whose clock the test moves, and requests that the test ends.
class LevelAtWork {
 public:
  explicit LevelAtWork(int seats, QueueShape shape) : level("l", false, now) {
    level.shape(shape, now);
    level.limit(seats, now);
  }

  struct Request {
    std::string flow;
    std::shared_ptr<Waiter> waiter;
    Time begun;
    bool fast = false;
  };
  // A request that gets a seat, is queued, or is refused.
  Level::Queued come(const std::string& flow, std::uint32_t seats = 1) {
    Request request{flow, std::make_shared<Waiter>(), now};
    request.waiter->flow = &level.counts_of("s");
    request.waiter->seats = seats;
    request.waiter->hash = flow_hash("s", flow);
    const Level::Taken taken = level.try_take(seats, now);
    if (taken == Level::Taken::kTaken) {
      request.fast = true;
      running.push_back(request);
      return Level::Queued::kRuns;
    }
    if (taken == Level::Taken::kRefused) return Level::Queued::kNoSeat;
    const Level::Queued queued = level.enqueue(request.waiter, now);
    if (queued == Level::Queued::kRuns) running.push_back(request);
    if (queued == Level::Queued::kWaits) waiting.push_back(request);
    return queued;
  }
  // The requests that run now and did not run before.
  std::vector<std::string> dispatched() {
    std::vector<std::string> flows;
    for (auto request = waiting.begin(); request != waiting.end();) {
      if (request->waiter->waiting) {
        ++request;
        continue;
      }
      flows.push_back(request->flow);
      request->begun = now;
      running.push_back(*request);
      request = waiting.erase(request);
    }
    return flows;
  }
  void end(std::size_t i = 0) {
    const Request request = running.at(i);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    if (request.waiter->queue != nullptr) return level.finish(request.waiter->queue, request.waiter->seats, request.begun, now);
    level.release(request.waiter->seats, now);
  }

  Time now{1h};
  Level level;
  std::vector<Request> running, waiting;
};

TEST(Level, WithoutQueuesARequestWithoutASeatIsRefused) {
  LevelAtWork work(2, {});
  EXPECT_EQ(work.come("a"), Level::Queued::kRuns);
  EXPECT_EQ(work.come("a", 2), Level::Queued::kNoSeat);
  EXPECT_EQ(work.come("a"), Level::Queued::kRuns);
  EXPECT_EQ(work.come("b"), Level::Queued::kNoSeat);
  work.end();
  EXPECT_EQ(work.come("b"), Level::Queued::kRuns);
}

TEST(Level, ARequestWiderThanTheLevelRunsAlone) {
  LevelAtWork work(2, {});
  EXPECT_EQ(work.come("a", 5), Level::Queued::kRuns);
  EXPECT_EQ(work.come("a"), Level::Queued::kNoSeat);
  work.end();
  EXPECT_EQ(work.come("a"), Level::Queued::kRuns);
  EXPECT_EQ(work.come("a", 5), Level::Queued::kNoSeat);
}

TEST(Level, AnExemptLevelHasSeatsForAllRequests) {
  Level level("exempt", true, Time(1h));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(level.try_take(1, Time(1h)), Level::Taken::kTaken);
  EXPECT_FALSE(level.idle());
}

TEST(Level, AFullQueueRefuses) {
  LevelAtWork work(1, {1, 1, 2});
  EXPECT_EQ(work.come("a"), Level::Queued::kRuns);
  EXPECT_EQ(work.come("a"), Level::Queued::kWaits);
  EXPECT_EQ(work.come("a"), Level::Queued::kWaits);
  EXPECT_EQ(work.come("a"), Level::Queued::kQueueFull);
  work.end();
  EXPECT_EQ(work.dispatched(), std::vector<std::string>{"a"});
  EXPECT_EQ(work.come("a"), Level::Queued::kWaits);
}

TEST(Level, ANewRequestDoesNotPassWaitingOnes) {
  LevelAtWork work(2, {1, 1, 9});
  work.come("a");
  work.come("a");
  EXPECT_EQ(work.come("wide", 2), Level::Queued::kWaits);
  work.end();
  EXPECT_EQ(work.dispatched(), std::vector<std::string>{}) << "it needs both";
  EXPECT_EQ(work.come("narrow"), Level::Queued::kWaits);
  work.end();
  EXPECT_EQ(work.dispatched(), std::vector<std::string>{"wide"});
}

TEST(Level, AnAbandonedWaiterLetsTheNextOneRun) {
  LevelAtWork work(2, {1, 1, 9});
  work.come("a");
  work.come("a");
  work.come("wide", 2);
  work.come("narrow");
  work.end();
  EXPECT_TRUE(work.dispatched().empty());
  const auto wide = work.waiting.front().waiter;
  EXPECT_TRUE(work.level.abandon(*wide, work.now));
  EXPECT_FALSE(work.level.abandon(*wide, work.now)) << "it has gone";
  EXPECT_EQ(work.level.waiting(), 0);
  EXPECT_EQ(work.level.abandoned(), 1u);
  EXPECT_FALSE(work.waiting.back().waiter->waiting) << "the narrow one runs";
}

TEST(Level, ADispatchedWaiterCannotBeAbandoned) {
  LevelAtWork work(1, {1, 1, 9});
  work.come("a");
  work.come("b");
  const auto waiter = work.waiting.front().waiter;
  work.end();
  EXPECT_FALSE(work.level.abandon(*waiter, work.now));
  EXPECT_TRUE(work.waiting.front().waiter->decided.future().await_ready());
}

// One flow has a hundred waiting requests, another one a few: each gets half of the seats.
TEST(Level, AFlowWithManyRequestsLeavesOthersTheirShare) {
  LevelAtWork work(4, {64, 1, 500});
  ASSERT_NE(deal(flow_hash("s", "elephant"), 64, 1).cards[0], deal(flow_hash("s", "mouse"), 64, 1).cards[0]);
  for (int i = 0; i < 104; ++i) work.come("elephant");
  for (int i = 0; i < 40; ++i) work.come("mouse");
  std::map<std::string, int> got;
  for (int i = 0; i < 60; ++i) {
    work.now += 10ms;
    work.end();
    for (const auto& flow : work.dispatched()) ++got[flow];
  }
  EXPECT_EQ(got["elephant"] + got["mouse"], 60);
  EXPECT_NEAR(got["mouse"], 30, 3);
}

// Seats and their duration are counted, not requests.
TEST(Level, FlowsAreChargedForSeatsAndTime) {
  LevelAtWork work(4, {64, 1, 500});
  for (int i = 0; i < 4; ++i) work.come("first");
  for (int i = 0; i < 200; ++i) work.come("elephant", 3);
  for (int i = 0; i < 600; ++i) work.come("mouse");
  std::map<std::string, double> taken;
  for (int i = 0; i < 400; ++i) {
    work.now += 10ms;
    const auto request = work.running.front();
    taken[request.flow] += request.waiter->seats * std::chrono::duration<double>(work.now - request.begun).count();
    work.end();
    work.dispatched();
  }
  EXPECT_GT(taken["mouse"], 1);
  EXPECT_NEAR(taken["elephant"] / taken["mouse"], 1.0, 0.15);
}

// An empty queue accumulates no credit for later.
TEST(Level, ANewFlowGetsNoCreditForTheTimeBefore) {
  LevelAtWork work(2, {64, 1, 500});
  for (int i = 0; i < 102; ++i) work.come("early");
  for (int i = 0; i < 20; ++i) {
    work.now += 10ms;
    work.end();
    work.dispatched();
  }
  for (int i = 0; i < 60; ++i) work.come("late");
  std::map<std::string, int> got;
  for (int i = 0; i < 40; ++i) {
    work.now += 10ms;
    work.end();
    for (const auto& flow : work.dispatched()) ++got[flow];
  }
  EXPECT_NEAR(got["late"], 20, 3);
}

TEST(Level, MoreSeatsAreGivenToThoseThatWait) {
  LevelAtWork work(1, {4, 2, 9});
  for (int i = 0; i < 4; ++i) work.come("a");
  work.level.limit(3, work.now);
  EXPECT_EQ(work.dispatched().size(), 2u);
  work.level.limit(0, work.now);
  while (!work.running.empty()) work.end();
  EXPECT_TRUE(work.dispatched().empty()) << "there is no seat";
  work.level.limit(1, work.now);
  EXPECT_EQ(work.dispatched().size(), 1u);
}

TEST(Level, SurplusQueuesAreRemovedWhenTheyAreEmpty) {
  LevelAtWork work(1, {8, 2, 9});
  for (int i = 0; i < 6; ++i) work.come("flow " + std::to_string(i));
  work.level.shape({2, 1, 9}, work.now);
  EXPECT_EQ(work.level.dump().size(), 8u);
  while (!work.running.empty()) {
    work.end();
    work.dispatched();
  }
  EXPECT_TRUE(work.waiting.empty()) << "all have been served";
  EXPECT_LT(work.level.dump().size(), 8u);
  EXPECT_TRUE(work.level.idle());
}

TEST(Level, WaitersAreServedAfterTheQueuesAreRemoved) {
  LevelAtWork work(1, {4, 2, 9});
  work.come("a");
  work.come("b");
  work.level.shape({}, work.now);
  EXPECT_EQ(work.come("c"), Level::Queued::kNoSeat);
  work.end();
  EXPECT_EQ(work.dispatched(), std::vector<std::string>{"b"});
}

TEST(Level, AClosedLevelAcceptsNoRequests) {
  LevelAtWork work(1, {1, 1, 9});
  work.come("a");
  EXPECT_FALSE(work.level.close());
  work.end();
  EXPECT_TRUE(work.level.close());
  EXPECT_EQ(work.level.try_take(1, work.now), Level::Taken::kClosed);
  EXPECT_EQ(work.level.enqueue(std::make_shared<Waiter>(), work.now), Level::Queued::kClosed);
}

TEST(Demand, IsTheAverageOverTimeItsDeviationAndTheMost) {
  LevelAtWork work(10, {1, 1, 99});
  work.level.take_demand(work.now);
  for (int i = 0; i < 4; ++i) work.come("a");
  work.now += 5s;
  for (int i = 0; i < 4; ++i) work.end();
  work.now += 5s;
  auto period = work.level.take_demand(work.now);
  EXPECT_TRUE(period.passed);
  EXPECT_NEAR(period.average, 2, 0.001);
  EXPECT_NEAR(period.deviation, 2, 0.001);
  EXPECT_EQ(period.most, 4);
  // Waiting requests count as demand, and running requests still do.
  for (int i = 0; i < 12; ++i) work.come("a");
  work.now += 10s;
  period = work.level.take_demand(work.now);
  EXPECT_NEAR(period.average, 12, 0.001);
  EXPECT_NEAR(period.deviation, 0, 0.001);
  work.now += 10s;
  period = work.level.take_demand(work.now);
  EXPECT_NEAR(period.average, 12, 0.001);
  EXPECT_EQ(period.most, 12);
}

// Threads take seats, wait for them, give up and release them: the limit is never exceeded, and at the end all seats are free.
TEST(Level, NoSeatIsLostAndNoneIsGivenTwice) {
  constexpr int kThreads = 6, kRounds = 3000, kSeats = 3;
  Level level("l", false, std::chrono::steady_clock::now());
  level.shape({8, 3, 4}, std::chrono::steady_clock::now());
  level.limit(kSeats, std::chrono::steady_clock::now());
  std::atomic<int> in_use{0}, most{0}, served{0}, refused{0};
  const auto use = [&](int seats) {
    const int now = in_use.fetch_add(seats) + seats;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
    ++served;
    std::this_thread::yield();
    in_use.fetch_sub(seats);
  };
  const auto work = [&](unsigned number) {
    std::minstd_rand random(number);
    FlowCounts& counts = level.counts_of("s" + std::to_string(number % 2));
    for (int round = 0; round < kRounds; ++round) {
      const auto now = std::chrono::steady_clock::now();
      const std::uint32_t seats = 1 + random() % 2;
      if (level.try_take(seats, now) == Level::Taken::kTaken) {
        use(static_cast<int>(seats));
        level.release(seats, std::chrono::steady_clock::now());
        continue;
      }
      auto waiter = std::make_shared<Waiter>();
      waiter->flow = &counts;
      waiter->seats = seats;
      waiter->hash = flow_hash("s", std::to_string(random() % 5));
      const Level::Queued queued = level.enqueue(waiter, now);
      bool in = queued == Level::Queued::kRuns;
      if (queued == Level::Queued::kWaits) {
        const auto decided = waiter->decided.future();
        if (random() % 4 == 0) level.abandon(*waiter, std::chrono::steady_clock::now());
        while (!decided.await_ready()) std::this_thread::yield();
        in = decided.await_resume();
      }
      if (!in) {
        ++refused;
        continue;
      }
      use(static_cast<int>(seats));
      level.finish(waiter->queue, seats, now, std::chrono::steady_clock::now());
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
  EXPECT_LE(most.load(), kSeats);
  EXPECT_EQ(served + refused, kThreads * kRounds);
  EXPECT_TRUE(level.idle());
  for (const auto& [_, counts] : level.all_counts()) EXPECT_EQ(counts->waiting.load(), 0u);
}

TEST(Level, WithoutQueuesNoThreadPassesTheLimit) {
  Level level("l", false, Time(1h));
  level.limit(1, Time(1h));
  std::atomic<int> in_use{0}, most{0};
  const auto work = [&](bool through_the_queue) {
    const auto waiter = std::make_shared<Waiter>();
    for (int round = 0; round < 200'000; ++round) {
      const bool in =
          through_the_queue ? level.enqueue(waiter, Time(1h)) == Level::Queued::kRuns : level.try_take(1, Time(1h)) == Level::Taken::kTaken;
      if (!in) continue;
      const int now = ++in_use;
      if (now > most.load()) most.store(now);
      --in_use;
      level.release(1, Time(1h));
    }
  };
  std::thread other(work, true);
  work(false);
  other.join();
  EXPECT_EQ(most.load(), 1);
  EXPECT_TRUE(level.idle());
}

TEST(Shuffle, AHandIsDifferentCardsOfTheDeck) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Hand hand = deal(random(), 128, 6);
    const std::set<int> cards(hand.cards.begin(), hand.cards.begin() + hand.size);
    EXPECT_EQ(cards.size(), 6u);
    EXPECT_GE(*cards.begin(), 0);
    EXPECT_LT(*cards.rbegin(), 128);
  }
}

// Every card is equally frequent at every position of the hand.
TEST(Shuffle, TheDeckIsDealtEvenly) {
  constexpr int kDeck = 8, kHand = 3, kRounds = 40'000;
  std::array<std::array<int, kDeck>, kHand> dealt{};
  std::mt19937_64 random(2);
  for (int round = 0; round < kRounds; ++round) {
    const Hand hand = deal(random(), kDeck, kHand);
    for (std::size_t i = 0; i < kHand; ++i) ++dealt[i][static_cast<std::size_t>(hand.cards[i])];
  }
  for (const auto& place : dealt) {
    for (const int count : place) EXPECT_NEAR(count, kRounds / kDeck, 300);
  }
}

TEST(Shuffle, AllOfTheDeckIsAHandToo) {
  const Hand hand = deal(0x0123456789abcdef, 4, 4);
  EXPECT_EQ(std::set<int>(hand.cards.begin(), hand.cards.begin() + 4), (std::set<int>{0, 1, 2, 3}));
  EXPECT_FALSE(can_deal(4, 5));
  EXPECT_FALSE(can_deal(0, 0));
  EXPECT_TRUE(can_deal(128, 8));
  EXPECT_FALSE(can_deal(512, 7)) << "there are not as many bits in a hash";
}

// The same on every server: the first bytes of SHA-256("s\0a") in little endian.
TEST(Shuffle, TheHashOfAFlowIsKnown) {
  EXPECT_EQ(flow_hash("s", "a"), flow_hash("s", "a"));
  EXPECT_NE(flow_hash("s", "a"), flow_hash("sa", ""));
  EXPECT_EQ(flow_hash("", ""), 0x987ab3ff9c0b346eu);
}

TEST(RetryAfter, GrowsWithWhatIsRefusedAndShrinksAgain) {
  RetryAfter after;
  EXPECT_EQ(after.refused(1000), 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(after.refused(1000), 1) << "in the same second nothing changes";
  EXPECT_EQ(after.refused(1001), 2) << "six in the last second";
  for (int i = 0; i < 9; ++i) after.refused(1001);
  EXPECT_EQ(after.refused(1002), 2) << "raised a second ago";
  EXPECT_EQ(after.refused(1003), 4);
  EXPECT_EQ(after.refused(1100), 3);
  EXPECT_EQ(after.refused(1200), 2);
  EXPECT_EQ(after.refused(1300), 1);
  EXPECT_EQ(after.refused(1400), 1);
  std::int64_t longest = 0;
  for (std::int64_t second = 2000; second < 2400; ++second) {
    for (int i = 0; i < 200; ++i) longest = std::max(longest, after.refused(second));
  }
  EXPECT_EQ(longest, 32);
}

}  // namespace
}  // namespace backplane::flowcontrol
