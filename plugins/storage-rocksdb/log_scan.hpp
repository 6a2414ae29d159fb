// Finds the damaged record of a write-ahead log. RocksDB reports that a record is damaged, but neither the file nor the offset.
//
// Thread-safety: any thread.
// Errors:        a file that cannot be read is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace backplane::rocks {

struct DamagedLog {
  std::string path;
  std::uint64_t offset = 0;  // the offset of the record
};

// The first record with a wrong checksum or an impossible length; a record that the end of its log cuts off is ignored.
std::optional<DamagedLog> find_damaged_log(const std::string& directory);

}  // namespace backplane::rocks
