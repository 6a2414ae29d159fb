#include "inspection.hpp"

#include <rocksdb/snapshot.h>
#include <rocksdb/sst_file_reader.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "reader.hpp"
#include "records.hpp"

namespace backplane::rocks {
namespace {

constexpr std::string_view kFiles = "file/", kRows = "rows/";
constexpr std::size_t kRowsPerPart = 20'000;
constexpr std::int64_t kBytesPerPart = 32 * 1024 * 1024;
constexpr std::array<Family, 4> kFamilies{Family::kDefault, Family::kLive, Family::kOld, Family::kLog};
constexpr std::array<std::string_view, 4> kFamilyNames{"default", "live", "old", "log"};

std::string_view text(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

std::int64_t property(const Database::Reading& reading, const std::string& name) {
  std::int64_t total = 0;
  for (const Family family : kFamilies) {
    std::uint64_t one = 0;
    if (reading.db().GetIntProperty(reading.family(family), name, &one)) total += static_cast<std::int64_t>(one);
  }
  return total;
}

std::vector<rocksdb::LiveFileMetaData> segments(const Database::Reading& reading) {
  std::vector<rocksdb::LiveFileMetaData> files;
  reading.db().GetLiveFilesMetaData(&files);
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

StoreDamage damage_in(std::string file, const rocksdb::Status& status) {
  StoreDamage found = parse_damage(status.ToString());
  if (found.file.empty()) found.file = std::move(file);
  return found;
}

// Checks the first segment whose name is greater than `after`.
Result<StoreCheckPart> check_segment(const Database::Reading& reading, std::string_view after) {
  StoreCheckPart part;
  const auto files = segments(reading);
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.name > after; });
  if (file == files.end()) {
    part.next = std::string(kRows) + "0";
    return part;
  }
  const std::string path = file->db_path + file->name;
  rocksdb::SstFileReader reader{rocksdb::Options()};
  auto status = reader.Open(path);
  if (status.ok()) status = reader.VerifyChecksum();
  std::error_code error;
  // A compaction may have removed the file since it was listed; that is no damage.
  const bool gone = !status.ok() && !std::filesystem::exists(path, error);
  if (!status.ok() && !gone) part.damage.push_back(damage_in(path, status));
  part.bytes = static_cast<std::int64_t>(file->size);
  part.next = std::string(kFiles) + file->name;
  return part;
}

// The reason why the row is invalid; empty if it is valid.
std::string_view fault_of(Family family, std::string_view key, std::string_view value, Revision revision) {
  if (family == Family::kDefault) {
    const bool number = key == "revision" || key == "compacted" || key.starts_with("lease/");
    return number && !parse_number(value) ? "is not a number" : "";
  }
  if (family == Family::kLog) {
    if (key.size() != 12 || !parse_log_record(value)) return "is not a log record";
    return log_key_revision(key) > revision ? "is newer than the store's revision" : "";
  }
  const auto version = parse_version(value);
  if (!version || (family == Family::kOld && !parse_old_key(key))) return "is not a version of a key";
  return version->mod > revision || version->create > version->mod ? "has an impossible revision" : "";
}

std::string shown_key(Family family, std::string_view key) {
  if (family == Family::kLog && key.size() == 12) return "revision " + std::to_string(log_key_revision(key));
  if (const auto old = family == Family::kOld ? parse_old_key(key) : std::nullopt) return backplane::quoted(old->key);
  return backplane::quoted(key);
}

// The store's revision in the snapshot of `options`.
Revision revision_of(const Database::Reading& reading, const rocksdb::ReadOptions& options) {
  std::string value;
  const auto status = reading.db().Get(options, reading.family(Family::kDefault), "revision", &value);
  const auto parsed = status.ok() ? parse_number(value) : std::nullopt;
  return parsed ? static_cast<Revision>(*parsed) : Revision{1};
}

// Checks rows. `from`: the number of the column family (a digit), followed by the first key.
Result<StoreCheckPart> check_rows(const Database::Reading& reading, std::string_view from) {
  const auto index = static_cast<std::size_t>(from.empty() ? 0 : from.front() - '0');
  if (index >= kFamilies.size()) return bad_request("the check cannot continue there");
  StoreCheckPart part;
  const Family family = kFamilies[index];
  rocksdb::ManagedSnapshot moment(&reading.db());
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.snapshot = moment.snapshot();
  const Revision revision = revision_of(reading, options);
  std::unique_ptr<rocksdb::Iterator> rows(reading.db().NewIterator(options, reading.family(family)));
  const std::string_view first = from.substr(std::min<std::size_t>(1, from.size()));
  std::size_t count = 0;
  for (rows->Seek(rocksdb::Slice(first.data(), first.size())); rows->Valid(); rows->Next(), ++count) {
    const std::string_view key = text(rows->key());
    if (count >= kRowsPerPart || part.bytes > kBytesPerPart) {
      part.next = std::string(kRows) + std::to_string(index) + std::string(key);
      break;
    }
    part.bytes += static_cast<std::int64_t>(key.size() + rows->value().size());
    const std::string_view fault = fault_of(family, key, text(rows->value()), revision);
    if (!fault.empty()) {
      part.damage.push_back(
          {"table " + std::string(kFamilyNames[index]), -1, "the row of " + shown_key(family, key) + " " + std::string(fault)});
    }
  }
  part.rows = static_cast<std::int64_t>(count);
  if (!rows->status().ok()) part.damage.push_back(damage_in("table " + std::string(kFamilyNames[index]), rows->status()));
  if (part.next.empty() && index + 1 < kFamilies.size()) part.next = std::string(kRows) + std::to_string(index + 1);
  return part;
}

}  // namespace

StoreDamage parse_damage(const std::string& message) {
  StoreDamage found;
  found.what = message;
  const auto offset = message.rfind(" offset ");
  const auto file = message.rfind(" in /", offset);
  if (file == std::string::npos) return found;
  const auto begin = file + 4;
  found.file = message.substr(begin, message.find_first_of(" ;", begin) - begin);
  if (offset != std::string::npos && offset > file) {
    const char* const digits = message.data() + offset + std::string_view(" offset ").size();
    if (std::from_chars(digits, message.data() + message.size(), found.offset).ec != std::errc()) found.offset = -1;
  }
  found.what = message.substr(0, file);
  return found;
}

Result<StoreFacts> read_facts(const Database& database) {
  const Database::Reading reading(database);
  if (!reading.ok()) return stopped_status();
  StoreFacts facts;
  for (const auto& file : segments(reading)) {
    ++facts.files;
    facts.file_bytes += static_cast<std::int64_t>(file.size);
  }
  rocksdb::VectorLogPtr logs;
  if (reading.db().GetSortedWalFiles(logs).ok()) {
    facts.logs = static_cast<std::int64_t>(logs.size());
    for (const auto& log : logs) facts.log_bytes += static_cast<std::int64_t>(log->SizeFileBytes());
  }
  facts.memory_bytes = property(reading, rocksdb::DB::Properties::kCurSizeAllMemTables);
  facts.rows = property(reading, rocksdb::DB::Properties::kEstimateNumKeys);
  struct statvfs room {};
  if (::statvfs(reading.db().GetName().c_str(), &room) == 0) {
    facts.free_bytes = static_cast<std::int64_t>(room.f_bavail) * static_cast<std::int64_t>(room.f_frsize);
  }
  return facts;
}

Result<StoreCheckPart> check_part(const Database& database, std::string_view from) {
  const Database::Reading reading(database);
  if (!reading.ok()) return stopped_status();
  if (from.starts_with(kRows)) return check_rows(reading, from.substr(kRows.size()));
  if (!from.empty() && !from.starts_with(kFiles)) return bad_request("the check cannot continue there");
  return check_segment(reading, from.empty() ? from : from.substr(kFiles.size()));
}

}  // namespace backplane::rocks
