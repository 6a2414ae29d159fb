// The writes under way of one definition's objects, through whichever storages the definition has had since it was made.
//
// A write goes by the schemas of the storages that its request has found.  After the definition has changed some are still under way by the
// old ones, and more may begin: what they store is read through the new schema, as is what was stored before.  And while the definition is
// being deleted no object may be created while its objects are removed.
// Thread-safety: any thread.
// Lifetime:      shared by the storages and converters made from one definition (one uid); passes keep it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backplane/points/storage.hpp"

namespace backplane::apiextensions {

class Writes : public std::enable_shared_from_this<Writes> {
 public:
  // Storages made from one state of the definition; each change makes a younger one.
  using Age = std::uint64_t;

  // One write under way; it ends with the pass.
  class Pass {
   public:
    Pass(std::shared_ptr<Writes> writes, Age age, bool creates) : writes_(std::move(writes)), age_(age), creates_(creates) {}
    Pass(Pass&&) noexcept = default;
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (writes_) writes_->end(age_, creates_);
    }
    // The write has been committed at `revision`.
    void stored(Revision revision) { writes_->stored(age_, revision); }

   private:
    std::shared_ptr<Writes> writes_;
    Age age_;
    bool creates_;
  };

  // The age of storages that are made now.  Objects up to `older_until` may be from before.
  Age renew(Revision older_until);
  // Nothing: the definition is being deleted.
  std::optional<Pass> create(Age age);
  Pass update(Age age);

  // Whether the definition is being deleted: no create begins any more.
  void set_terminating(bool terminating);
  // True: no create is under way.  Else `later` is called where the last of them ends.
  bool no_creates(std::function<void()> later);

  // Objects up to this revision may have been stored by an older schema than the youngest.
  Revision refresh_until() const noexcept { return refresh_until_.load(std::memory_order_relaxed); }

 private:
  void end(Age age, bool creates);
  void stored(Age age, Revision revision);
  // With the lock held.
  void settle();

  mutable std::mutex mutex_;  // what follows
  Age youngest_ = 0;
  std::map<Age, std::size_t> running_;  // none of no writes, but for the youngest
  std::size_t creates_ = 0;
  bool terminating_ = false;
  Revision newest_ = 0;       // that any write has stored
  Revision older_until_ = 0;  // that a write by an older schema may have stored
  std::vector<std::function<void()>> waiting_;

  std::atomic<Revision> refresh_until_{0};
};

}  // namespace backplane::apiextensions
