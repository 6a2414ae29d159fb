// Tests that a store, and a watch cache that uses it, must pass during faults.  Include this header in one source of a test, and
// instantiate the suite with a FaultCase:
//   INSTANTIATE_TEST_SUITE_P(Memory, FaultConformance, testing::Values(fault_case), fault_name);
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/storage_test_kit.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

// A store and a fault.
class FaultyStore {
 public:
  virtual ~FaultyStore() = default;
  virtual StorageBackend& store() = 0;
  // Causes the fault while other threads read and write; returns when the fault is over.  The store must then recover automatically.
  virtual void fail() = 0;
};
struct FaultCase {
  std::string name;
  std::function<std::unique_ptr<FaultyStore>()> make;
};
inline std::string fault_name(const testing::TestParamInfo<FaultCase>& info) { return info.param.name; }
inline void PrintTo(const FaultCase& row, std::ostream* out) { *out << row.name; }

class FaultConformance : public testing::TestWithParam<FaultCase> {
 protected:
  static constexpr std::string_view kPrefix = "/registry/configmaps/";
  static constexpr int kWriters = 3;
  static constexpr int kBefore = 10, kAfter = 20;  // writes of each writer before the fault and after it
  static constexpr std::chrono::seconds kFaultTimeout{120};

  static std::string key_of(int writer) { return std::string(kPrefix) + "ns/w" + std::to_string(writer); }
  static std::string object_of(int writer, int number) {
    return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"w)" + std::to_string(writer) +
           R"(","namespace":"ns","uid":"u"},"data":{"n":")" + std::to_string(number) + R"("}})";
  }
  static int number_in(std::string_view text) {
    const auto at = text.find(R"("n":")");
    return at == std::string_view::npos ? -1 : std::atoi(std::string(text.substr(at + 5)).c_str());
  }
  static bool is_unavailable(const Status& status) { return status.code() == 429 || status.code() >= 500; }

  // Writes one key repeatedly: each write is based on the previous one, and is read through the cache afterwards.
  class Writer {
   public:
    Writer(FaultConformance& test, int index) : test_(test), index_(index), thread_([this] { run(); }) {}
    ~Writer() { thread_.join(); }
    int acknowledged() const { return acknowledged_.load(); }
    int refused() const { return refused_.load(); }

   private:
    void run() {
      loop_.start();
      while (!test_.over_.load()) {
        if (write(acknowledged_.load() + 1)) check_read();
      }
      loop_.stop();
    }
    bool write(int number) {
      TxnRequest request;
      request.compares.push_back({key_of(index_), last_});
      request.puts.push_back({key_of(index_), SharedBytes(object_of(index_, number)), 0});
      const auto written = run_on(loop_, test_.faulty_->store().txn(std::move(request)));
      // The write without a response may have been applied after read_back() has read the key.
      if (written.ok() && !written->committed && uncertain_) return read_back(number);
      if (written.ok()) {
        uncertain_ = false;
        EXPECT_TRUE(written->committed) << "another client has written " << key_of(index_);
        EXPECT_GT(written->revision, last_);
        last_ = written->revision;
        acknowledged_.store(number);
        return written->committed;
      }
      ++refused_;
      uncertain_ = true;
      EXPECT_TRUE(is_unavailable(written.status())) << written.status().message();
      return read_back(number);
    }
    // Reads the key after a write without a response, which may or may not have been applied.
    bool read_back(int number) {
      for (;;) {
        RangeRequest request;
        request.start = key_of(index_);
        const auto found = run_on(loop_, test_.faulty_->store().range(std::move(request)));
        if (!found.ok() && test_.over_.load()) return false;
        if (!found.ok()) continue;
        const int there = found->items.empty() ? 0 : number_in(found->items[0].value.view());
        EXPECT_TRUE(there == number || there == acknowledged_.load()) << there << " of " << number;
        last_ = found->items.empty() ? 0 : found->items[0].mod_revision;
        acknowledged_.store(there);
        return there == number;
      }
    }
    void check_read() {
      const auto read = run_on(loop_, test_.cache_->get(key_of(index_), ""));
      if (!read.ok()) {
        EXPECT_TRUE(is_unavailable(read.status())) << read.status().message();
        return;
      }
      const int seen = *read == nullptr ? 0 : number_in((*read)->json().view());
      EXPECT_EQ(seen, acknowledged_.load()) << "a consistent read of " << key_of(index_);
    }

    FaultConformance& test_;
    const int index_;
    IoLoop loop_{"writer"};
    Revision last_ = 0;
    bool uncertain_ = false;  // a write got no response, and no write has got one since
    std::atomic<int> acknowledged_{0}, refused_{0};
    std::thread thread_;
  };

  // A client that watches the cache and lists again on kExpired.
  class Watcher {
   public:
    explicit Watcher(FaultConformance& test) : test_(test), thread_([this] { run(); }) {}
    ~Watcher() {
      {
        const std::lock_guard lock(mutex_);
        if (stream_ != nullptr) stream_->cancel();
      }
      thread_.join();
    }
    int lists() const { return lists_.load(); }
    int newest(int writer) const { return newest_[static_cast<std::size_t>(writer)].load(); }

   private:
    void run() {
      loop_.start();
      while (!test_.over_.load()) {
        const std::string from = list();
        if (!from.empty()) follow(from);
      }
      loop_.stop();
    }
    std::string list() {
      auto listed = run_on(loop_, test_.cache_->list({"ns", ""}, ListOptions()));
      if (!listed.ok()) return {};
      ++lists_;
      const Revision revision = listed->revision;
      const Status shown = run_on(loop_, for_each(*listed->items, [this](const ObjectEntry& entry) { take(entry, /*from_list=*/true); }));
      EXPECT_TRUE(shown.ok()) << shown.message();
      return std::to_string(revision);
    }
    void follow(const std::string& from) {
      ListOptions options;
      options.resource_version = from;
      auto stream = run_on(loop_, test_.cache_->watch({"ns", ""}, std::move(options)));
      if (!stream.ok()) return;
      show(stream->get());
      while (!test_.over_.load()) {
        auto events = run_on(loop_, (*stream)->next());
        if (!events.ok() || events->empty()) break;
        for (const auto& event : *events) {
          if (event.type == WatchEvent::Type::kAdded || event.type == WatchEvent::Type::kModified) take(*event.object, false);
        }
      }
      show(nullptr);
    }
    // Stores the stream, so that the log can describe it if the test hangs.
    void show(WatchStream* stream) {
      const std::lock_guard lock(mutex_);
      stream_ = stream;
    }
    // Expects that events have every number once and in order. A list may skip numbers, but must not have an old one.
    void take(const ObjectEntry& entry, bool from_list) {
      auto& newest = newest_[static_cast<std::size_t>(std::stoi(std::string(entry.name().substr(1))))];
      const int number = number_in(entry.json().view());
      if (from_list) {
        EXPECT_GE(number, newest.load()) << "a consistent list shows what is older than what was seen";
      } else {
        EXPECT_EQ(number, newest.load() + 1) << "events of " << entry.name();
      }
      newest.store(number);
    }

    FaultConformance& test_;
    IoLoop loop_{"watcher"};
    std::mutex mutex_;
    WatchStream* stream_ = nullptr;
    std::array<std::atomic<int>, kWriters> newest_{};
    std::atomic<int> lists_{0};
    std::thread thread_;
  };

  void SetUp() override {
    pump_.start();
    faulty_ = GetParam().make();
    hub_ = make_cache_hub(objects_.emplace(faulty_->store()), pump_);
    CacheConfig config;
    config.prefix = kPrefix;
    config.kind = "ConfigMap";
    config.api_version = "v1";
    cache_ = hub_->add(std::move(config), true);
    ASSERT_TRUE(run_on(pump_, hub_->start()).ok());
  }
  void TearDown() override {
    over_.store(true);
    if (hub_) run_on(pump_, hub_->stop());
    cache_.reset();
    hub_.reset();
    if (faulty_) {
      EXPECT_TRUE(run_on(pump_, faulty_->store().stop()).ok());
    }
    pump_.stop();
    faulty_.reset();
  }
  using Writers = std::vector<std::unique_ptr<Writer>>;
  // Waits until the number of acknowledged writes of each writer is at least `more` greater than in `before`.
  void wait_for_writes(const Writers& writers, const std::vector<int>& before, int more) {
    const auto limit = std::chrono::steady_clock::now() + kFaultTimeout;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      while (writers[i]->acknowledged() < before[i] + more && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      EXPECT_GE(writers[i]->acknowledged(), before[i] + more) << "writer " << i << " does not come on";
    }
  }
  static std::vector<int> numbers(const Writers& writers) {
    std::vector<int> out;
    for (const auto& writer : writers) out.push_back(writer->acknowledged());
    return out;
  }

  IoLoop pump_{"pump"};
  std::unique_ptr<FaultyStore> faulty_;
  std::optional<ObjectStorage> objects_;
  std::unique_ptr<CacheHub> hub_;
  std::shared_ptr<ResourceCache> cache_;
  std::atomic<bool> over_{false};
};

TEST_P(FaultConformance, AcknowledgedWritesSurviveAndNoReaderSeesOldState) {
  std::vector<int> written;
  std::unique_ptr<Watcher> watcher = std::make_unique<Watcher>(*this);
  {
    Writers writers;
    for (int i = 0; i < kWriters; ++i) writers.push_back(std::make_unique<Writer>(*this, i));
    wait_for_writes(writers, std::vector<int>(kWriters, 0), kBefore);
    faulty_->fail();
    wait_for_writes(writers, numbers(writers), kAfter);
    const auto limit = std::chrono::steady_clock::now() + kFaultTimeout;
    const int last = writers[0]->acknowledged();
    while (watcher->newest(0) < last && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GE(watcher->newest(0), last) << "the watch does not come on";
    over_.store(true);
    written = numbers(writers);
  }
  watcher.reset();
  for (int i = 0; i < kWriters; ++i) {
    const auto read = run_on(pump_, cache_->get(key_of(i), ""));
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_NE(*read, nullptr);
    EXPECT_GE(number_in((*read)->json().view()), written[static_cast<std::size_t>(i)]);
  }
}

}  // namespace backplane
