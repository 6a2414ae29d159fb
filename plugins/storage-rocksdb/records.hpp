// Encodes and decodes the rows of the store in RocksDB.
//
// Column families:
//   default  "format", "revision", "compacted", "lease/<id>", "lease-key/<id>/<key>"
//   live     key                     → the newest version of the key, with its value
//   old      key 0x00 end-revision   → a version that was replaced or removed at end-revision; it was valid in [mod, end-revision)
//   log      revision index          → one change: put or delete, the key, the revision of the previous version
// Numbers in keys are big-endian, so that rows are sorted by them.  A value is stored once: in live, and in old after it was superseded.
//
// Thread-safety: pure functions.
// Errors:        the functions that parse return nullopt if the bytes are malformed, which means that the store is damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"

namespace backplane::rocks {

inline constexpr std::string_view kFormat = "backplane-mvcc-1";

// One version of one key.
struct VersionRecord {
  Revision mod = 0;
  Revision create = 0;
  LeaseId lease = 0;
  std::string_view value;  // borrows the record
};
void append_version(std::string& out, const VersionRecord& version);
std::optional<VersionRecord> parse_version(std::string_view record);

// A row of the column family log.
struct LogRecord {
  bool deleted = false;
  Revision previous = 0;  // the mod_revision of the previous version; 0: the change created the key
  std::string_view key;   // borrows the record
};
void append_log_record(std::string& out, const LogRecord& line);
std::optional<LogRecord> parse_log_record(std::string_view record);

std::string log_key(Revision revision, std::uint32_t index);
Revision log_key_revision(std::string_view key);

std::string old_key(std::string_view key, Revision end);
struct OldKey {
  std::string_view key;
  Revision end = 0;
};
std::optional<OldKey> parse_old_key(std::string_view row);

std::string number(std::uint64_t value);
std::optional<std::uint64_t> parse_number(std::string_view bytes);

std::string lease_row(LeaseId id);
std::string lease_key_row(LeaseId id, std::string_view key);

}  // namespace backplane::rocks
