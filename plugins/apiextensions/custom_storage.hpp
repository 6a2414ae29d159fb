// One version of a custom resource, as long as its definition stays: the host's storages, whose writes are counted and which take nothing
// new while the definition is being deleted.  They return the resource's names and kind without the host's storages.
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

// Whose writes a storage's are.
struct WriteBook {
  std::shared_ptr<Writes> writes;
  Writes::Age age = 0;
};

// The open watches of a resource.  They end when its definition changes or goes, so that no client is shown objects by a schema that has
// gone, or those of another definition of the same name: it watches again and finds what is there then.
class Watches {
 public:
  void add(const std::shared_ptr<WatchStream>& stream);
  // Ends all of them, and those that are added later.
  void end();

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::vector<std::weak_ptr<WatchStream>> streams_;
  std::size_t swept_at_ = 16;  // so many streams, and those that are gone are taken out
};

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteBook book,
                                                     std::shared_ptr<Watches> watches);
std::shared_ptr<RestStorage> make_custom_status(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteBook book);
// Around the host's, which has the roles Getter and Updater.
std::shared_ptr<RestStorage> make_custom_scale(std::shared_ptr<SubresourceStorage> scale, WriteBook book);

}  // namespace backplane::apiextensions
