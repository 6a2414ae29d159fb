#include "app/store_cli.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <limits>

#include "app/reencrypt_cli.hpp"
#include "app/store_opener.hpp"
#include "base/log.hpp"
#include "base/plain_message.hpp"
#include "storage/store_copy.hpp"

namespace backplane {
namespace {

constexpr const char* kStoreForms = "rocksdb:DATA_DIR or etcd:URL[,URL...]";
constexpr std::chrono::seconds kReachable{10};  // what a store may take to answer at first

struct CliOptions {
  StoreFlags from, to, store;
  std::vector<std::string> plugin_dirs;
  bool refuse_writes = false;
  int lease_seconds = 3600;
  ReencryptOptions reencrypt;
};

int fail(const Status& status) {
  flush_logs();
  std::cerr << "Error: " << plain_message(status) << '\n';
  return 1;
}

// A store that is open, with the loop its tasks run on.
class Session {
 public:
  explicit Session(StoreOpener& opener) : opener_(opener) { loop_.start(); }
  ~Session() {
    for (auto& handle : open_) (void)run_on(loop_, handle.storage->stop());
    open_.clear();
    loop_.stop();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<StorageBackend*> open(const StoreFlags& flags) {
    auto opened = opener_.open(flags);
    if (!opened.ok()) return std::move(opened.status());
    open_.push_back(std::move(*opened));
    StorageBackend* const storage = open_.back().storage.get();
    if (Status reached = run_on(loop_, storage->health(kReachable)); !reached.ok()) {
      return Status(reached.reason(), backplane::quoted(flags.name) + " cannot be reached: " + reached.message());
    }
    return storage;
  }
  IoLoop& loop() noexcept { return loop_; }

 private:
  StoreOpener& opener_;
  IoLoop loop_{"store"};
  std::vector<OpenStoreHandle> open_;
};

// A line a second at most.
class Progress {
 public:
  void operator()(std::string_view step, std::uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(1);
    std::cerr << (step == "raised" ? "raising the target's revision: " : "keys copied: ") << done << std::endl;
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

// Where a store is, without what only says how it is reached.
std::string shown(const StoreFlags& flags) { return flags.prefix.empty() ? flags.name : flags.name + " " + flags.prefix; }

int copy(const CliOptions& options) {
  if (shown(options.from) == shown(options.to)) return fail(bad_request("--from and --to are the same store"));
  auto opener = StoreOpener::make(options.plugin_dirs);
  if (!opener.ok()) return fail(opener.status());
  Session session(**opener);
  StoreFlags source = options.from;
  source.served = options.refuse_writes;
  auto from = session.open(source);
  if (!from.ok()) return fail(from.status());
  auto to = session.open(options.to);
  if (!to.ok()) return fail(to.status());
  CopySettings settings;
  settings.from = shown(options.from);
  settings.to = shown(options.to);
  settings.hold_source = options.refuse_writes;
  settings.lease = std::chrono::seconds(options.lease_seconds);
  settings.progress = [progress = std::make_shared<Progress>()](std::string_view step, std::uint64_t done) { (*progress)(step, done); };
  auto done = run_on(session.loop(), copy_store(**from, **to, std::move(settings)));
  if (!done.ok()) return fail(done.status());
  std::cout << (done->resumed ? "completed an interrupted copy: " : "copied ") << done->keys << " keys, " << done->bytes
            << " bytes, sha256 " << done->digest << "\nthe source was at revision " << done->source_revision
            << ", the target begins at revision " << done->target_revision << '\n';
  if (options.refuse_writes) {
    std::cout << "the source takes no writes any more; to go back to it: backplane store release " << shell_words(options.from) << '\n';
  }
  return 0;
}

int release(const CliOptions& options) {
  auto opener = StoreOpener::make(options.plugin_dirs);
  if (!opener.ok()) return fail(opener.status());
  Session session(**opener);
  auto store = session.open(options.store);
  if (!store.ok()) return fail(store.status());
  Status released = run_on(session.loop(), release_store(**store));
  if (!released.ok()) return fail(released);
  std::cout << "the servers of " << options.store.name << " may write again\n";
  return 0;
}

void add_etcd_options(CLI::App& command, StoreFlags& flags, const std::string& before, const std::string& section) {
  const auto add = [&](const char* name, std::string& value, const char* about) {
    command.add_option("--" + before + name, value, about)->group(section);
  };
  add("prefix", flags.prefix, "etcd: prefix of the keys, as --etcd-prefix; default /registry");
  add("cafile", flags.cafile, "etcd: CA certificates of the servers");
  add("certfile", flags.certfile, "etcd: client certificate");
  add("keyfile", flags.keyfile, "etcd: client key");
}

void add_copy_options(CLI::App& command, CliOptions& options) {
  const std::string source = "Source", target = "Target";
  command.add_option("--from", options.from.name, kStoreForms)->required()->group(source);
  add_etcd_options(command, options.from, "from-", source);
  command
      .add_flag(
          "--refuse-writes", options.refuse_writes,
          "Backplane servers on the source keep running and refuse writes during the copy, and after it until 'backplane store release'. "
          "It has no effect on kube-apiservers: stop them")
      ->group(source);
  command
      .add_option("--to", options.to.name, std::string(kStoreForms) + "; must be empty, or contain an unfinished copy of the same source")
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

void add_plugin_dirs(CLI::App& command, CliOptions& options) {
  command.add_option("--plugin-dir", options.plugin_dirs, "directory of the storage plugins; repeatable")
      ->expected(1)
      ->take_all()
      ->group("Plugins");
}

// False when the first word is no subcommand: CLI11 would only say that one is missing.
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
  add_plugin_dirs(*copy_command, options);
  auto* release_command = app.add_subcommand("release", "Lets the servers of a store accept writes again, after copy --refuse-writes");
  release_command->add_option("store", options.store.name, kStoreForms)->required()->group("Store");
  add_etcd_options(*release_command, options.store, "", "Store");
  add_plugin_dirs(*release_command, options);
  const CLI::App* const reencrypt_command = add_reencrypt_command(app, options.reencrypt);
  if (!names_a_subcommand(app, argc, argv)) return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : 2;
  }
  set_log_level("error");
  if (*reencrypt_command) return run_reencrypt(options.reencrypt);
  for (StoreFlags* flags : {&options.from, &options.to, &options.store}) flags->name = full_store_name(flags->name);
  return *copy_command ? copy(options) : release(options);
}

}  // namespace backplane
