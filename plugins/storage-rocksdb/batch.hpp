// A group of transactions that is being committed: the RocksDB rows to write, the changed state of the keys, and the events to publish.
//
// Thread-safety: the writer's thread only.
// Errors:        kInternalError if a key cannot be read.
#pragma once

#include <rocksdb/write_batch.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "database.hpp"

namespace backplane::rocks {

// The state of a key after the changes of the batch.
struct KeyState {
  bool exists = false;
  Revision mod = 0;
  Revision create = 0;
  LeaseId lease = 0;
  SharedBytes value;
};

// Writes the rows. Another thread, of RocksDB, may read the batch during this call only (cmake/tsan.supp).
rocksdb::Status commit_rows(rocksdb::DB& db, const rocksdb::WriteOptions& options, rocksdb::WriteBatch& rows);

class Batch {
 public:
  // `bytes`: the total size of the values that will be written.
  Batch(const Database::Reading& reading, std::size_t bytes) : reading_(reading), rows_(bytes + kRowBytes) {}

  // The state of a key. The pointer is valid until the next call on the batch.
  Result<const KeyState*> find(const std::string& key);
  // Add a change of the transaction with this revision. `index`: the number of the change within the transaction.
  Status put(const Put& put, Revision revision, std::uint32_t index);
  Status remove(const std::string& key, Revision revision, std::uint32_t index);
  void set_row(std::string_view row, std::string_view value);
  void remove_row(std::string_view row);

  bool empty() { return rows_.Count() == 0; }
  std::size_t bytes() const { return rows_.GetDataSize(); }
  rocksdb::Status write(bool sync, Revision revision);
  std::vector<StorageEvent> take_events() { return std::move(events_); }

 private:
  static constexpr std::size_t kRowBytes = 512;  // the approximate size of the rows of one put without its value

  Status supersede(const std::string& key, const KeyState& state, Revision revision, StorageEvent& event);
  void log(const StorageEvent& event, std::uint32_t index);

  const Database::Reading& reading_;
  rocksdb::WriteBatch rows_;
  std::unordered_map<std::string, KeyState> keys_;
  std::vector<StorageEvent> events_;
};

}  // namespace backplane::rocks
