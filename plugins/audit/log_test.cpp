// The log backend: modes, rotation, truncation.
#include "log_sink.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "old_files.hpp"
#include "sink_fixture.hpp"

namespace backplane::audit {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

struct LogSinkTest : SinkTest {
  LogSinkTest() {
    settings.file.path = folder / "audit.log";
    settings.batch.mode = Mode::kBlocking;
  }
  std::shared_ptr<LogSink> make() { return std::make_shared<LogSink>(settings, executor, other, log); }
  std::string written() const { return content_of(settings.file.path); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }
  LogSettings settings;
};

TEST_F(LogSinkTest, WritesALineForEachEventInOrder) {
  const auto sink = make();
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(sink->process(event_named(id)));
  EXPECT_EQ(written(), "") << "a request does not write";
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a b c");
  const std::string text = written();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  struct stat found {};
  ASSERT_EQ(::stat(settings.file.path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(LogSinkTest, EventsDoNotWakeAWriterThatLooksAgainSoon) {
  const auto sink = make();
  sink->process(event_named("a"));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a") << "the writer slept";
  sink->process(event_named("b"));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a");
  executor.fire_timers();
  EXPECT_EQ(ids_in(written()), "a b");
  executor.fire_timers();
  sink->process(event_named("c"));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a b c") << "no event came in the meantime, so the writer sleeps";
}

// Threads add to different queues.
TEST_F(LogSinkTest, FlushWaitsForTheEventsOfAllThreads) {
  const auto sink = make();
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&sink, i] {
      for (int j = 0; j < 100; ++j) sink->process(event_named(std::to_string(i) + "-" + std::to_string(j)));
    });
  }
  for (auto& each : threads) each.join();
  const auto waiter = flush(*sink);
  executor.run_until_idle();
  EXPECT_EQ(waiter->stored, true);
  const std::string ids = ids_in(written()) + " ";
  EXPECT_EQ(std::count(ids.begin(), ids.end(), ' '), 2000);
  for (int i = 0; i < 20; ++i) {
    std::size_t before = 0;
    for (int j = 0; j < 100; ++j) {
      const auto at = ids.find(std::to_string(i) + "-" + std::to_string(j) + " ");
      ASSERT_NE(at, std::string::npos);
      EXPECT_GE(at, before) << "the events of a thread are in their order";
      before = at;
    }
  }
}

// Objects may be secrets.
TEST_F(LogSinkTest, LinesAboutLostEventsHaveNoObjects) {
  settings.file.path = "/dev/full";
  const auto sink = make();
  sink->process(event_named("a", AuditStage::kResponseComplete, 100));
  executor.run_until_idle();
  ASSERT_FALSE(log.lines.empty());
  EXPECT_EQ(log.lines.back().find("xxx"), std::string::npos) << log.lines.back();
}

TEST_F(LogSinkTest, LegacyFormatIsText) {
  settings.legacy = true;
  const auto sink = make();
  sink->process(event_named("a"));
  executor.run_until_idle();
  EXPECT_NE(written().find(" AUDIT: id=\"a\" stage=\"ResponseComplete\""), std::string::npos) << written();
}

TEST_F(LogSinkTest, BatchModeDropsWhatFindsTheQueueFull) {
  settings.batch.mode = Mode::kBatch;
  settings.batch.buffer_size = 2;
  const auto sink = make();
  const double before = lost_by("buffered");
  for (const char* id : {"a", "b", "c", "d"}) EXPECT_TRUE(sink->process(event_named(id)));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a b");
  EXPECT_EQ(lost_by("buffered"), before + 2);
  EXPECT_FALSE(log.lines.empty());
  sink->process(event_named("e"));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a b e");
}

TEST_F(LogSinkTest, BlockingModeMakesARequestWaitForRoom) {
  const auto sink = make();
  while (sink->process(event_named("a"))) ASSERT_LT(executor.delays.size(), 1u);
  const auto waiter = store(*sink, event_named("late"));
  executor.run_until_idle();
  EXPECT_EQ(waiter->stored, true);
  EXPECT_TRUE(ids_in(written()).ends_with("a late"));
  EXPECT_TRUE(sink->process(event_named("b")));
}

TEST_F(LogSinkTest, StrictModeWaitsForTheFirstStage) {
  settings.batch.mode = Mode::kBlockingStrict;
  const auto sink = make();
  EXPECT_FALSE(sink->process(event_named("a", AuditStage::kRequestReceived)));
  EXPECT_TRUE(sink->process(event_named("b")));
  const auto waiter = store(*sink, event_named("a", AuditStage::kRequestReceived));
  executor.run_until_idle();
  EXPECT_EQ(waiter->stored, true);
  EXPECT_EQ(ids_in(written()), "b a");
}

TEST_F(LogSinkTest, AFullDiskFailsRequestsInStrictModeOnly) {
  for (const Mode mode : {Mode::kBlocking, Mode::kBlockingStrict}) {
    settings.file.path = "/dev/full";
    settings.batch.mode = mode;
    const auto sink = make();
    const double before = lost_by("log");
    const auto waiter = store(*sink, event_named("a", AuditStage::kRequestReceived));
    executor.run_until_idle();
    EXPECT_EQ(waiter->stored, mode == Mode::kBlocking);
    EXPECT_EQ(lost_by("log"), before + 1);
    EXPECT_NE(log.lines.back().find("write /dev/full: no space left on device"), std::string::npos) << log.lines.back();
  }
}

TEST_F(LogSinkTest, AFileThatCannotBeOpenedLosesEvents) {
  settings.file.path = folder / "absent" / "audit.log";
  settings.batch.mode = Mode::kBlockingStrict;
  const auto sink = make();
  const auto waiter = store(*sink, event_named("a", AuditStage::kRequestReceived));
  executor.run_until_idle();
  EXPECT_EQ(waiter->stored, false);
}

TEST_F(LogSinkTest, FlushWaitsForAllEventsBeforeIt) {
  settings.batch.mode = Mode::kBatch;
  settings.batch.buffer_size = 10;
  const auto sink = make();
  sink->process(event_named("a"));
  const auto waiter = flush(*sink);
  executor.run_until_idle();
  EXPECT_EQ(waiter->stored, true);
  EXPECT_EQ(ids_in(written()), "a");
}

TEST_F(LogSinkTest, LargeEventsAreSentWithoutTheirObjectsOrDropped) {
  settings.truncate = {true, 700};
  const auto sink = make();
  const double before = lost_by("truncate");
  sink->process(event_named("small", AuditStage::kResponseComplete, 10));
  sink->process(event_named("large", AuditStage::kResponseComplete, 1000));
  const auto waiter = store(*sink, event_named(std::string(1000, 'i')));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "small large");
  EXPECT_NE(written().find("\"requestObject\":\"xxxxxxxxxx\""), std::string::npos);
  EXPECT_NE(written().find("\"annotations\":{\"audit.k8s.io/truncated\":\"true\"}"), std::string::npos);
  EXPECT_EQ(written().find("xxxxxxxxxxx"), std::string::npos);
  EXPECT_EQ(lost_by("truncate"), before + 1);
  EXPECT_EQ(waiter->stored, true) << "a dropped event fails no request";
}

TEST_F(LogSinkTest, AFullFileIsRotated) {
  settings.file.max_bytes = 1200;
  const auto sink = make();
  for (const char* id : {"a", "b", "c", "d", "e"}) sink->process(event_named(id, AuditStage::kResponseComplete, 200));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "e");
  const auto files = names();
  ASSERT_GE(files.size(), 2u);
  std::string all;
  for (const std::string& name : files) {
    const auto size = std::filesystem::file_size(folder / name);
    EXPECT_LE(size, settings.file.max_bytes);
    EXPECT_TRUE(name == "audit.log" || backup_time(settings.file.path, name).has_value()) << name;
    all += ids_in(content_of(folder / name));
  }
  const double before = lost_by("log");
  sink->process(event_named("huge", AuditStage::kResponseComplete, 2000));
  executor.fire_timers();
  EXPECT_EQ(lost_by("log"), before + 1);
  EXPECT_NE(log.lines.back().find("exceeds maximum file size 1200"), std::string::npos);
}

TEST_F(LogSinkTest, AnExistingFileCountsWithItsSize) {
  settings.file.max_bytes = 1000;
  std::ofstream(settings.file.path) << std::string(990, 'o');
  const auto sink = make();
  sink->process(event_named("a"));
  executor.run_until_idle();
  EXPECT_EQ(ids_in(written()), "a");
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(LogSinkTest, RotatedFilesAreCompressedAndRemoved) {
  settings.file.max_backups = 2;
  settings.file.compress = true;
  const auto now = system_clock::now();
  for (int i = 0; i < 4; ++i) std::ofstream(backup_name(settings.file.path, now - i * 1h)) << "old" << i;
  ASSERT_TRUE(clean_up_rotated_files(settings.file, now).ok());
  const auto files = names();
  ASSERT_EQ(files.size(), 2u);
  for (const std::string& name : files) EXPECT_TRUE(name.ends_with(".log.gz")) << name;
  gzFile file = gzopen((folder / files[1]).c_str(), "rb");
  char text[8] = {};
  EXPECT_EQ(gzread(file, text, sizeof text), 4);
  gzclose(file);
  EXPECT_STREQ(text, "old0");
}

TEST(AuditOldFiles, AreNamedByTheirTime) {
  const auto time = system_clock::from_time_t(1'793'000'000) + 7ms;
  EXPECT_EQ(backup_name("/var/log/audit.log", time), "/var/log/audit-2026-10-26T07-33-20.007.log");
  EXPECT_EQ(backup_name("audit", time), "audit-2026-10-26T07-33-20.007");
  EXPECT_EQ(backup_time("/var/log/audit.log", "audit-2026-10-26T07-33-20.007.log"), time);
  for (const char* name : {"audit.log", "audit-2026-10-26T07-33-20.007", "audit-2026-10-26T07-33-20x007.log",
                           "other-2026-10-26T07-33-20.007.log", "audit-2026-10-26T07-33-20.0a7.log", "", "audit-.log"}) {
    EXPECT_FALSE(backup_time("/var/log/audit.log", name).has_value()) << name;
  }
}

TEST(AuditOldFiles, AreLimitedByNumberAndAge) {
  const std::string path = "/l/audit.log";
  const auto now = system_clock::now();
  const auto name = [&](std::chrono::hours age) { return backup_name(path, now - age).substr(3); };
  const std::vector<std::string> names{name(50h), "audit.log", name(1h), name(26h) + ".gz", name(26h), "other.log"};
  const OldFiles none = old_files(path, names, 0, 0, false, now);
  EXPECT_TRUE(none.remove.empty() && none.compress.empty());
  EXPECT_EQ(old_files(path, names, 2, 0, false, now).remove, std::vector<std::string>{name(50h)}) << "the compressed copy counts once";
  EXPECT_EQ(old_files(path, names, 1, 0, false, now).remove.size(), 3u);
  EXPECT_EQ(old_files(path, names, 0, 2, false, now).remove, std::vector<std::string>{name(50h)});
  EXPECT_EQ(old_files(path, names, 0, 2, true, now).compress, (std::vector<std::string>{name(1h), name(26h)}));
}

TEST(AuditLogFile, IsMadeWithItsFolderAtTheStart) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("audit-ensure-" + std::to_string(::getpid()));
  LogFileOptions options;
  options.path = folder / "a" / "audit.log";
  ASSERT_TRUE(LogFile::ensure(options).ok());
  EXPECT_EQ(std::filesystem::status(options.path).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions(), std::filesystem::perms(0700));
  ASSERT_TRUE(LogFile::ensure(options).ok());
  options.path = folder / "a";
  EXPECT_EQ(LogFile::ensure(options).message(), "ensureLogFile: open " + options.path + ": is a directory");
  options.path = folder / "a" / "audit.log" / "b";
  EXPECT_TRUE(LogFile::ensure(options).message().starts_with("ensureLogFile: ")) << "a file is no folder";
  options.path = "-";
  EXPECT_TRUE(LogFile::ensure(options).ok());
  std::filesystem::remove_all(folder);
}

TEST(AuditLogFile, APartOfALineIsRemoved) {
  const std::string path = std::filesystem::temp_directory_path() / ("audit-part-" + std::to_string(::getpid()));
  LogFileOptions options;
  options.path = path;
  LogFile file(options);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = before;
  limit.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto written = file.write("12345\n78901\n", {6, 12});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(written.lines, 1u);
  EXPECT_FALSE(written.status.ok());
  EXPECT_EQ(content_of(path), "12345\n");
  EXPECT_EQ(file.write("x\n", {2}).lines, 1u);
  EXPECT_EQ(content_of(path), "12345\nx\n");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace backplane::audit
