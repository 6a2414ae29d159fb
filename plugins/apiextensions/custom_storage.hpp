// The storages of one version of a custom resource, while its definition exists. They wrap the host's storages, count writes, and refuse
// creates while the definition is being deleted. The resource's names and kind do not need the host's storages.
//
// Thread-safety: every method from any executor.
// Lifetime:      shared with the route table; keeps the storages below alive.
// Errors:        as rest.hpp.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backplane/rest/roles.hpp"
#include "stores.hpp"
#include "writes.hpp"

namespace backplane::apiextensions {

// The record of a storage's writes.
struct WriteBook {
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

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteBook book,
                                                     std::shared_ptr<Watches> watches);
std::shared_ptr<RestStorage> make_custom_status(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteBook book);
// Wraps the host's storage, which has the roles Getter and Updater.
std::shared_ptr<RestStorage> make_custom_scale(std::shared_ptr<SubresourceStorage> scale, WriteBook book);

}  // namespace backplane::apiextensions
