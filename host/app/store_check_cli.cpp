#include "app/store_check_cli.hpp"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>

#include "app/find_inspection.hpp"
#include "app/store_check.hpp"
#include "backplane/core/json_access.hpp"
#include "storage/store_snapshot.hpp"
#include "storage/store_usage.hpp"

namespace backplane {
namespace {

constexpr const char* kStoreSyntax = "a snapshot's file, rocksdb:DATA_DIR, etcd:URL[,URL...] or server:KUBECONFIG";

bool names_a_snapshot(const StoreChoice& choice) {
  std::error_code error;
  return std::filesystem::is_regular_file(choice.flags.name, error);
}

// The store or the snapshot that the command reads.
struct Subject {
  std::string name;
  bool snapshot = false;
  StoreFlags flags;
};

Result<Subject> subject_of(const StoreChoice& choice) {
  if (names_a_snapshot(choice)) return Subject{choice.flags.name, true, {}};
  auto flags = chosen_store(choice);
  if (!flags.ok()) return std::move(flags.status());
  return Subject{flags->name, false, *flags};
}

int print_check(const Subject& subject, const StoreCheckReport& report, bool json) {
  Array damage;
  for (const StoreDamage& each : report.damage) {
    Object row{{"file", each.file}};
    if (each.offset >= 0) row["offset"] = each.offset;
    row["what"] = each.what;
    damage.emplace_back(std::move(row));
  }
  const bool good = report.damage.empty();
  if (json) {
    std::cout << pretty_json(to_json(Object{
        {"store", subject.name}, {"ok", good}, {"records", report.records}, {"bytes", report.bytes}, {"damage", std::move(damage)}}));
    return good ? 0 : 1;
  }
  for (const StoreDamage& each : report.damage) {
    std::cout << each.file << (each.offset >= 0 ? " offset " + std::to_string(each.offset) : "") << ": " << each.what << '\n';
  }
  std::cout << subject.name << ": " << report.records << " records, " << report.bytes << " bytes read, "
            << (good ? "no damage" : std::to_string(report.damage.size()) + " damaged") << '\n';
  return good ? 0 : 1;
}

struct Stat {
  StoreUsage usage;
  std::optional<StoreFacts> facts;
};

Result<Stat> stat_snapshot(const std::string& path) {
  auto reader = SnapshotReader::open(path);
  if (!reader.ok()) return std::move(reader.status());
  Stat out;
  out.usage.revision = reader->header().revision;
  for (;;) {
    const auto item = reader->next();
    if (!item.ok()) return item.status();
    if (!item->has_value()) return out;
    out.usage.add(**item);
  }
}

Result<Stat> stat_store(const StoreChoice& choice, const StoreFlags& flags, ProgressLine& line) {
  auto opener = StoreOpener::make(choice.plugin_dirs);
  if (!opener.ok()) return std::move(opener.status());
  StoreSession session(**opener);
  auto store = session.open(flags);
  if (!store.ok()) return std::move(store.status());
  auto reading = read_usage(**store, [&line](const StoreUsage& usage) {
    if (line.is_due()) line.show("objects read: " + std::to_string(usage.total.objects));
  });
  auto usage = run_on(session.loop(), std::move(reading));
  if (!usage.ok()) return std::move(usage.status());
  Stat out{std::move(*usage), std::nullopt};
  if (auto* const inspection = find_inspection(**store)) {
    auto asking = inspection->facts();
    auto facts = run_on(session.loop(), std::move(asking));
    if (!facts.ok()) return std::move(facts.status());
    out.facts = *facts;
  }
  return out;
}

// The types, sorted by size, the largest first.
std::vector<std::pair<std::string, TypeUsage>> by_size(const StoreUsage& usage) {
  std::vector<std::pair<std::string, TypeUsage>> rows(usage.types.begin(), usage.types.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  return rows;
}

std::string stat_as_json(const Subject& subject, const Stat& stat) {
  Array types;
  for (const auto& [name, usage] : by_size(stat.usage)) {
    types.push_back(Object{{"type", name}, {"objects", usage.objects}, {"bytes", usage.bytes}, {"largest", usage.largest}});
  }
  Object out{{"store", subject.name},
             {"revision", stat.usage.revision},
             {"objects", stat.usage.total.objects},
             {"bytes", stat.usage.total.bytes},
             {"types", std::move(types)}};
  if (stat.facts) {
    out["compactedRevision"] = stat.facts->compacted;
    out["segments"] = Object{{"files", stat.facts->files}, {"bytes", stat.facts->file_bytes}};
    out["logs"] = Object{{"files", stat.facts->logs}, {"bytes", stat.facts->log_bytes}};
    out["memoryBytes"] = stat.facts->memory_bytes;
    out["freeBytes"] = stat.facts->free_bytes;
  }
  return pretty_json(to_json(out));
}

std::string files_line(std::int64_t files, std::int64_t bytes) {
  return std::to_string(files) + (files == 1 ? " file, " : " files, ") + shown_bytes(static_cast<std::uint64_t>(bytes));
}

std::string stat_as_text(const Subject& subject, const Stat& stat) {
  std::ostringstream out;
  const auto& total = stat.usage.total;
  out << "store:     " << subject.name << "\nrevision:  " << stat.usage.revision;
  if (stat.facts) out << ", compacted up to " << stat.facts->compacted;
  out << "\nobjects:   " << total.objects << ", " << shown_bytes(total.bytes) << '\n';
  if (stat.facts) {
    out << "segments:  " << files_line(stat.facts->files, stat.facts->file_bytes)
        << "\nlogs:      " << files_line(stat.facts->logs, stat.facts->log_bytes)
        << "\nfree:      " << shown_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(stat.facts->free_bytes, 0)))
        << " on the file system\n";
  }
  out << '\n'
      << std::left << std::setw(60) << "TYPE" << std::right << std::setw(10) << "OBJECTS" << std::setw(14) << "BYTES" << std::setw(12)
      << "LARGEST" << '\n';
  for (const auto& [name, usage] : by_size(stat.usage)) {
    out << std::left << std::setw(60) << name << std::right << std::setw(10) << usage.objects << std::setw(14) << usage.bytes
        << std::setw(12) << usage.largest << '\n';
  }
  return out.str();
}

CLI::App* add_command(CLI::App& app, CheckOptions& options, const char* name, const char* about) {
  auto* command = app.add_subcommand(name, about);
  command->add_option("-o,--output", options.output, "text or json")->check(CLI::IsMember({"text", "json"}));
  add_store_choice(*command, options.store, kStoreSyntax);
  return command;
}

}  // namespace

CLI::App* add_check_command(CLI::App& app, CheckOptions& options) {
  return add_command(
      app, options, "check",
      "Reads every record of a store or of a snapshot, verifies the checksums, and names file and offset of what is damaged. "
      "The server may run; damage is exit code 1");
}

CLI::App* add_stat_command(CLI::App& app, CheckOptions& options) {
  return add_command(app, options, "stat",
                     "Prints objects and bytes of each type, revision, files and free space of a store or a snapshot");
}

int run_check(const CheckOptions& options) {
  const auto subject = subject_of(options.store);
  if (!subject.ok()) return fail_store_command(subject.status());
  ProgressLine line;
  Result<StoreCheckReport> report = bad_request("");
  if (subject->snapshot) {
    report = check_snapshot(subject->name, line);
  } else {
    auto opener = StoreOpener::make(options.store.plugin_dirs);
    if (!opener.ok()) return fail_store_command(opener.status());
    StoreSession session(**opener);
    report = check_store(session, subject->flags, line);
  }
  line.clear();
  if (!report.ok()) return fail_store_command(report.status());
  return print_check(*subject, *report, options.output == "json");
}

int run_stat(const CheckOptions& options) {
  const auto subject = subject_of(options.store);
  if (!subject.ok()) return fail_store_command(subject.status());
  ProgressLine line;
  const auto stat = subject->snapshot ? stat_snapshot(subject->name) : stat_store(options.store, subject->flags, line);
  line.clear();
  if (!stat.ok()) return fail_store_command(stat.status());
  std::cout << (options.output == "json" ? stat_as_json(*subject, *stat) : stat_as_text(*subject, *stat));
  return 0;
}

}  // namespace backplane
