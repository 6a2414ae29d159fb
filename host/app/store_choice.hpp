// The options with which commands on a single store name it: STORE, --data-dir or --kubeconfig.
//
// Thread-safety: the main thread.
// Errors:        kBadRequest if more than one is given.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/store_opener.hpp"

namespace backplane {

inline constexpr const char* kStoreForms = "rocksdb:DATA_DIR, etcd:URL[,URL...] or server:KUBECONFIG";

struct StoreChoice {
  StoreFlags flags;
  std::string data_dir, kubeconfig;
  std::vector<std::string> plugin_dirs;
};

// `about`: the help text of the positional argument, which some commands use for something else than a store.
void add_store_choice(CLI::App& command, StoreChoice& choice, const std::string& about);
void add_etcd_options(CLI::App& command, StoreFlags& flags, const std::string& before, const std::string& section);
void add_plugin_dirs(CLI::App& command, std::vector<std::string>& directories);
// The store that the options name. If none of them is given: the embedded store of the default data directory.
Result<StoreFlags> chosen_store(const StoreChoice& choice);

}  // namespace backplane
