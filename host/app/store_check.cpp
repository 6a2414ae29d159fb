#include "app/store_check.hpp"

#include <charconv>

#include "app/find_inspection.hpp"
#include "storage/store_snapshot.hpp"
#include "storage/store_walk.hpp"

namespace backplane {
namespace {

constexpr std::string_view kDamaged = "is damaged";

// Reads the file and the offset of the damage from an error of a snapshot ("… at offset N") or of a store ("… in FILE offset N").
StoreDamage damage_of(const Status& status, const std::string& file) {
  constexpr std::string_view kPrefix = "Internal error occurred: ";
  const std::string& text = status.message();
  StoreDamage found{file, -1, text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text};
  constexpr std::string_view kOffset = " offset ";
  const auto at = text.rfind(kOffset);
  if (at == std::string::npos) return found;
  const char* const digits = text.data() + at + kOffset.size();
  if (std::from_chars(digits, text.data() + text.size(), found.offset).ec != std::errc()) found.offset = -1;
  const auto in = text.rfind(" in /", at);
  if (in != std::string::npos && text.find(' ', in + 4) == at) found.file = text.substr(in + 4, at - in - 4);
  return found;
}

bool is_damage(const Status& status) {
  return status.reason() == Reason::kInternalError && status.message().find(kDamaged) != std::string::npos;
}

Result<StoreCheckReport> check_files(StoreSession& session, StoreInspection& inspection, ProgressLine& line) {
  StoreCheckReport report;
  std::string from;
  do {
    auto checking = inspection.check(from);
    auto part = run_on(session.loop(), std::move(checking));
    if (!part.ok()) return std::move(part.status());
    report.records += part->rows;
    report.bytes += part->bytes;
    report.damage.insert(report.damage.end(), part->damage.begin(), part->damage.end());
    from = std::move(part->next);
    line.show("checked: " + shown_bytes(static_cast<std::uint64_t>(report.bytes)) + ", " + std::to_string(report.records) + " records");
  } while (!from.empty());
  return report;
}

Result<StoreCheckReport> read_everything(StoreSession& session, StorageBackend& store, ProgressLine& line) {
  StoreCheckReport report;
  StoreWalk walk(store, 0);
  for (;;) {
    auto walking = walk.next();
    const auto more = run_on(session.loop(), std::move(walking));
    if (!more.ok()) return more.status();
    if (!*more) return report;
    for (const KeyValue& item : walk.items()) {
      ++report.records;
      report.bytes += static_cast<std::int64_t>(item.key.size() + item.value.size());
    }
    line.show("read: " + std::to_string(report.records) + " records");
  }
}

}  // namespace

Result<StoreCheckReport> check_snapshot(const std::string& path, ProgressLine& line) {
  StoreCheckReport report;
  auto reader = SnapshotReader::open(path);
  Status failed = reader.status();
  if (reader.ok()) {
    const auto verified = verify_snapshot(*reader, [&](std::uint64_t done, std::uint64_t total) {
      if (line.is_due()) line.show("checked: " + shown_bytes(done) + ", " + shown_part(done, total));
    });
    failed = verified.status();
    report.records = static_cast<std::int64_t>(reader->summary().keys);
    report.bytes = static_cast<std::int64_t>(reader->offset());
  }
  if (is_damage(failed)) report.damage.push_back(damage_of(failed, path));
  if (!failed.ok() && report.damage.empty()) return failed;
  return report;
}

Result<StoreCheckReport> check_store(StoreSession& session, const StoreFlags& flags, ProgressLine& line) {
  auto store = session.open(flags);
  if (!store.ok() && is_damage(store.status())) {
    StoreCheckReport report;
    report.damage.push_back(damage_of(store.status(), flags.name.substr(flags.name.find(':') + 1)));
    return report;
  }
  if (!store.ok()) return std::move(store.status());
  auto* const inspection = find_inspection(**store);
  return inspection != nullptr ? check_files(session, *inspection, line) : read_everything(session, **store, line);
}

}  // namespace backplane
