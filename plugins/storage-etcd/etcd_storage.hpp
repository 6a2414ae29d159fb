// An etcd cluster as the store: kube-apiserver's keys and stored form, so that either can be put on what the other wrote.
//
// Thread-safety: as StorageBackend.
// Lifetime:      stop() before destruction.
// Errors:        kServiceUnavailable while no server answers: nothing of this ends the process, and it recovers by itself.
#pragma once

#include <memory>

#include "backplane/core/logger.hpp"
#include "backplane/points/storage.hpp"
#include "settings.hpp"

namespace backplane {

// `root`: what every key begins with, as etcd has it.  `logger` may be null.
std::unique_ptr<StorageBackend> open_etcd_storage(etcd::Settings settings, Logger* logger = nullptr);

}  // namespace backplane
