// `backplane store copy|release|reencrypt|snapshot|restore|check|stat`: work on stores without a server, and on the store of a running one.
//
// Thread-safety: the main thread; writes to standard output and standard error.
// Errors:        the exit code: 0 done, 1 it could not be done, 2 the command line is wrong.
#pragma once

namespace backplane {

// argv[0] is the word "store", argv[1] the subcommand.
int run_store_cli(int argc, char** argv);

}  // namespace backplane
