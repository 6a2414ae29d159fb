#include "app/store_opener.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>

#include "app/served_store.hpp"
#include "base/signal.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRocksdb = "rocksdb";
constexpr std::string_view kEtcd = "etcd3";
constexpr std::string_view kServer = "server";
constexpr std::string_view kForms = "rocksdb:DATA_DIR or etcd:URL[,URL...]";

bool has_a_store(const InspectedPlugin& plugin) {
  const auto& provides = plugin.descriptor->provides;
  return std::any_of(provides.begin(), provides.end(), [](const Capability& each) { return each.name.starts_with("storage/"); });
}

// The names of the plugins that have no store. They are not loaded, because loading a plugin may run its code.
std::vector<std::string> others(const std::vector<std::string>& directories) {
  Findings findings;
  std::vector<std::string> names;
  for (const auto& plugin : inspect_directories(directories, findings)) {
    if (plugin.descriptor && !has_a_store(plugin)) names.push_back(plugin.descriptor->name);
  }
  return names;
}

// Replaces the names of server flags in errors of backends by the options of this command.
Status with_flag_names(const StoreFlags& flags, const Status& status) {
  const std::string before = flags.option.empty() ? "--" : flags.option + "-";
  const std::pair<std::string_view, std::string> names[] = {{"--etcd-servers", flags.option.empty() ? "STORE" : flags.option},
                                                            {"--etcd-prefix", before + "prefix"},
                                                            {"--etcd-cafile", before + "cafile"},
                                                            {"--etcd-certfile", before + "certfile"},
                                                            {"--etcd-keyfile", before + "keyfile"}};
  std::string text = status.message();
  for (const auto& [flag, option] : names) {
    for (auto at = text.find(flag); at != std::string::npos; at = text.find(flag, at + option.size()))
      text.replace(at, flag.size(), option);
  }
  return Status(status.reason(), text);
}

std::string shell_quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-+:=,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (std::all_of(word.begin(), word.end(), plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string shell_arguments(const StoreFlags& flags) {
  const std::pair<std::string_view, const std::string&> all[] = {
      {"prefix", flags.prefix}, {"cafile", flags.cafile}, {"certfile", flags.certfile}, {"keyfile", flags.keyfile}};
  std::string out = shell_quoted(flags.name);
  for (const auto& [option, value] : all) {
    if (!value.empty()) out += " --" + std::string(option) + " " + shell_quoted(value);
  }
  return out;
}

std::string full_store_name(const std::string& given) {
  const auto begins = [&given](std::string_view with) { return given.starts_with(with); };
  if (begins("/") || begins("./") || begins("../") || given == ".") return std::string(kRocksdb) + ":" + absolute_path(given);
  if (begins("http://") || begins("https://") || begins("unix:")) return "etcd:" + given;
  if (begins("etcd://")) return "etcd:" + given.substr(std::string_view("etcd://").size());
  for (const std::string& scheme : {std::string(kRocksdb) + ":", std::string(kServer) + ":"}) {
    if (begins(scheme) && given.size() > scheme.size()) return scheme + absolute_path(given.substr(scheme.size()));
  }
  if (!given.empty() && given.find(':') == std::string::npos) return std::string(kRocksdb) + ":" + absolute_path(given);
  return given;
}

struct StoreOpener::State : PluginSettings {
  std::optional<std::string> flag(std::string_view name) const override {
    const auto found = flags.find(name);
    return found == flags.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  bool resource_enabled(const GroupVersionResource&) const override { return false; }

  StoreEnvironment stores;
  IoLoop loop{"stores"};
  LoggedTaskGroup tasks;
  std::map<std::string, std::string, std::less<>> flags;  // for the store that is being opened
  ServedApi api;
  ServerAccess access;
  HostServices services{stores, *this, api, access};
  std::unique_ptr<PluginRegistry> plugins;
};

StoreOpener::StoreOpener(std::unique_ptr<State> state) : state_(std::move(state)) {}

StoreOpener::~StoreOpener() {
  PluginRegistry& plugins = *state_->plugins;
  plugins.stop_tasks();
  state_->tasks.close();
  run_on(state_->loop, plugins.wait_tasks());
  run_on(state_->loop, state_->tasks.wait_all());
  (void)plugins.stop_loops(std::chrono::seconds(2));
  state_->loop.stop();
  state_->stores.stop();
}

Result<std::unique_ptr<StoreOpener>> StoreOpener::make(std::vector<std::string> directories) {
  if (directories.empty()) directories.push_back(default_plugin_directory());
  auto state = std::make_unique<State>();
  PluginOptions wanted;
  wanted.disabled = others(directories);
  wanted.directories = std::move(directories);
  auto opened = PluginRegistry::open(std::move(wanted));
  if (!opened.ok()) return std::move(opened.status());
  Status started = (*opened)->start(state->services);
  if (!started.ok()) return started;
  state->plugins = std::move(*opened);
  state->loop.start();
  state->plugins->start_loops();
  return std::unique_ptr<StoreOpener>(new StoreOpener(std::move(state)));
}

Result<OpenStoreHandle> StoreOpener::open(const StoreFlags& flags) {
  const auto colon = flags.name.find(':');
  const std::string scheme = flags.name.substr(0, colon);
  const std::string rest = colon == std::string::npos ? std::string() : flags.name.substr(colon + 1);
  if ((scheme != kRocksdb && scheme != "etcd" && scheme != kServer) || rest.empty()) {
    return bad_request(backplane::quoted(flags.name) + " names no store: " + std::string(kForms));
  }
  const bool embedded = scheme == kRocksdb;
  if (scheme != "etcd" && !(flags.prefix + flags.cafile + flags.certfile + flags.keyfile).empty()) {
    return bad_request(backplane::quoted(flags.name) + " is no etcd: it has no prefix and no certificates");
  }
  if (scheme == kServer && !flags.served) return bad_request("the store of a running server is only read");
  if (scheme == kServer) return open_served(rest);
  if (embedded) return open_embedded(rest, flags);
  state_->flags = {
      {"etcd-servers", rest}, {"etcd-cafile", flags.cafile}, {"etcd-certfile", flags.certfile}, {"etcd-keyfile", flags.keyfile}};
  if (!flags.prefix.empty()) state_->flags.emplace("etcd-prefix", flags.prefix);
  auto storage = open_backend(std::string(kEtcd), "");
  if (!storage.ok()) return with_flag_names(flags, storage.status());
  OpenStoreHandle handle;
  handle.storage = std::move(*storage);
  return handle;
}

Result<OpenStoreHandle> StoreOpener::open_embedded(const std::string& data_dir, const StoreFlags& flags) {
  const std::string directory = data_dir + "/" + std::string(kRocksdb);
  std::error_code error;
  if (!flags.fresh && !fs::exists(directory + "/CURRENT", error)) return bad_request("there is no store in " + backplane::quoted(data_dir));
  if (Status status = make_private_directory(data_dir); !status.ok()) return status;
  FileOwner owner = FileOwner::of(data_dir);
  auto lock = DataDirLock::take(data_dir);
  if (!lock.ok() && lock.status().reason() != Reason::kConflict) return std::move(lock.status());
  if (!lock.ok() && !flags.served) {
    return Status(Reason::kConflict, backplane::quoted(data_dir) + " is in use by a running server: stop it first");
  }
  if (!lock.ok()) return open_served(data_dir + "/admin.kubeconfig");
  if (Status status = make_private_directory(directory); !status.ok()) return status;
  auto storage = open_backend(std::string(kRocksdb), directory);
  if (!storage.ok()) return std::move(storage.status());
  OpenStoreHandle handle;
  handle.owner = std::move(owner);
  handle.lock = std::move(*lock);
  handle.storage = std::move(*storage);
  return handle;
}

Result<OpenStoreHandle> StoreOpener::open_new(const std::string& directory) {
  if (Status status = make_private_directory(directory); !status.ok()) return status;
  auto storage = open_backend(std::string(kRocksdb), directory);
  if (!storage.ok()) return std::move(storage.status());
  OpenStoreHandle handle;
  handle.storage = std::move(*storage);
  return handle;
}

Result<OpenStoreHandle> StoreOpener::open_served(const std::string& kubeconfig) {
  auto storage = open_served_store(kubeconfig, state_->loop, state_->tasks);
  if (!storage.ok()) return std::move(storage.status());
  OpenStoreHandle handle;
  handle.storage = std::move(*storage);
  return handle;
}

Result<std::unique_ptr<StorageBackend>> StoreOpener::open_backend(const std::string& backend, const std::string& directory) {
  const auto rows = state_->plugins->rows();
  const auto factory = rows->storage_backends.find(backend);
  if (factory == rows->storage_backends.end()) return bad_request("no plugin offers the store " + backplane::quoted(backend));
  StorageBackendConfig config;
  config.data_dir = directory;
  config.connections.make_client = [state = state_.get()](ClientConfig client) {
    return make_remote_client(state->loop, state->tasks, std::move(client));
  };
  config.connections.executor = &state_->loop;
  return factory->second(config);
}

}  // namespace backplane
