#include "app/store_cli.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <limits>

#include "app/reencrypt_cli.hpp"
#include "app/store_check_cli.hpp"
#include "app/store_choice.hpp"
#include "app/store_session.hpp"
#include "app/store_snapshot_cli.hpp"
#include "base/log.hpp"
#include "base/progress_line.hpp"
#include "storage/store_copy.hpp"

namespace backplane {
namespace {

constexpr const char* kCopyForms = "rocksdb:DATA_DIR or etcd:URL[,URL...]";

struct CliOptions {
  StoreFlags from, to, store;
  std::vector<std::string> plugin_dirs;
  bool refuse_writes = false;
  int lease_seconds = 3600;
  ReencryptOptions reencrypt;
  SnapshotOptions snapshot;
  RestoreOptions restore;
  CheckOptions check, stat;
};

// The name and prefix of a store, without the options that only describe the connection.
std::string shown(const StoreFlags& flags) { return flags.prefix.empty() ? flags.name : flags.name + " " + flags.prefix; }

int copy(const CliOptions& options) {
  if (shown(options.from) == shown(options.to)) return fail_store_command(bad_request("--from and --to are the same store"));
  auto opener = StoreOpener::make(options.plugin_dirs);
  if (!opener.ok()) return fail_store_command(opener.status());
  StoreSession session(**opener);
  StoreFlags source = options.from;
  source.served = options.refuse_writes;
  auto from = session.open(source);
  if (!from.ok()) return fail_store_command(from.status());
  auto to = session.open(options.to);
  if (!to.ok()) return fail_store_command(to.status());
  CopySettings settings;
  settings.from = shown(options.from);
  settings.to = shown(options.to);
  settings.hold_source = options.refuse_writes;
  settings.lease = std::chrono::seconds(options.lease_seconds);
  settings.progress = [line = std::make_shared<ProgressLine>()](std::string_view step, std::uint64_t done) {
    line->show((step == "raised" ? "raising the target's revision: " : "keys copied: ") + std::to_string(done));
  };
  auto done = run_on(session.loop(), copy_store(**from, **to, std::move(settings)));
  if (!done.ok()) return fail_store_command(done.status());
  std::cout << (done->resumed ? "completed an interrupted copy: " : "copied ") << done->keys << " keys, " << done->bytes
            << " bytes, sha256 " << done->digest << "\nthe source was at revision " << done->source_revision
            << ", the target begins at revision " << done->target_revision << '\n';
  if (options.refuse_writes) {
    std::cout << "the source refuses writes; to use it again: backplane store release " << shell_arguments(options.from) << '\n';
  }
  return 0;
}

int release(const CliOptions& options) {
  auto opener = StoreOpener::make(options.plugin_dirs);
  if (!opener.ok()) return fail_store_command(opener.status());
  StoreSession session(**opener);
  auto store = session.open(options.store);
  if (!store.ok()) return fail_store_command(store.status());
  Status released = run_on(session.loop(), release_store(**store));
  if (!released.ok()) return fail_store_command(released);
  std::cout << "the servers of " << options.store.name << " may write again\n";
  return 0;
}

void add_copy_options(CLI::App& command, CliOptions& options) {
  const std::string source = "Source", target = "Target";
  command.add_option("--from", options.from.name, kCopyForms)->required()->group(source);
  add_etcd_options(command, options.from, "from-", source);
  command
      .add_flag(
          "--refuse-writes", options.refuse_writes,
          "Backplane servers on the source keep running and refuse writes during the copy, and after it until 'backplane store release'. "
          "It has no effect on kube-apiservers: stop them")
      ->group(source);
  command
      .add_option("--to", options.to.name, std::string(kCopyForms) + "; must be empty, or contain an unfinished copy of the same source")
      ->required()
      ->group(target);
  add_etcd_options(command, options.to, "to-", target);
  command
      .add_option("--lease-seconds", options.lease_seconds,
                  "lifetime, in seconds, that expiring objects (events) get in the target; their remaining time is unknown")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->capture_default_str()
      ->group(target);
}

// False when the first word is no subcommand: CLI11's message would not name it.
bool names_a_subcommand(const CLI::App& app, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  std::string known;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (word == command->get_name()) return true;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (word.starts_with('-')) return true;
  std::cerr << (word.empty() ? "missing subcommand" : "unknown subcommand \"" + word + "\"") << "; available: " << known
            << "\nRun 'backplane store --help' for usage.\n";
  return false;
}

}  // namespace

int run_store_cli(int argc, char** argv) {
  CliOptions options;
  options.from.option = "--from";
  options.to.option = "--to";
  options.to.fresh = true;
  options.store.served = true;
  CLI::App app("Commands on stores.", "backplane store");
  app.require_subcommand(1);
  auto* copy_command = app.add_subcommand(
      "copy",
      "Copies a store into another one: from the embedded store to etcd, or from etcd. An interrupted copy continues if the "
      "command is repeated");
  add_copy_options(*copy_command, options);
  add_plugin_dirs(*copy_command, options.plugin_dirs);
  auto* release_command = app.add_subcommand("release", "Lets the servers of a store accept writes again, after copy --refuse-writes");
  release_command->add_option("store", options.store.name, kCopyForms)->required()->group("Store");
  add_etcd_options(*release_command, options.store, "", "Store");
  add_plugin_dirs(*release_command, options.plugin_dirs);
  const CLI::App* const reencrypt_command = add_reencrypt_command(app, options.reencrypt);
  const CLI::App* const snapshot_command = add_snapshot_command(app, options.snapshot);
  const CLI::App* const restore_command = add_restore_command(app, options.restore);
  const CLI::App* const check_command = add_check_command(app, options.check);
  const CLI::App* const stat_command = add_stat_command(app, options.stat);
  if (!names_a_subcommand(app, argc, argv)) return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : 2;
  }
  set_log_level("error");
  if (*reencrypt_command) return run_reencrypt(options.reencrypt);
  if (*snapshot_command) return run_snapshot(options.snapshot);
  if (*restore_command) return run_restore(options.restore);
  if (*check_command) return run_check(options.check);
  if (*stat_command) return run_stat(options.stat);
  for (StoreFlags* flags : {&options.from, &options.to, &options.store}) flags->name = full_store_name(flags->name);
  return *copy_command ? copy(options) : release(options);
}

}  // namespace backplane
