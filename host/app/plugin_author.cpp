#include "app/plugin_author.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "app/build_inputs.hpp"
#include "app/plugin_build.hpp"
#include "app/plugin_crd.hpp"
#include "app/plugin_import.hpp"
#include "app/plugin_objects.hpp"
#include "app/plugin_openapi.hpp"
#include "app/plugin_template.hpp"
#include "app/plugin_test_command.hpp"
#include "base/plain_message.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kQuiet{200};  // editors write several files

struct RunOptions {
  std::string folder = ".", data_dir;
  int port = 6443;
  std::vector<std::string> flags;
};

// Runs a server with the plugin, and rebuilds the plugin when its sources change.
class PluginRun {
 public:
  PluginRun(RunOptions options, std::ostream& out, std::ostream& err)
      : options_(std::move(options)), out_(out), err_(err), plugins_(fs::path(options_.data_dir) / "plugins") {}

  int run() {
    if (const int code = build_plugin({options_.folder}, err_); code != 0) return code;
    std::error_code error;
    fs::create_directories(plugins_, error);
    put_plugins({options_.folder}, plugins_.string());
    if (built_plugins({options_.folder}).empty()) {
      err_ << "Error: the build has made no plugin in " << options_.folder << "/build\n";
      return 1;
    }
    watch_signals();
    watch_sources();
    server_ = spawn(server_command());
    if (server_ < 0) return 1;
    follow();
    return code_;
  }

 private:
  Command server_command() const {
    Command command{own_program(),
                    "--data-dir",
                    options_.data_dir,
                    "--secure-port",
                    std::to_string(options_.port),
                    "--plugin-dir",
                    default_plugin_directory(),
                    "--plugin-dir",
                    plugins_.string(),
                    "--plugin-watch"};
    command.push_back("--runtime-config=" + std::string(kPluginsGroup) + "/" + std::string(kPluginsVersion) + "=true");
    command.insert(command.end(), options_.flags.begin(), options_.flags.end());
    return command;
  }

  void watch_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, each);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  }
  void watch_sources() {
    sources_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    ::inotify_add_watch(sources_, options_.folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
  }

  void follow() {
    bool changed = false;
    for (;;) {
      pollfd wait_for[] = {{signals_, POLLIN, 0}, {sources_, POLLIN, 0}};
      const int ready = ::poll(wait_for, 2, changed ? static_cast<int>(kQuiet.count()) : -1);
      if (ready < 0 && errno != EINTR) return;
      if (ready > 0 && wait_for[0].revents != 0 && !take_signal()) return;
      if (ready > 0 && wait_for[1].revents != 0) changed = take_events() || changed;
      if (ready == 0 && changed) {
        changed = false;
        rebuild();
      }
    }
  }
  // Returns false if the server has ended.
  bool take_signal() {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return true;
    if (info.ssi_signo != SIGCHLD) {
      ::kill(server_, SIGTERM);
      return true;
    }
    int status = 0;
    if (::waitpid(server_, &status, WNOHANG) != server_) return true;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return false;
  }
  // Whether a file that the build reads was written, deleted, or moved to its name. After a failed build, which has not recorded all of its
  // files, every file counts except hidden ones, which editors write.
  bool take_events() const {
    alignas(inotify_event) char buffer[16 * 1024];
    bool changed = false;
    for (ssize_t size = 0; (size = ::read(sources_, buffer, sizeof buffer)) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        if (changed || event->len == 0) continue;
        const bool hidden = event->name[0] == '.' || event->name[0] == '#';
        changed = failed_ ? !hidden : is_build_input(FolderBuild{options_.folder}.directory(), event->name);
      }
    }
    return changed;
  }
  // build_plugin() waits for cmake by process id, so that the exit status of the server remains to be read.
  void rebuild() {
    out_ << "the sources have changed, building" << std::endl;
    failed_ = build_plugin({options_.folder}, err_) != 0;
    if (failed_) {
      err_ << "the build has failed, the former one stays in service" << std::endl;
      return;
    }
    put_plugins({options_.folder}, plugins_.string());
  }

  const RunOptions options_;
  std::ostream& out_;
  std::ostream& err_;
  const fs::path plugins_;
  int signals_ = -1, sources_ = -1, code_ = 1;
  pid_t server_ = -1;
  bool failed_ = false;  // the last build has failed
};

class AuthorCommands final : public PluginCommands {
 public:
  void add_to(CLI::App& app, CLI::App&) override {
    new_ = app.add_subcommand("new", "Makes a folder with the sources of a plugin that serves one kind");
    new_->add_option("name", plugin_.name, "name of the folder and of the plugin: widgets")->required();
    new_->add_option("--group", plugin_.group, "API group: widgets.example.com; required without --crd and --openapi");
    new_->add_option("--kind", plugin_.kind, "kind: Widget; required without --crd");
    new_->add_option("--plural", plugin_.resource, "name of the resource; default: made from the kind");
    new_->add_option("--tier", plugin_.tier,
                     "native: C++ with the SDK and its Boost; stable: C or C++ with backplane/stable/*.h, any compiler, no Boost")
        ->capture_default_str();
    new_->add_option("--language", plugin_.language, "of the stable tier: c or c++; default: c");
    auto* crd = new_->add_option("--crd", crd_, "YAML file with a CustomResourceDefinition: the plugin serves its kind, without C++");
    new_->add_option("--openapi", openapi_, "OpenAPI v3 document of a group version: the plugin serves its type --kind, without C++")
        ->excludes(crd);
    build_ = app.add_subcommand("build", "Builds the plugin of a folder with cmake and this installation's SDK, into FOLDER/build");
    build_->add_option("folder", run_.folder, "folder with the CMakeLists.txt")->capture_default_str();
    serve_ =
        app.add_subcommand("run", "Builds the plugin of a folder and serves it; when a source changes, it is built and put in place again");
    serve_->add_option("folder", run_.folder, "folder with the CMakeLists.txt")->capture_default_str();
    serve_->add_option("--data-dir", run_.data_dir, "directory of the server's data and of admin.kubeconfig")->required();
    serve_->add_option("--secure-port", run_.port, "port of the server; 0: any")->capture_default_str();
    serve_->add_option("--server-flag", run_.flags, "further flag of the server: --server-flag=-v=2; repeatable")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    test_.add_to(app);
  }

  std::optional<int> run(std::ostream& out, std::ostream& err) override {
    if (*new_) return make(out, err);
    if (const auto code = test_.run(out, err)) return code;
    if (!*build_ && !*serve_) return std::nullopt;
    run_.folder = fs::absolute(run_.folder).lexically_normal().string();
    if (run_.folder.size() > 1 && run_.folder.ends_with('/')) run_.folder.pop_back();
    if (*build_) return build_plugin({run_.folder}, err);
    run_.data_dir = fs::absolute(run_.data_dir).lexically_normal().string();
    return PluginRun(run_, out, err).run();
  }

 private:
  // The files of the new plugin: from a description of its kind, or from the templates.
  Result<ImportedPlugin> plugin() const {
    if (!crd_.empty() || !openapi_.empty()) {
      if (plugin_.tier != "native" || !plugin_.language.empty())
        return bad_request("--tier, --language: cannot be combined with --crd and --openapi, which make a plugin without sources");
      const std::string& path = crd_.empty() ? openapi_ : crd_;
      std::ifstream file(path, std::ios::binary);
      std::ostringstream text;
      if (!(text << file.rdbuf())) return bad_request(path + " cannot be read");
      auto kind = crd_.empty() ? kind_of_openapi(text.str(), plugin_.kind, plugin_.resource) : kind_of_crd(text.str(), plugin_.kind);
      if (!kind.ok()) return bad_request(path + ": " + kind.status().message());
      return plugin_of(plugin_.name, std::move(*kind));
    }
    auto files = files_of(plugin_);
    if (!files.ok()) return std::move(files).status();
    return ImportedPlugin{std::move(*files), {}};
  }

  int make(std::ostream& out, std::ostream& err) const {
    const auto made = plugin();
    const Status written = made.ok() ? write_plugin(made->files, plugin_.name) : made.status();
    if (!written.ok()) {
      err << "Error: " << plain_message(written) << "\n";
      return 1;
    }
    for (const std::string& note : made->notes) out << note << "\n";
    out << "made " << plugin_.name << "; next:\n  cd " << plugin_.name << "\n  backplane plugin build\n"
        << "  backplane plugin test\n  backplane plugin run --data-dir data --secure-port 6443\n"
        << "  kubectl --kubeconfig data/admin.kubeconfig apply -f example.yaml\n";
    return 0;
  }

  CLI::App *new_ = nullptr, *build_ = nullptr, *serve_ = nullptr;
  NewPlugin plugin_;
  std::string crd_, openapi_;
  RunOptions run_;
  PluginTestCommand test_;
};

}  // namespace

std::unique_ptr<PluginCommands> make_author_commands() { return std::make_unique<AuthorCommands>(); }

}  // namespace backplane
