// Opens a store through the plugin that implements its backend, without other parts of a server. If a running server uses the store, the
// store is opened through that server.
//
// Thread-safety: one thread.
// Lifetime:      stores are stopped and destroyed before the opener, because their code belongs to the opener's plugins.
// Errors:        kBadRequest for an invalid store name, flags that do not fit it and directories without a store; kConflict for a directory
//                that a server uses; the backend's errors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/file_owner.hpp"
#include "app/paths.hpp"
#include "backplane/points/storage.hpp"
#include "base/io_loop.hpp"

namespace backplane {

// A store, as the command line names it.
struct StoreFlags {
  std::string name;  // as full_store_name() returns it: "rocksdb:DATA_DIR", "etcd:URL[,URL…]", "server:KUBECONFIG"
  std::string prefix, cafile, certfile, keyfile;
  bool fresh = false;   // an embedded store may be created
  bool served = false;  // an embedded store that a running server uses may be read through that server
  std::string option;   // "--to": its value is `name`, and the other options begin with "--to-"; empty: these have no prefix
};

// The store's name and connection flags as arguments of a shell command that names no other store.
std::string shell_arguments(const StoreFlags& flags);

// The full store name for a command line value: a path alone is a data directory, URLs alone are etcd's servers; paths are made absolute.
std::string full_store_name(const std::string& given);

struct OpenStoreHandle {
  FileOwner owner;   // of an embedded store's directory
  DataDirLock lock;  // of an embedded store
  std::unique_ptr<StorageBackend> storage;
};

class StoreOpener {
 public:
  // `directories`: of plugins; empty: default_plugin_directory().
  static Result<std::unique_ptr<StoreOpener>> make(std::vector<std::string> directories);
  ~StoreOpener();
  StoreOpener(const StoreOpener&) = delete;
  StoreOpener& operator=(const StoreOpener&) = delete;

  Result<OpenStoreHandle> open(const StoreFlags& flags);
  // Creates `directory` with an embedded store. The caller holds the lock of the data directory.
  Result<OpenStoreHandle> open_new(const std::string& directory);

 private:
  struct State;
  explicit StoreOpener(std::unique_ptr<State> state);
  Result<OpenStoreHandle> open_embedded(const std::string& data_dir, const StoreFlags& flags);
  Result<OpenStoreHandle> open_served(const std::string& kubeconfig);
  Result<std::unique_ptr<StorageBackend>> open_backend(const std::string& backend, const std::string& directory);
  std::unique_ptr<State> state_;
};

}  // namespace backplane
