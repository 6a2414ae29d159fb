// A hold: a mark in a store. While it exists, no server writes to the store, because the store is being moved or filled.
// The mark is a key of the store, so every server of the store sees it. HeldStorage adds the condition that the key does not exist to each
// transaction: while it exists, no server's transaction commits. It is outside of the served keys (/registry/). kube-apiserver ignores it.
//
// Thread-safety: every function and method from any thread.
// Lifetime:      HeldStorage borrows the backend.
// Errors:        HeldStorage adds kServiceUnavailable: to txn() while there is a hold, to range() while the store is being filled.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/forwarding_storage.hpp"

namespace backplane {

inline constexpr std::string_view kHoldKey = "/registry.backplane/hold";

struct StoreHold {
  enum class Kind : unsigned char {
    kFilling,  // the store is the target of an unfinished copy, and must not be served
    kLeaving,  // its contents are being copied, or have been copied, to another store
  };
  Kind kind = Kind::kFilling;
  std::string other;  // the name of the other store, for messages
};

std::string to_text(const StoreHold& hold);
// nullopt if the text is not a hold.
std::optional<StoreHold> parse_hold(std::string_view text);
// "the store takes no writes: it has been moved to etcd:http://…"
std::string why_no_writes(std::string_view text);

class HeldStorage final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  // A store that is being filled is not served: the first read of each server fails until the copy is complete.
  Task<Result<RangeResult>> range(RangeRequest request) override {
    return whole_.load(std::memory_order_relaxed) ? backend_.range(std::move(request)) : first_range(std::move(request));
  }
  Task<Result<TxnResult>> txn(TxnRequest request) override;

 private:
  Task<Result<RangeResult>> first_range(RangeRequest request);

  std::atomic<bool> whole_{false};  // never reset: only an empty store can be filled
};

}  // namespace backplane
