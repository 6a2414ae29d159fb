#include "plugin/plugin_cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "plugin/carried_documents.hpp"
#include "plugin/graph_svg.hpp"
#include "plugin/plugin_registry.hpp"
#include "plugin/plugin_report.hpp"
#include "plugin/probe.hpp"
#include "plugin/runner_main.hpp"
#include "plugin/symbol_check.hpp"

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

// The plan of a startup with these flags.  Named files replace the directories' plugins of the same name.
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

// Writes a plan to `out`, and findings about no particular plugin to `err`.
int show(const Plan& plan, const std::string& text, std::ostream& out, std::ostream& err) {
  out << text;
  err << findings_as_text(unowned_findings(plan));
  return plan.fatal.empty() ? 0 : 1;
}

int list(const CliOptions& options, std::ostream& out, std::ostream& err) {
  const auto plan = make_plan(options, {});
  return show(plan, options.json() ? list_as_json(plan) : list_as_text(plan), out, err);
}

// `what`: a file, or the name of a plugin in the directories.
std::optional<InspectedPlugin> find_plugin(const CliOptions& options, const std::string& what, Findings& findings) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(what, error))) return inspect_plugin(what);
  for (auto& plugin : inspect_directories(options.directories, findings)) {
    if (plugin.display_name() == what || fs::path(plugin.path).stem() == what) return std::move(plugin);
  }
  return std::nullopt;
}

int inspect(const CliOptions& options, std::ostream& out, std::ostream& err) {
  int code = 0;
  std::vector<InspectedPlugin> plugins;
  for (const auto& what : options.files) {
    Findings findings;
    auto plugin = find_plugin(options, what, findings);
    if (!plugin) err << "no file and no plugin is called " << what << "\n" << findings_as_text(findings);
    if (!plugin || !plugin->descriptor) code = 1;
    if (plugin) plugins.push_back(std::move(*plugin));
  }
  if (!options.json()) {
    for (const auto& plugin : plugins) out << inspection_as_text(plugin);
  } else if (options.files.size() > 1) {
    out << inspections_as_json(plugins);
  } else if (!plugins.empty()) {
    out << inspection_as_json(plugins.front());
  }
  return code;
}

void check_file(InspectedPlugin& plugin) {
  check_carried_documents(plugin.path, plugin.findings);
  if (plugin.descriptor) check_symbols(plugin.path, plugin.findings);
}

int check(const CliOptions& options, std::ostream& out) {
  auto plan = make_plan(options, options.files);
  const auto shown = options.files.empty() ? plan.plugins.size() : options.files.size();
  for (std::size_t i = 0; i < std::min(shown, plan.plugins.size()); ++i) check_file(plan.plugins[i].inspected);
  const auto result = check_plan(plan, shown);
  out << (options.json() ? result.json : result.text);
  return result.clean ? 0 : 1;
}

int graph(const CliOptions& options, std::ostream& out, std::ostream& err) {
  const auto plan = make_plan(options, {});
  if (options.output == "svg") return show(plan, graph_as_svg(plan), out, err);
  return show(plan, options.json() ? graph_as_json(plan) : graph_as_text(plan), out, err);
}

void add_common(CLI::App& command, CliOptions& options, bool draws) {
  command.add_option("--plugin-dir", options.directories, "directory of plugins; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--disable-plugin", options.disabled, "plugin not to load, by name; repeatable or comma separated")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--require-plugin", options.required, "plugin that must run, by name; repeatable or comma separated")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',');
  std::vector<std::string> forms{"text", "json"};
  if (draws) forms.emplace_back("svg");
  command.add_option("-o,--output", options.output, draws ? "text, json or svg (a picture)" : "text or json")->check(CLI::IsMember(forms));
}

// False when the first word is no subcommand: CLI11's message would not name it.
bool names_a_subcommand(const CLI::App& app, int argc, char** argv, std::ostream& err) {
  const std::string word = argc > 1 ? argv[1] : "";
  std::string known;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (word == command->get_name()) return true;
    if (command->get_group().empty()) continue;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (word.starts_with('-')) return true;
  err << (word.empty() ? "missing subcommand" : "unknown subcommand \"" + word + "\"") << "; available: " << known
      << "\nRun 'backplane plugin --help' for usage.\n";
  return false;
}

}  // namespace

int run_plugin_cli(int argc, char** argv, PluginCommands* more) { return run_plugin_cli(argc, argv, std::cout, std::cerr, more); }

int run_plugin_cli(int argc, char** argv, std::ostream& out, std::ostream& err, PluginCommands* more) {
  CliOptions options;
  CLI::App app(
      more == nullptr ? "Inspects plugins without running their code." : "Inspects plugins, and changes those of a running server.",
      "backplane plugin");
  app.require_subcommand(1);
  auto* list_command = app.add_subcommand("list", "Lists every plugin file: name, version, state, file, and the code of its first problem");
  auto* inspect_command = app.add_subcommand("inspect", "Prints the manifest of plugin files, or of plugins by name");
  auto* check_command = app.add_subcommand("check", "Prints every finding: the expected and the actual value, and the remedy");
  auto* graph_command = app.add_subcommand("graph", "Prints the order of the delegation chain, and which plugin requires which");
  for (auto* command : {list_command, inspect_command, check_command, graph_command})
    add_common(*command, options, command == graph_command);
  inspect_command->add_option("plugin", options.files, "file or name")->required();
  check_command->add_option("file", options.files, "plugin files; default: all files of the plugin directories");
  auto* probe_command = app.add_subcommand("probe", "Loads a plugin file into this process; the server's child does")->group("");
  probe_command->add_option("file", options.files)->required()->expected(1);
  auto* runner_command = app.add_subcommand("runner", "Runs a plugin for a server, which starts it")->group("");
  runner_command->add_option("words", options.files)->required()->expected(4);
  if (more != nullptr) more->add_to(app, *list_command);
  if (!names_a_subcommand(app, argc, argv, err)) return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : 2;
  }
  if (*runner_command) run_runner(options.files);
  if (*probe_command) return run_probe(options.files.front());
  if (more != nullptr) {
    if (const auto code = more->run(out, err)) return *code;
  }
  // The default directory may be missing; a missing --plugin-dir is an error.
  std::error_code error;
  if (options.directories.empty() && fs::exists(default_plugin_directory(), error)) options.directories = {default_plugin_directory()};
  if (*list_command) return list(options, out, err);
  if (*inspect_command) return inspect(options, out, err);
  if (*check_command) return check(options, out);
  return graph(options, out, err);
}

}  // namespace backplane
