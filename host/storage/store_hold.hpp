// A hold on a store: while it exists, no Backplane server writes to the store, because the store is being moved or filled.
// The hold is a key in the store (kHoldKey), so it applies to every server of the store. HeldStorage adds the condition that this key does
// not exist to each transaction. The key is outside of the served keys (/registry/). kube-apiserver ignores it.
//
// Thread-safety: every function and method from any thread.
// Lifetime:      HeldStorage borrows the backend.
// Errors:        HeldStorage::txn() returns kServiceUnavailable while there is a hold; HeldStorage::range() while the store is being
// filled.
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
    kLeaving,  // the store's content is being copied, or has been copied, to another store
  };
  Kind kind = Kind::kFilling;
  std::string other;  // the name of the other store, for messages
};

std::string to_text(const StoreHold& hold);
// nullopt if the text is not a hold.
std::optional<StoreHold> parse_hold(std::string_view text);
// The error message of writes to a store with this hold: "the store takes no writes: it is being moved to etcd:http://…".
std::string why_no_writes(std::string_view text);

class HeldStorage final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  // Fails while the store is being filled. After the first success it no longer checks the hold.
  Task<Result<RangeResult>> range(RangeRequest request) override {
    return whole_.load(std::memory_order_relaxed) ? backend_.range(std::move(request)) : first_range(std::move(request));
  }
  Task<Result<TxnResult>> txn(TxnRequest request) override;

 private:
  Task<Result<RangeResult>> first_range(RangeRequest request);

  std::atomic<bool> whole_{false};  // the store is not being filled; never reset, because only an empty store can be filled
};

}  // namespace backplane
