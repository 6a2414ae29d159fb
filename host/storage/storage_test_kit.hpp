// Helpers for tests of stores: OpenStore can reopen a backend, and has short functions for the calls of a backend.
//
// Thread-safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backplane/points/storage.hpp"
#include "base/io_loop.hpp"

namespace backplane {

// The parameter of the suites: a kind of backend.
struct BackendMaker {
  std::string name;
  // Opens a store in a directory that only the test uses; memory backends ignore the directory.
  std::function<Result<std::unique_ptr<StorageBackend>>(const std::string& directory)> open;
};
inline std::string maker_name(const testing::TestParamInfo<BackendMaker>& info) { return info.param.name; }
inline void PrintTo(const BackendMaker& maker, std::ostream* out) { *out << maker.name; }

// A directory that the destructor removes.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// An open backend, and a loop that runs its coroutines.
class OpenStore {
 public:
  explicit OpenStore(const BackendMaker& maker);
  ~OpenStore();
  StorageBackend& operator*() { return *storage_; }
  StorageBackend* operator->() { return storage_.get(); }
  IoLoop& loop() { return loop_; }
  const std::string& directory() const { return directory_.path(); }
  // Stops the backend and opens the same directory again.
  void reopen();

  template <class T>
  T run(Task<T> task) {
    return run_on(loop_, std::move(task));
  }
  TxnResult commit(TxnRequest request);
  // Writes the key unconditionally; returns the revision.
  Revision put(std::string key, std::string value, LeaseId lease = 0);
  Revision remove(std::string key);
  // The store's revision. If the store reports its revision without a request (committed_revision()), expects that both are equal.
  Revision newest();
  RangeResult range(RangeRequest request);
  // The value of a key, or "-" if it does not exist.
  std::string get(std::string key, Revision revision = 0);
  // All keys under a prefix as `key=value`, joined by spaces.
  std::string dump(std::string prefix, Revision revision = 0);
  // The next `count` events of a watch, as `+key=value` and `-key`, joined by spaces.
  std::string next(StorageWatch& watch, std::size_t count);

 private:
  BackendMaker maker_;
  ScratchDirectory directory_;
  IoLoop loop_{"store-test"};
  std::unique_ptr<StorageBackend> storage_;
};

}  // namespace backplane
