#include "app/plugin_test_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "app/plugin_build.hpp"
#include "app/plugin_fuzz.hpp"
#include "app/plugin_sanitizer.hpp"
#include "backplane/core/json.hpp"
#include "base/log.hpp"
#include "base/plain_message.hpp"
#include "conformance/run.hpp"
#include "plugin/plugin_registry.hpp"
#include "testhost/child_server.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// A server under a sanitizer is some ten times slower.
constexpr std::chrono::minutes kSlowStart{5};
// How long a plugin under ThreadSanitizer gets requests on several connections.
constexpr std::chrono::seconds kConcurrent{5};

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The groups that the manifest provides.
std::vector<std::string> groups_of(const std::string& folder) {
  constexpr std::string_view kGroup = "group:";
  std::vector<std::string> out;
  boost::system::error_code error;
  const Value manifest = json::parse(text_of_file(fs::path(folder) / "plugin.json"), error);
  const Array* provided = !error && manifest.is_object() ? get_array(manifest.get_object(), "provides") : nullptr;
  for (const Value& each : provided == nullptr ? Array() : *provided) {
    const std::string_view name = each.is_string() ? std::string_view(each.get_string()) : std::string_view();
    if (name.starts_with(kGroup)) out.emplace_back(name.substr(kGroup.size()));
  }
  return out;
}

std::vector<std::string> samples_of(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".yaml") out.push_back(entries->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The name in the manifest; empty: it has none.
std::string plugin_name(const std::string& folder) {
  boost::system::error_code error;
  const Value manifest = json::parse(text_of_file(fs::path(folder) / "plugin.json"), error);
  return error || !manifest.is_object() ? std::string() : std::string(get_string(manifest.get_object(), "name"));
}

// The flag --require-plugin makes startup fail if the plugin does not run; the server's log then has the reason.
ChildServerOptions server_options(const FolderBuild& build, const std::vector<std::string>& flags, const PluginSanitizer& sanitizer) {
  ChildServerOptions options{own_program(), default_plugin_directory()};
  for (const auto& path : built_plugins(build)) options.plugins.push_back(path.string());
  if (const std::string name = plugin_name(build.folder); !name.empty()) options.flags = {"--require-plugin", name};
  options.flags.insert(options.flags.end(), flags.begin(), flags.end());
  options.environment = sanitizer.environment();
  if (!build.sanitizer.empty()) options.start_limit = kSlowStart;
  return options;
}

std::string tail(const std::string& log) {
  constexpr std::size_t kShown = 4000;
  return log.size() <= kShown ? log : log.substr(log.size() - kShown);
}

int failed(const Status& status, std::ostream& err) {
  err << "Error: " << plain_message(status) << "\n";
  return 1;
}

}  // namespace

void PluginTestCommand::add_to(CLI::App& app) {
  command_ = app.add_subcommand(
      "test", "Builds the plugin of a folder, serves it from memory and checks its API groups as Kubernetes' clients expect them");
  command_->add_option("folder", folder_, "folder with the CMakeLists.txt, the manifest plugin.json and samples *.yaml")
      ->capture_default_str();
  command_->add_option("--group", groups_, "API group to check; repeatable; default: those of the manifest");
  command_->add_option("--sample", samples_, "YAML file with a valid object of each kind; repeatable; default: *.yaml of the folder");
  command_->add_option("--kubeconfig", kubeconfig_,
                       "check this running server, with an administrator's credentials, instead of a throw-away one");
  command_->add_option("--server-flag", flags_, "further flag of the throw-away server; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command_->add_option(
      "--sanitizer", sanitizer_,
      "build the plugin with this sanitizer of gcc, into FOLDER/build-NAME, and fail if it reports anything: address, thread "
      "or undefined");
  command_->add_option("--fuzz", fuzz_,
                       "after the checks, send altered bodies to the plugin's kinds for this time: 60s, 500ms, 5m; at most 24 h");
  command_->add_option("--findings", findings_, "folder for the requests that --fuzz finds a fault with; default: FOLDER/fuzz-findings");
  command_->add_option("--replay", replays_, "instead of all checks, send the requests of a file of --findings; repeatable");
  command_->add_flag("--verbose", verbose_, "print checks that hold, too");
}

Status PluginTestCommand::check_flags() {
  if (!sanitizer_.empty() && sanitizer_ != "address" && sanitizer_ != "thread" && sanitizer_ != "undefined")
    return bad_request("--sanitizer: must be address, thread or undefined");
  if (!sanitizer_.empty() && !kubeconfig_.empty())
    return bad_request("--sanitizer: cannot be combined with --kubeconfig; the plugin is built and served by this command");
  if (!fuzz_.empty() && !fuzz_time(fuzz_)) return bad_request("--fuzz: must be a time such as 60s, 500ms or 5m, at most 24 hours");
  if (findings_.empty()) findings_ = folder_ + "/fuzz-findings";
  return {};
}

std::optional<int> PluginTestCommand::run(std::ostream& out, std::ostream& err) {
  if (!*command_) return std::nullopt;
  set_log_level("error");
  folder_ = fs::absolute(folder_).lexically_normal().string();
  if (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  if (groups_.empty()) groups_ = groups_of(folder_);
  if (samples_.empty()) samples_ = samples_of(folder_);
  if (groups_.empty())
    return failed(bad_request("no group: name one with --group, or list it as \"group:NAME\" in \"provides\" of plugin.json"), err);
  if (const Status status = check_flags(); !status.ok()) return failed(status, err);
  return kubeconfig_.empty() ? test_folder(out, err) : test_server(kubeconfig_, out, err);
}

int PluginTestCommand::test_folder(std::ostream& out, std::ostream& err) {
  const FolderBuild build{folder_, sanitizer_};
  if (const int code = configure_plugin(build, err); code != 0) return code;
  auto sanitizer = PluginSanitizer::make(build);
  if (!sanitizer.ok()) return failed(sanitizer.status(), err);
  if (const int code = build_plugin(build, err); code != 0) return code;
  auto server = ChildServer::start(server_options(build, flags_, *sanitizer));
  if (!server.ok()) {
    if (const std::string reports = sanitizer->reports(); !reports.empty()) out << reports;
    return failed(server.status(), err);
  }
  int code = test_server((*server)->kubeconfig(), out, err);
  if ((*server)->ended() || (*server)->stop() != 0) {
    err << "Error: the server has ended with the exit code " << (*server)->stop() << "; the end of its log:\n" << tail((*server)->log());
    code = 1;
  }
  if (const std::string reports = sanitizer->reports(); !reports.empty()) {
    out << reports << "FAILED  the sanitizer has reported errors\n";
    code = 1;
  }
  return code;
}

// Runs all requested checks on a running server.
int PluginTestCommand::test_server(const std::string& kubeconfig, std::ostream& out, std::ostream& err) {
  auto config = client_config_from_kubeconfig(text_of_file(kubeconfig));
  if (!config.ok()) return failed(config.status(), err);
  if (!replays_.empty()) return run_replay(*config, replays_, out, err);
  conformance::FuzzPlan plan{*config, groups_, {}};
  if (const Status read = read_sample_files(plan.samples); !read.ok()) return failed(read, err);
  int code = check(*config, plan.samples, out, err);
  if (!fuzz_.empty()) {
    plan.duration = *fuzz_time(fuzz_);
    code = std::max(code, run_fuzz(plan, findings_, out, err));
  } else if (sanitizer_ == "thread") {
    plan.duration = kConcurrent;
    plan.odd = false;
    code = std::max(code, run_fuzz(plan, findings_, out, err));
  }
  return code;
}

Status PluginTestCommand::read_sample_files(std::vector<Object>& samples) const {
  for (const auto& file : samples_) {
    auto read = conformance::read_samples(text_of_file(file));
    if (!read.ok()) return bad_request(file + ": " + read.status().message());
    samples.insert(samples.end(), read->begin(), read->end());
  }
  return {};
}

int PluginTestCommand::check(const ClientConfig& server, const std::vector<Object>& samples, std::ostream& out, std::ostream& err) {
  const auto begun = std::chrono::steady_clock::now();
  const auto report = conformance::run_checks({server, groups_, samples, verbose_}, out);
  if (!report.ok()) return failed(report.status(), err);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begun;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", time.count());
  out << report->checks() << " checks, " << report->failures() << " failed, in " << seconds << " s\n";
  return report->failures() == 0 ? 0 : 1;
}

}  // namespace backplane
