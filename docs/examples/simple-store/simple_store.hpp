// A storage backend: every version of every key in one map, under one lock. Nothing survives the process.
//
// Thread-safety, lifetime, errors: as StorageBackend.
#pragma once

#include <backplane/points/storage.hpp>

backplane::Result<std::unique_ptr<backplane::StorageBackend>> open_simple_store();
