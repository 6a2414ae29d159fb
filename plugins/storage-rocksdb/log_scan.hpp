// Finds the damaged record of a write-ahead log: RocksDB reports that there is one, but neither the file nor the place.
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
  std::uint64_t offset = 0;  // of the record
};

// The first record with a wrong checksum or an impossible length; the end of a log that was cut short does not count.
std::optional<DamagedLog> find_damaged_log(const std::string& directory);

}  // namespace backplane::rocks
