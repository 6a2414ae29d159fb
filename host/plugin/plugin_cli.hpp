// `backplane plugin list|inspect|check|graph [-o json]`: looks at plugins without running any of their code.
//
// Thread-safety: one thread; writes to standard output and standard error.
// Errors:        the exit code: 0 in order, 1 something is wrong with a plugin or the plan, 2 the command line is wrong.
#pragma once

#include <iosfwd>

namespace backplane {

// argv[0] is the word "plugin", argv[1] the subcommand.
int run_plugin_cli(int argc, char** argv);
int run_plugin_cli(int argc, char** argv, std::ostream& out, std::ostream& err);

}  // namespace backplane
