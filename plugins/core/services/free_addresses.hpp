// Addresses that are known to have been free: what is left of a range that is nearly full, from the last look at all that is taken, and
// those released since.  Only hints: the taker of one checks whether it is still free.
//
// Thread-safety: any thread.
// Errors:        none; bounded, what is too much is forgotten.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "services/ranges.hpp"

namespace backplane::core {

class FreeAddresses {
 public:
  // Out of the range, the addresses that clients usually request explicitly last; no two callers get the same one.  Nothing: none is known.
  std::optional<std::string> take(const AddressRange& range);
  // Those of the range that are not `taken`, from a random one on, in place of what was known.
  void learn(const AddressRange& range, const std::unordered_set<std::string>& taken);
  // An address that is free again; of a range that has never been learned it is not worth keeping.
  void give_back(const std::string& address);

 private:
  struct Known {
    AddressRange range;
    std::vector<std::string> upper, band;
    bool whole = false;  // all above the band that was free
  };
  Known* find(const AddressRange& range);

  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace backplane::core
