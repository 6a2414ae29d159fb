// Reads of cached objects by admission plugins: wait until a cache is complete, decode an object, read past the cache.
//
// Thread-safety: any thread.
// Lifetime:      arguments that are references must outlive the task.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

// Waits until the cache of `lister` is complete, at most ten seconds. A plugin calls it only for writes that it decides about, so that
// writes of the server's startup never wait for it.
// Errors: 403 `not yet ready to handle request`.
Task<Status> wait_synced(const Lister& lister, const AdmissionAttributes& attributes);

// The object as a tree in the memory of the request.
Object decoded(const ObjectEntry& entry, const AdmissionAttributes& attributes);

// Reads one object from the server's store, past the plugin's cache. `ns` is empty for cluster-scoped resources.
// Errors: kNotFound, also if no plugin serves the resource; those of the store.
Task<Result<ObjectRef>> read_live(Host& host, GroupVersionResource resource, std::string ns, std::string name);
// Lists the objects of a namespace in the server's store. Errors: as for read_live().
Task<Result<std::vector<ObjectRef>>> list_live(Host& host, GroupVersionResource resource, std::string ns);

}  // namespace backplane::admission::objects
