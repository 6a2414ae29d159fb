// The rows of commits in RocksDB.
//
// Column families:
//   default  "format", "revision", "compacted", "lease/<id>", "lease-key/<id>/<key>"
//   live     key                     → the newest version of the key, with its value
//   old      key 0x00 end-revision   → a version that was replaced or removed at end-revision; it was valid in [mod, end)
//   log      revision index          → one change: put or delete, the key, the revision of the version before
// Numbers in keys are big-endian, so that they sort.  A value is stored once: in live, or in old after it was superseded.
//
// Thread-safety: pure functions.
// Errors:        nullopt if bytes are not a record: the store is damaged.
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

// One line of the log.
struct LogRecord {
  bool deleted = false;
  Revision previous = 0;  // mod_revision before; 0 on creation
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
