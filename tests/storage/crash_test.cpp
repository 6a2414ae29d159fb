// Kills a process with 64 writers at random moments (SIGKILL). No acknowledged write is lost, no transaction is partial, and the history
// has no gaps.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "rocksdb_storage.hpp"
#include "storage/storage_test_kit.hpp"

namespace backplane {
namespace {

struct Acknowledged {
  std::string value;  // "<cycle>:<count>"
  Revision revision = 0;
};
using ByWriter = std::map<std::string, Acknowledged>;

// Runs crash_writer until it has acknowledged `lines` transactions, kills it, and adds the acknowledged transactions to `acknowledged`.
void run_and_kill(const std::string& directory, int cycle, int lines, ByWriter& acknowledged) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    dup2(pipes[1], STDOUT_FILENO);
    close(pipes[0]);
    close(pipes[1]);
    execl(CRASH_WRITER, CRASH_WRITER, directory.c_str(), std::to_string(cycle).c_str(), nullptr);
    _exit(127);
  }
  close(pipes[1]);
  std::string text;
  char buffer[4096];
  bool killed = false;
  // Also reads the lines that were written before the kill: each is an acknowledgement that a client may have received.
  for (ssize_t got = 0; (got = read(pipes[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
    if (!killed && std::count(text.begin(), text.end(), '\n') >= lines) {
      kill(child, SIGKILL);
      killed = true;
    }
  }
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(killed) << "the writer ended before it was killed, status " << status;
  std::istringstream stream(text.substr(0, text.rfind('\n') + 1));
  for (std::string writer, value, revision; stream >> writer >> value >> revision;) {
    acknowledged[writer] = {value, std::stoll(revision)};
  }
}

// Appends a partial record to the newest log, as a power failure during a write leaves it.
void append_partial_record(const std::string& directory) {
  std::filesystem::path log;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() == ".log" && (log.empty() || file.path() > log)) log = file.path();
  }
  ASSERT_FALSE(log.empty());
  std::ofstream(log, std::ios::binary | std::ios::app) << "cut";
}

// Converts "<cycle>:<count>" to a pair of numbers, which can be compared.
std::pair<int, int> progress(std::string_view value) {
  const auto colon = value.find(':');
  return {std::atoi(std::string(value.substr(0, colon)).c_str()), std::atoi(std::string(value.substr(colon + 1)).c_str())};
}

void expect_whole(OpenStore& store, const ByWriter& acknowledged) {
  std::map<std::string, KeyValue> found;
  Revision newest = 0;
  for (auto& kv : store.range({"/crash/", "/crash0"}).items) {
    newest = std::max(newest, kv.mod_revision);
    found[kv.key] = kv;
  }
  EXPECT_EQ(newest, store->committed_revision());
  for (const auto& [writer, last] : acknowledged) {
    const auto& a = found["/crash/" + writer + "/a"];
    const auto& b = found["/crash/" + writer + "/b"];
    EXPECT_EQ(a.value.view(), b.value.view()) << "half a transaction of writer " << writer;
    EXPECT_EQ(a.mod_revision, b.mod_revision);
    EXPECT_GE(a.mod_revision, last.revision) << "writer " << writer << " lost an acknowledged write";
    EXPECT_GE(progress(a.value.view()), progress(last.value));
  }
}

// Expects that every revision from the first to the newest exists once in the history, with both changes of its transaction.
void expect_history(OpenStore& store) {
  auto watch = store->watch("/crash/", 1);
  ASSERT_TRUE(watch.ok());
  Revision expected = 2;
  std::size_t in_revision = 0;
  while (expected <= store->committed_revision()) {
    auto batch = store.run((*watch)->next());
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    for (const auto& event : batch->events) {
      ASSERT_EQ(event.kv.mod_revision, expected);
      if (++in_revision < 2) continue;
      in_revision = 0;
      ++expected;
    }
  }
}

TEST(RocksdbCrash, NothingAcknowledgedIsLostWhenTheProcessIsKilledAtRandomMoments) {
  const char* asked = std::getenv("BACKPLANE_CRASH_CYCLES");  // the full run takes minutes
  const int cycles = asked != nullptr ? std::atoi(asked) : 12;
  BackendMaker maker{"Rocksdb", [](const std::string& directory) {
                       StorageBackendConfig config;
                       config.data_dir = directory;
                       return open_rocksdb_storage(config);
                     }};
  OpenStore store(maker);
  std::mt19937 random(20);
  ByWriter acknowledged;
  for (int cycle = 1; cycle <= cycles && !testing::Test::HasFailure(); ++cycle) {
    const Revision before = store->committed_revision();
    ASSERT_TRUE(store.run(store->stop()).ok());
    run_and_kill(store.directory(), 2 * cycle, 1 + static_cast<int>(random() % 3000), acknowledged);
    append_partial_record(store.directory());
    // Every second cycle kills another process, possibly before the entries that were replayed from the first log have been flushed.
    if (cycle % 2 == 0) run_and_kill(store.directory(), 2 * cycle + 1, 1 + static_cast<int>(random() % 100), acknowledged);
    store.reopen();
    EXPECT_GT(store->committed_revision(), before);
    expect_whole(store, acknowledged);
  }
  expect_history(store);
}

}  // namespace
}  // namespace backplane
