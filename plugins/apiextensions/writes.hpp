// The running writes of the objects of one definition, through all storages that the definition has had since it was created.
// A write uses the schemas of the storages that its request has found. After a change of the definition, writes with the old schemas may
// still run, and even begin. Objects that they store are read through the new schema, like all older objects. While a definition is being
// deleted, no object may be created.
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
  // Numbers the generations of storages: each change of the definition makes a younger one.
  using Age = std::uint64_t;

  // One running write, which ends when the Pass is destroyed.
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

  // Returns the age for new storages. Objects up to `older_until` may have been stored by older schemas.
  Age renew(Revision older_until);
  // nullopt: the definition is being deleted.
  std::optional<Pass> create(Age age);
  Pass update(Age age);

  // Sets whether the definition is being deleted; then no create can begin.
  void set_terminating(bool terminating);
  // Returns true if no create is running. If creates are running, the last of them calls `later` when it ends.
  bool no_creates(std::function<void()> later);

  // Objects up to this revision may have been stored by an older schema than the youngest.
  Revision refresh_until() const noexcept { return refresh_until_.load(std::memory_order_relaxed); }

 private:
  void end(Age age, bool creates);
  void stored(Age age, Revision revision);
  // Called with mutex_ held.
  void update_refresh_revision();

  mutable std::mutex mutex_;  // guards the members below; refresh_until_ is read without it
  Age youngest_ = 0;
  std::map<Age, std::size_t> running_;  // the number of writes by age; only the youngest entry may be 0
  std::size_t creates_ = 0;
  bool terminating_ = false;
  Revision newest_ = 0;       // the highest revision of all writes
  Revision older_until_ = 0;  // the highest revision that a write by an older schema may have stored
  std::vector<std::function<void()>> waiting_;

  std::atomic<Revision> refresh_until_{0};
};

}  // namespace backplane::apiextensions
