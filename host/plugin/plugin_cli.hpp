// `backplane plugin list|inspect|check|graph [-o json]`: reads plugins without running their code. Other layers add subcommands.
//
// Thread-safety: one thread; writes to standard output and standard error.
// Errors:        the exit code: 0 in order, 1 something is wrong with a plugin or the plan, 2 the command line is wrong.
#pragma once

#include <iosfwd>
#include <optional>

namespace CLI {
class App;
}

namespace backplane {

// Subcommands of another layer.
class PluginCommands {
 public:
  virtual ~PluginCommands() = default;
  // `list`: the command of that name, for further options.
  virtual void add_to(CLI::App& app, CLI::App& list) = 0;
  // The exit code if one of these subcommands was given; otherwise nullopt.
  virtual std::optional<int> run(std::ostream& out, std::ostream& err) = 0;
};

// argv[0] is the word "plugin", argv[1] the subcommand.
int run_plugin_cli(int argc, char** argv, PluginCommands* more = nullptr);
int run_plugin_cli(int argc, char** argv, std::ostream& out, std::ostream& err, PluginCommands* more = nullptr);

}  // namespace backplane
