// `backplane store snapshot` and `backplane store restore`.
//
// Thread-safety: the main thread; progress on standard error, the result on standard output.
// Errors:        the exit code: 0 done, 1 it could not be done.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/store_choice.hpp"
#include "backplane/core/revision.hpp"

namespace backplane {

// The value that etcd's documentation recommends. It exceeds the number of revisions between a snapshot and its restoration.
inline constexpr Revision kDefaultBump = 1'000'000'000;

struct SnapshotOptions {
  StoreChoice store;
  std::string file;
};
struct RestoreOptions {
  std::string file, data_dir;
  Revision bump = kDefaultBump;
  int lease_seconds = 3600;
  std::vector<std::string> plugin_dirs;
};

CLI::App* add_snapshot_command(CLI::App& app, SnapshotOptions& options);
CLI::App* add_restore_command(CLI::App& app, RestoreOptions& options);
int run_snapshot(const SnapshotOptions& options);
int run_restore(const RestoreOptions& options);

}  // namespace backplane
