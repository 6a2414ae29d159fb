// Fills an embedded store from a text, or prints its content, for tests with stores of other servers.
//
//   store_file load DIRECTORY   reads lines "REVISION KEY VALUE" from standard input (with increasing revisions; the value in base64), and
//                               writes each value at its revision
//   store_file dump DIRECTORY   prints the newest version of every key as such lines
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "backplane/types/base64.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "rocksdb_storage.hpp"

namespace backplane {
namespace {

constexpr std::string_view kFiller = "/filler";  // written, and finally removed, to raise the revision

Task<Status> write_at(StorageBackend& storage, Revision revision, std::string key, std::string value) {
  for (;;) {
    Result<Revision> now = co_await storage.current_revision();
    if (!now.ok()) co_return now.status();
    if (*now >= revision) co_return bad_request("revision " + std::to_string(revision) + " of " + key + " is past");
    const bool mine = *now + 1 == revision;
    TxnRequest request;
    request.puts.push_back({mine ? key : std::string(kFiller), SharedBytes(mine ? value : std::string()), 0});
    Result<TxnResult> done = co_await storage.txn(std::move(request));
    if (!done.ok() || mine) co_return done.status();
  }
}

Task<Status> load(StorageBackend& storage) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    Revision revision = 0;
    std::string key, text;
    fields >> revision >> key >> text;
    const auto value = from_base64(text);
    if (!fields || !value) co_return bad_request("no entry: " + line.substr(0, 100));
    Status written = co_await write_at(storage, revision, key, *value);
    if (!written.ok()) co_return written;
  }
  TxnRequest request;
  request.removes.emplace_back(kFiller);
  Result<TxnResult> done = co_await storage.txn(std::move(request));
  co_return done.status();
}

Task<Status> dump(StorageBackend& storage) {
  RangeRequest request;
  request.start = "/";
  request.end = "0";
  Result<RangeResult> found = co_await storage.range(std::move(request));
  if (!found.ok()) co_return found.status();
  for (const KeyValue& kv : found->items) std::cout << kv.mod_revision << ' ' << kv.key << ' ' << to_base64(kv.value.view()) << '\n';
  co_return Status();
}

int run(const std::string& command, const std::string& directory) {
  StorageBackendConfig config;
  config.data_dir = directory;
  auto storage = open_rocksdb_storage(config);
  Status status = storage.status();
  if (storage.ok()) {
    IoLoop loop("store");
    loop.start();
    status = run_on(loop, command == "load" ? load(**storage) : dump(**storage));
    const Status stopped = run_on(loop, (*storage)->stop());
    if (status.ok()) status = stopped;
  }
  if (!status.ok()) std::cerr << status.message() << '\n';
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace backplane

int main(int argc, char** argv) {
  const std::string command = argc == 3 ? argv[1] : "";
  return command == "load" || command == "dump" ? backplane::run(command, argv[2]) : 2;
}
