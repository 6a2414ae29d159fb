// An open store of a storage backend of the stable tier: the plugin's table and handle, its threads, and its watches.
//
// Thread-safety: any thread, but `handle` is set before the store is shared.
// Lifetime:      shared by the StorageBackend, the watches, and the work on the threads.
// Errors:        none.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backplane/core/revision.hpp"
#include "backplane/stable/storage.h"
#include "stable/store_threads.hpp"

namespace backplane::stable {

// The registration of a plugin: copies of the table and of its texts.
struct StorageProvider {
  explicit StorageProvider(const bp_storage_backend& given);
  bp_storage_backend table;  // name and stored_form are empty here; the members below have the copies
  std::string name;
  std::string stored_form;
};

class OpenedStore : public std::enable_shared_from_this<OpenedStore> {
 public:
  explicit OpenedStore(const StorageProvider& provider);
  ~OpenedStore();

  const bp_storage_backend table;
  const std::string name;
  void* handle = nullptr;  // the result of open()
  StoreThreads threads;

  // Adds a stream; null after refuse_streams().
  std::shared_ptr<bp_event_stream> add_stream(std::string prefix, Revision after);
  // Removes the stream, because its watch has been cancelled or has not begun.
  void forget(const std::shared_ptr<bp_event_stream>& stream);
  // Returns all streams; no stream can be added afterwards.
  std::vector<std::shared_ptr<bp_event_stream>> refuse_streams();

 private:
  static constexpr std::size_t kThreads = 8;

  std::mutex mutex_;  // guards the members below
  std::set<std::shared_ptr<bp_event_stream>> streams_;
  bool refuses_ = false;
};

}  // namespace backplane::stable
