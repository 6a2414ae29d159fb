// The child process of the crash test: writes to an embedded store until it is killed, and prints the acknowledged writes.
//
//   crash_writer DIRECTORY CYCLE
// Each writer repeatedly writes two keys, `/crash/<writer>/a` and `/crash/<writer>/b`, in one transaction, so that both always have the
// same value
// "<cycle>:<count>". Each line `<writer> <cycle>:<count> <revision>` on stdout is an acknowledged transaction.
#include <unistd.h>

#include <cstdio>
#include <future>
#include <string>

#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "rocksdb_storage.hpp"

namespace backplane {
namespace {

constexpr int kWriters = 64;

Task<void> write_until_killed(StorageBackend& storage, int writer, std::string cycle) {
  const std::string key = "/crash/" + std::to_string(writer);
  for (int count = 0;; ++count) {
    const std::string value = cycle + ":" + std::to_string(count);
    TxnRequest request;
    request.puts.push_back({key + "/a", SharedBytes(value + std::string(200, ' ')), 0});
    request.puts.push_back({key + "/b", SharedBytes(value + std::string(200, ' ')), 0});
    auto writing = storage.txn(std::move(request));
    auto result = co_await std::move(writing);
    if (!result.ok()) co_return;
    const std::string line = std::to_string(writer) + " " + value + " " + std::to_string(result->revision) + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) co_return;
  }
}

int run(const std::string& directory, const std::string& cycle) {
  StorageBackendConfig config;
  config.data_dir = directory;
  auto storage = open_rocksdb_storage(config);
  if (!storage.ok()) {
    std::fprintf(stderr, "%s\n", storage.status().message().c_str());
    return 1;
  }
  IoLoop loop("writers");
  loop.start();
  LoggedTaskGroup tasks;
  for (int i = 0; i < kWriters; ++i) tasks.spawn(loop, "writer", write_until_killed(**storage, i, cycle));
  tasks.close();
  run_on(loop, tasks.wait_all());
  return 0;
}

}  // namespace
}  // namespace backplane

int main(int argc, char** argv) { return argc == 3 ? backplane::run(argv[1], argv[2]) : 2; }
