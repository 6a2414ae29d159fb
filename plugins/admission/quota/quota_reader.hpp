// Reads the quotas of a namespace for admission: from the informer, or from the store if the informer is known to be stale. It also orders
// the charges in a namespace: only one write of this server is charged at a time, so that the server's writes do not conflict with each
// other.
//
// Thread-safety: any executor.
// Lifetime:      outlives every write that was charged.
// Errors:        those of the store.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backplane/core/turns.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "common/services.hpp"

namespace backplane::admission::quota {

class QuotaReader {
 public:
  explicit QuotaReader(Services& services);

  // False: there is no quota in any namespace.
  bool any() const;
  bool has_synced() const { return informer_.has_synced(); }
  // The quotas from the informer, sorted by name.
  std::vector<ObjectRef> cached(const std::string& ns) const;
  // The quotas from the informer, or from the store if one of them is known to be out of date or the informer has not synced.
  Task<Result<std::vector<ObjectRef>>> known(std::string ns) const;
  Task<Result<std::vector<ObjectRef>>> newest(std::string ns) const;
  // Reads the stored quota; null: it does not exist. Records that the informer's entry is older than the result.
  Task<Result<ObjectRef>> newest_of(ObjectRef quota);
  // Records that the informer's entries up to the given one are stale, because it has been replaced.
  void replaced(const ObjectEntry& quota);
  // The storage of quotas, whose transactions charged writes join; null: quotas are not served.
  std::shared_ptr<StandardStorage> storage() const;

  // The turn of a write in a namespace. Turns are assigned in the order of the calls of take_turn().
  struct Held {
    std::shared_ptr<Turns> turns;
    Turns::Turn turn;
  };
  // Returns nullopt if the turn does not begin within `timeout`.
  Task<std::optional<Held>> take_turn(std::string ns, std::chrono::nanoseconds timeout);

 private:
  bool is_outdated(const ObjectEntry& quota) const;
  void outdated_to(const ObjectEntry& quota, Revision revision);
  std::shared_ptr<Turns> turns_of(const std::string& ns);

  Host& host_;
  const Lister informer_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Revision> outdated_;           // by key: entries up to this revision are stale
  std::unordered_map<std::string, std::weak_ptr<Turns>> turns_;  // by namespace
  std::size_t most_turns_ = 64;                                  // at this number, turns without a holder are removed
};

}  // namespace backplane::admission::quota
