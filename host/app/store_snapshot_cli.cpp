#include "app/store_snapshot_cli.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>

#include "app/file_owner.hpp"
#include "app/store_session.hpp"
#include "base/progress_line.hpp"
#include "storage/store_snapshot.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStore = "/rocksdb", kRestoring = "/rocksdb.restoring";

StoreProgress shown(std::shared_ptr<ProgressLine> line, const std::string& what) {
  return [line = std::move(line), what](std::uint64_t done, std::uint64_t total) {
    if (!line->is_due()) return;
    line->show(what + ": " + std::to_string(done) + (total > 0 ? " of " + std::to_string(total) + ", " + shown_part(done, total) : ""));
  };
}

Result<Revision> take_snapshot(const SnapshotOptions& options, const StoreFlags& flags, SnapshotWriter& writer) {
  auto opener = StoreOpener::make(options.store.plugin_dirs);
  if (!opener.ok()) return std::move(opener.status());
  StoreSession session(**opener);
  auto store = session.open(flags);
  if (!store.ok()) return std::move(store.status());
  auto taking = snapshot_store(**store, writer, flags.name, shown(std::make_shared<ProgressLine>(), "keys written"));
  return run_on(session.loop(), std::move(taking));
}

// Success if the directory has no store. It may have the keys and certificates of a data directory whose store has been removed.
Status check_target(const std::string& data_dir) {
  std::error_code error;
  if (!fs::exists(data_dir, error)) return {};
  if (!fs::is_directory(data_dir, error)) return bad_request("--data-dir: " + backplane::quoted(data_dir) + " is not a directory");
  const auto refused = [&](const std::string& name) {
    return Status(Reason::kConflict, "--data-dir: " + backplane::quoted(data_dir) + " is not empty: it has " + name +
                                         "; name another directory, or remove the store first (a data directory may keep its pki)");
  };
  if (fs::exists(data_dir + std::string(kStore), error)) return refused("a store, rocksdb");
  if (fs::exists(data_dir + "/pki", error)) return {};
  for (const auto& entry : fs::directory_iterator(data_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name != "lock" && name != kRestoring.substr(1)) return refused(name);
  }
  return {};
}

Status put_in_place(const std::string& data_dir) {
  std::error_code error;
  fs::rename(data_dir + std::string(kRestoring), data_dir + std::string(kStore), error);
  if (error) return internal_error("cannot rename " + data_dir + std::string(kRestoring) + ": " + error.message());
  const int fd = ::open(data_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)::fsync(fd);
    ::close(fd);
  }
  return {};
}

Result<Revision> write_store(const RestoreOptions& options, const SnapshotReader& from, const VerifiedSnapshot& verified,
                             StoreOpener& opener, const std::string& directory) {
  StoreSession session(opener);
  auto store = session.open_new(directory);
  if (!store.ok()) return std::move(store.status());
  RestoreSettings settings;
  settings.bump = options.bump;
  settings.lease = std::chrono::seconds(options.lease_seconds);
  settings.progress = shown(std::make_shared<ProgressLine>(), "keys restored");
  auto restoring = restore_snapshot(from, verified, **store, std::move(settings));
  return run_on(session.loop(), std::move(restoring));
}

// Restores into a temporary directory, which is renamed at the end, so that a server never opens an incomplete store.
Result<Revision> restore_into(const RestoreOptions& options, const std::string& data_dir, const SnapshotReader& from,
                              const VerifiedSnapshot& verified) {
  // Made before this process changes its user, because the opener creates files that only the first user may read.
  auto opener = StoreOpener::make(options.plugin_dirs);
  if (!opener.ok()) return std::move(opener.status());
  if (Status made = make_private_directory(data_dir); !made.ok()) return made;
  const FileOwner owner = FileOwner::of(data_dir);
  auto lock = DataDirLock::take(data_dir);
  if (!lock.ok()) return std::move(lock.status());
  const std::string restoring = data_dir + std::string(kRestoring);
  std::error_code error;
  fs::remove_all(restoring, error);
  auto revision = write_store(options, from, verified, **opener, restoring);
  if (!revision.ok()) {
    fs::remove_all(restoring, error);
    return revision;
  }
  if (Status placed = put_in_place(data_dir); !placed.ok()) return placed;
  return revision;
}

}  // namespace

CLI::App* add_snapshot_command(CLI::App& app, SnapshotOptions& options) {
  auto* command = app.add_subcommand("snapshot",
                                     "Writes the objects of a store, at one revision, to a file with checksums. The server may run: its "
                                     "store is then read through it. The default store is that of the default data directory");
  command->add_option("-o,--output", options.file, "the file; it is replaced when the snapshot is complete")->required();
  add_store_choice(*command, options.store, kStoreForms);
  return command;
}

CLI::App* add_restore_command(CLI::App& app, RestoreOptions& options) {
  auto* command = app.add_subcommand(
      "restore", "Makes an embedded store of a snapshot, after verifying it: the same objects with the same resourceVersions");
  command->add_option("file", options.file, "the snapshot")->required();
  command->add_option("--data-dir", options.data_dir, "data directory of the new store; empty, or without a store")->required();
  command
      ->add_option(
          "--bump-revision", options.bump,
          "by how much the revision is raised above the snapshot's. It must exceed the writes since the snapshot: clients that have "
          "seen them then list again. 0 continues at the snapshot's revision")
      ->check(CLI::Range(Revision{0}, Revision{1} << 60))
      ->capture_default_str();
  command
      ->add_option("--lease-seconds", options.lease_seconds,
                   "lifetime, in seconds, that expiring objects (events) get; their remaining time is unknown")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  add_plugin_dirs(*command, options.plugin_dirs);
  return command;
}

int run_snapshot(const SnapshotOptions& options) {
  const auto flags = chosen_store(options.store);
  if (!flags.ok()) return fail_store_command(flags.status());
  auto writer = SnapshotWriter::create(options.file);
  if (!writer.ok()) return fail_store_command(writer.status());
  const auto revision = take_snapshot(options, *flags, *writer);
  if (!revision.ok()) return fail_store_command(revision.status());
  const auto summary = writer->finish();
  if (!summary.ok()) return fail_store_command(summary.status());
  std::cout << options.file << ": " << summary->keys << " keys, " << summary->bytes << " bytes at revision " << *revision << ", sha256 "
            << summary->digest << '\n';
  return 0;
}

int run_restore(const RestoreOptions& options) {
  const std::string data_dir = absolute_path(options.data_dir);
  if (Status fits = check_target(data_dir); !fits.ok()) return fail_store_command(fits);
  auto reader = SnapshotReader::open(options.file);
  if (!reader.ok()) return fail_store_command(reader.status());
  const auto verified = verify_snapshot(*reader, shown(std::make_shared<ProgressLine>(), "bytes verified"));
  if (!verified.ok()) return fail_store_command(verified.status());
  const auto revision = restore_into(options, data_dir, *reader, *verified);
  if (!revision.ok()) return fail_store_command(revision.status());
  std::cout << "restored " << reader->summary().keys << " keys, " << reader->summary().bytes << " bytes from revision "
            << reader->header().revision << "; the store continues at revision " << *revision << '\n';
  return 0;
}

}  // namespace backplane
