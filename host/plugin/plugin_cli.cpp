#include "plugin/plugin_cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "plugin/plugin_report.hpp"
#include "plugin/plugin_set.hpp"

namespace backplane {

namespace {

namespace fs = std::filesystem;

struct CliOptions {
  std::vector<std::string> directories, disabled, required;
  std::vector<std::string> files;  // of check; of inspect: files or names
  std::string output = "text";
  bool json() const { return output == "json"; }
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

// The plan a start with these flags would make.  Files given by name stand in for what the directories hold under the same name.
Plan make_plan(const CliOptions& options, const std::vector<std::string>& files) {
  Findings general;
  std::vector<InspectedPlugin> plugins;
  for (const auto& file : files) plugins.push_back(inspect_plugin(file));
  const auto given = plugins.size();
  for (auto& plugin : inspect_directories(options.directories, general)) {
    const bool shadowed =
        std::any_of(plugins.begin(), plugins.begin() + static_cast<std::ptrdiff_t>(given), [&](const InspectedPlugin& other) {
          const bool same_name = plugin.descriptor && other.descriptor && plugin.descriptor->name == other.descriptor->name;
          return same_name || same_file(plugin.path, other.path);
        });
    if (!shadowed) plugins.push_back(std::move(plugin));
  }
  auto plan = plan_plugins(std::move(plugins), {options.disabled, options.required, host_capabilities()});
  plan.general.insert(plan.general.begin(), general.begin(), general.end());
  return plan;
}

int list(const CliOptions& options, std::ostream& out) {
  const auto plan = make_plan(options, {});
  out << (options.json() ? list_as_json(plan) : list_as_text(plan));
  return 0;
}

// A file, or the name of a plugin in the directories.
std::optional<InspectedPlugin> find_plugin(const CliOptions& options, const std::string& what) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(what, error))) return inspect_plugin(what);
  Findings ignored;
  for (auto& plugin : inspect_directories(options.directories, ignored)) {
    if (plugin.display_name() == what || fs::path(plugin.path).stem() == what) return std::move(plugin);
  }
  return std::nullopt;
}

int inspect(const CliOptions& options, std::ostream& out, std::ostream& err) {
  int code = 0;
  for (const auto& what : options.files) {
    const auto plugin = find_plugin(options, what);
    if (!plugin) {
      err << "no file and no plugin is called " << what << "\n";
      code = 1;
      continue;
    }
    out << (options.json() ? inspection_as_json(*plugin) : inspection_as_text(*plugin));
    if (!plugin->descriptor) code = 1;
  }
  return code;
}

int check(const CliOptions& options, std::ostream& out) {
  const auto plan = make_plan(options, options.files);
  const auto shown = options.files.empty() ? plan.plugins.size() : options.files.size();
  const auto result = check_plan(plan, shown);
  out << (options.json() ? result.json : result.text);
  return result.clean ? 0 : 1;
}

int graph(const CliOptions& options, std::ostream& out) {
  const auto plan = make_plan(options, {});
  out << (options.json() ? graph_as_json(plan) : graph_as_text(plan));
  return 0;
}

void add_common(CLI::App& command, CliOptions& options) {
  command.add_option("--plugin-dir", options.directories, "directory to look for plugins in; repeatable")
      ->expected(1)
      ->take_all()
      ->capture_default_str();
  command.add_option("--disable-plugin", options.disabled, "name of a plugin to leave out; repeatable or comma separated")
      ->expected(1)
      ->take_all()
      ->delimiter(',');
  command.add_option("--require-plugin", options.required, "name of a plugin that must run; repeatable or comma separated")
      ->expected(1)
      ->take_all()
      ->delimiter(',');
  command.add_option("-o,--output", options.output, "text or json")->check(CLI::IsMember({"text", "json"}));
}

}  // namespace

int run_plugin_cli(int argc, char** argv) { return run_plugin_cli(argc, argv, std::cout, std::cerr); }

int run_plugin_cli(int argc, char** argv, std::ostream& out, std::ostream& err) {
  CliOptions options;
  CLI::App app("Looks at plugins without running any of their code.", "backplane plugin");
  app.require_subcommand(1);
  auto* list_command = app.add_subcommand("list", "Shows every plugin file: name, version, state, file, and the code of its first problem");
  auto* inspect_command = app.add_subcommand("inspect", "Shows the descriptor of files or of plugins by name");
  auto* check_command =
      app.add_subcommand("check", "Shows everything that is wrong, with what was wanted, what was found and how to mend it");
  auto* graph_command = app.add_subcommand("graph", "Shows the delegation chain front to back, and who requires whom");
  for (auto* command : {list_command, inspect_command, check_command, graph_command}) add_common(*command, options);
  inspect_command->add_option("plugin", options.files, "file or name")->required();
  check_command->add_option("file", options.files, "file; without one, everything in the plugin directories");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  }
  if (options.directories.empty()) options.directories = {default_plugin_directory()};
  if (*list_command) return list(options, out);
  if (*inspect_command) return inspect(options, out, err);
  if (*check_command) return check(options, out);
  return graph(options, out);
}

}  // namespace backplane
