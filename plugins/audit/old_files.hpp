// The rotated files of a log: their names, and the selection of files that are removed or compressed.
//
// Thread-safety: pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::audit {

// "/var/log/audit.log" → "/var/log/audit-2006-01-02T15-04-05.000.log", in UTC.
std::string backup_name(const std::string& path, std::chrono::system_clock::time_point time);
// Returns the time in the name of a rotated file of `path`; nullopt: the name is not that of a rotated file. `name`: without ".gz".
std::optional<std::chrono::system_clock::time_point> backup_time(const std::string& path, std::string_view name);

struct OldFiles {
  std::vector<std::string> remove, compress;  // names
};
// `names`: the names of all files in the folder.
OldFiles old_files(const std::string& path, const std::vector<std::string>& names, int max_backups, int max_age_days, bool compress,
                   std::chrono::system_clock::time_point now);

}  // namespace backplane::audit
