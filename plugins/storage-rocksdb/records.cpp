#include "records.hpp"

namespace backplane::rocks {
namespace {

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Removes a varint from the front of `bytes`; false if there is none.
bool take_varint(std::string_view& bytes, std::int64_t& value) {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      value = static_cast<std::int64_t>(result);
      return true;
    }
  }
  return false;
}

}  // namespace

void append_version(std::string& out, const VersionRecord& version) {
  append_varint(out, static_cast<std::uint64_t>(version.mod));
  append_varint(out, static_cast<std::uint64_t>(version.create));
  append_varint(out, static_cast<std::uint64_t>(version.lease));
  out.append(version.value);
}

std::optional<VersionRecord> parse_version(std::string_view record) {
  VersionRecord version;
  const bool whole = take_varint(record, version.mod) && take_varint(record, version.create) && take_varint(record, version.lease);
  if (!whole) return std::nullopt;
  version.value = record;
  return version;
}

void append_log_record(std::string& out, const LogRecord& line) {
  out.push_back(line.deleted ? 'D' : 'P');
  append_varint(out, static_cast<std::uint64_t>(line.previous));
  out.append(line.key);
}

std::optional<LogRecord> parse_log_record(std::string_view record) {
  if (record.empty() || (record.front() != 'D' && record.front() != 'P')) return std::nullopt;
  LogRecord line;
  line.deleted = record.front() == 'D';
  record.remove_prefix(1);
  if (!take_varint(record, line.previous) || record.empty()) return std::nullopt;
  line.key = record;
  return line;
}

std::string log_key(Revision revision, std::uint32_t index) {
  std::string key;
  append_big_endian(key, static_cast<std::uint64_t>(revision), 8);
  append_big_endian(key, index, 4);
  return key;
}

Revision log_key_revision(std::string_view key) { return static_cast<Revision>(big_endian(key.substr(0, 8))); }

std::string old_key(std::string_view key, Revision end) {
  std::string row(key);
  row.push_back('\0');
  append_big_endian(row, static_cast<std::uint64_t>(end), 8);
  return row;
}

std::optional<OldKey> parse_old_key(std::string_view row) {
  if (row.size() < 10 || row[row.size() - 9] != '\0') return std::nullopt;
  return OldKey{row.substr(0, row.size() - 9), static_cast<Revision>(big_endian(row.substr(row.size() - 8)))};
}

std::string number(std::uint64_t value) {
  std::string bytes;
  append_big_endian(bytes, value, 8);
  return bytes;
}

std::optional<std::uint64_t> parse_number(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  return big_endian(bytes);
}

std::string lease_row(LeaseId id) { return "lease/" + number(static_cast<std::uint64_t>(id)); }

std::string lease_key_row(LeaseId id, std::string_view key) {
  std::string row = "lease-key/" + number(static_cast<std::uint64_t>(id));
  row.append(key);
  return row;
}

}  // namespace backplane::rocks
