// The storages of one version of a custom resource. They wrap the host's storages, count writes, and refuse creates while the definition is
// being deleted. Names and kind of the resource are available before the host's storages are made (stores.hpp).
//
// Thread-safety: every method from any executor.
// Lifetime:      shared with the route table; keeps the storages below alive.
// Errors:        those of the host's storages.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backplane/rest/roles.hpp"
#include "stores.hpp"
#include "writes.hpp"

namespace backplane::apiextensions {

// The record that a storage uses to count its writes; `age`: the generation of the storage (writes.hpp).
struct WriteTracker {
  std::shared_ptr<Writes> writes;
  Writes::Age age = 0;
};

// The open watches of a resource. They end when its definition is changed or deleted, so that no client gets objects by a former schema, or
// objects of another definition with the same name. Clients then watch again.
class Watches {
 public:
  void add(const std::shared_ptr<WatchStream>& stream);
  // Ends all watches, including those that are added later.
  void end();

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::vector<std::weak_ptr<WatchStream>> streams_;
  std::size_t swept_at_ = 16;  // number of streams at which destroyed ones are removed
};

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<const Stores> stores, const CustomVersion& version,
                                                     WriteTracker tracker, std::shared_ptr<Watches> watches);
std::shared_ptr<RestStorage> make_custom_status(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteTracker tracker);
// Wraps `scale`, which has the roles Getter and Updater.
std::shared_ptr<RestStorage> make_custom_scale(std::shared_ptr<SubresourceStorage> scale, WriteTracker tracker);

}  // namespace backplane::apiextensions
