// The store of a running server as a StorageBackend, for commands that read, check or copy it. Each call is a request to the server's own
// port (store_handler.hpp), with the credentials of a kubeconfig.
//
// It implements what a copy does with its source: range(), current_revision(), and transactions that put or remove the hold
// (store_handler.hpp). It also implements StoreInspection.
// Thread-safety: any thread.
// Lifetime:      the loop and the tasks outlive it.
// Errors:        kBadRequest: another operation, or a kubeconfig that cannot be read.
//                kServiceUnavailable: the server does not answer.
//                Any: the error of the server's store.
#pragma once

#include <memory>
#include <string>

#include "backplane/points/storage.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane {

Result<std::unique_ptr<StorageBackend>> open_served_store(const std::string& kubeconfig_path, IoLoop& loop, TaskGroup& tasks);

}  // namespace backplane
