// A cache of probably free addresses of ranges that are nearly full: those that were free at the last read of all allocated addresses, and
// those released since. They are only hints: the caller checks whether an address is still free.
//
// Thread-safety: any thread.
// Errors:        none; the size is bounded, and further addresses are dropped.
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
  // Removes and returns an address of the range; those that clients usually request explicitly come last. nullopt: none is known.
  std::optional<std::string> take(const AddressRange& range);
  // Replaces the known addresses of the range by those that are not `taken`, beginning at a random one.
  void learn(const AddressRange& range, const std::unordered_set<std::string>& taken);
  // Adds a released address, if learn() was called for its range.
  void release(const std::string& address);

 private:
  struct Known {
    AddressRange range;
    std::vector<std::string> upper, band;
    bool whole = false;  // `upper` has all free addresses above the band
  };
  Known* find(const AddressRange& range);

  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace backplane::core
