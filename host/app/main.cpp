// backplane: reads the command line and walks Options → CompletedOptions → Config → Server → PreparedServer → exit code.
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <thread>

#include "app/doctor.hpp"
#include "app/emulation.hpp"
#include "app/etcd_stand_in.hpp"
#include "app/extension/runner.hpp"
#include "app/log.hpp"
#include "app/options.hpp"
#include "app/plugin_commands.hpp"
#include "app/server.hpp"
#include "app/service_manager.hpp"
#include "app/startup_log.hpp"
#include "app/stop_deadline.hpp"
#include "app/store_cli.hpp"
#include "app/throwaway.hpp"
#include "base/cpu_limit.hpp"
#include "base/plain_message.hpp"
#include "plugin/plugin_cli.hpp"
#include "plugin/plugin_code.hpp"
#include "routing/version.hpp"
#include "transport/tls_memory.hpp"

namespace {

using namespace backplane;

constexpr std::string_view kAbout =
    "Backplane is a Kubernetes API server built as a plugin host: it loads plugins, orders them by their\n"
    "dependencies, and serves their APIs over HTTPS to any Kubernetes client.\n\n"
    "Usage:\n"
    "  backplane [flags]\n"
    "  backplane plugin list|inspect|check|graph [-o json]\n"
    "  backplane plugin list|reload|upgrade|rollback|disable|enable --kubeconfig FILE\n"
    "  backplane plugin new|build|run|test\n"
    "  backplane store snapshot|restore|check|stat|copy|release|reencrypt\n"
    "  backplane doctor [flags]\n"
    "  backplane help gates\n\n"
    "Flags marked [no effect] are only checked.\n";

// Time that a plugin has to return from a call after SIGTERM.
constexpr std::chrono::seconds kLoadStop{10};

// Limits the number of arenas of malloc, so that a thread can reuse the memory that another thread has freed. The limit still lets loops,
// pump and blocking pool have separate arenas in most cases: two threads that fill the same arena (a load of the caches) spend more time on
// its lock than on their work.
void tune_memory() {
  const auto cores = static_cast<int>(usable_cores());
  mallopt(M_ARENA_MAX, std::min(2 * cores + 4, 16));
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  keep_tls_buffers();
}

// Raises the soft limit of open files to the hard limit, as the Go runtime does. The soft limit exists for programs that use select().
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 0;  // not a terminal: not wrapped
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int fail(std::string_view message) {
  message = plain_message(message);
  flush_logs();
  std::fprintf(stderr, "Error: %.*s\n", static_cast<int>(message.size()), message.data());
  return 1;
}

int print_version(std::string_view form) {
  if (form != "raw") {
    print("Kubernetes " + std::string(kKubernetesVersion) + "\n");
    print("Backplane v" + std::string(build_info().version) + " (commit " + std::string(build_info().commit) + ")\n");
    return 0;
  }
  std::string fields;
  for (const auto& [name, value] : ReportedVersion().fields()) {
    fields += (fields.empty() ? "" : ", ") + std::string(name) + ":" + backplane::quoted(value);
  }
  print("version.Info{" + fields + "}\n");
  return 0;
}

Result<PreparedServer> prepare(Config config, StopEvent& stop) {
  const LoadDeadline deadline(stop, kLoadStop);
  auto server = Server::create(std::move(config), stop);
  if (!server.ok()) return std::move(server.status());
  return Server::prepare_run(std::move(*server));
}

int serve(std::unique_ptr<Options> options) {
  ::umask(S_IRWXG | S_IRWXO);  // also files that libraries make, such as the store's, are readable by their owner only
  Problems log_problems;
  const auto emulation = read_emulation(options->flags);
  if (!emulation.ok()) return fail(emulation.status().message());
  FeatureGates gates(emulation->version);
  gates.set(options->generic.feature_gates);  // CompletedOptions::validate() reports the errors
  options->logs.validate(gates, log_problems);
  if (!log_problems.empty()) return fail(log_problems[0]);
  options->logs.apply();
  std::optional<Throwaway> throwaway;  // outlives the server, whose store is in its directory
  if (options->backplane.throwaway) {
    auto made = Throwaway::make(*options);
    if (!made.ok()) return fail(made.status().message());
    throwaway.emplace(std::move(*made));
  }
  options->backplane.program = "/proc/self/exe";
  log_startup(*options);

  auto completed = Options::complete(std::move(options));
  if (!completed.ok()) return fail(completed.status().message());
  auto config = CompletedOptions::config(std::move(*completed));
  if (!config.ok()) return fail(config.status().message());
  StopEvent stop;
  stop.install_signal_handlers();
  std::optional<ParentWatch> parent;
  if (throwaway) parent.emplace(stop);
  report_crashes();
  auto prepared = prepare(std::move(*config), stop);
  if (!prepared.ok()) return fail(prepared.status().message());
  const auto code = PreparedServer::run(std::move(*prepared));
  if (!code.ok()) return fail("unable to start serving: " + code.status().message());
  flush_logs();
  return *code;
}

int run_runner(std::vector<std::string> args) {
  RunnerCommand command;
  if (Status status = command.parse(std::move(args)); !status.ok()) {
    return fail(status.message() + "\nRun 'backplane-runner --help' for usage.");
  }
  if (command.wants_help()) {
    print(command.help(terminal_width()));
    return 0;
  }
  if (command.version() != "false") return print_version(command.version());
  auto options = command.options();
  if (!options.ok()) return fail(options.status().message());
  return serve(std::move(*options));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0 && is_etcd_stand_in(argv[0])) return run_etcd_stand_in(argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "help" && std::string_view(argv[2]) == "gates") {
    print(FeatureGates::help());
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "plugin") {
    const auto more = make_plugin_commands();
    return run_plugin_cli(argc - 1, argv + 1, more.get());
  }
  if (argc > 1 && std::string_view(argv[1]) == "doctor") return run_doctor(argc - 1, argv + 1);
  if (argc > 1 && std::string_view(argv[1]) == "store") return run_store_cli(argc - 1, argv + 1);
  (void)service_manager();  // before there are other threads
  tune_memory();
  raise_file_limit();
  if (is_runner(argv[0])) return run_runner({argv + 1, argv + argc});
  auto options = std::make_unique<Options>();
  if (Status status = options->flags.parse({argv + 1, argv + argc}); !status.ok()) {
    return fail(status.message() + "\nRun 'backplane --help' for usage.");
  }
  if (options->help) {
    print(std::string(kAbout) + options->flags.help(terminal_width()));
    return 0;
  }
  if (options->version.starts_with("v")) {
    if (auto version = ReportedVersion::make(options->version); !version.ok()) return fail(version.status().message());
  } else if (options->version != "false") {
    return print_version(options->version);
  }
  return serve(std::move(options));
}
