#include "app/store_choice.hpp"

namespace backplane {

void add_store_choice(CLI::App& command, StoreChoice& choice, const std::string& about) {
  const std::string section = "Store";
  command.add_option("store", choice.flags.name, about)->group(section);
  command.add_option("--data-dir", choice.data_dir, "the embedded store of this data directory; of a running server through that server")
      ->group(section);
  command.add_option("--kubeconfig", choice.kubeconfig, "the store of this running server, with the credentials of an administrator")
      ->group(section);
  add_etcd_options(command, choice.flags, "", section);
  add_plugin_dirs(command, choice.plugin_dirs);
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

void add_plugin_dirs(CLI::App& command, std::vector<std::string>& directories) {
  command.add_option("--plugin-dir", directories, "directory of the storage plugins; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->group("Plugins");
}

Result<StoreFlags> chosen_store(const StoreChoice& choice) {
  const int given = static_cast<int>(!choice.flags.name.empty()) + static_cast<int>(!choice.data_dir.empty()) +
                    static_cast<int>(!choice.kubeconfig.empty());
  if (given > 1) return bad_request("STORE, --data-dir and --kubeconfig exclude each other");
  StoreFlags flags = choice.flags;
  flags.served = true;
  if (!choice.data_dir.empty()) flags.name = "rocksdb:" + choice.data_dir;
  if (!choice.kubeconfig.empty()) flags.name = "server:" + choice.kubeconfig;
  if (given == 0) {
    auto data_dir = default_data_dir();
    if (!data_dir.ok()) return std::move(data_dir.status());
    flags.name = "rocksdb:" + *data_dir;
  }
  flags.name = full_store_name(flags.name);
  return flags;
}

}  // namespace backplane
