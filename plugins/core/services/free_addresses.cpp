#include "services/free_addresses.hpp"

#include <algorithm>

namespace backplane::core {
namespace {

constexpr std::size_t kMostRanges = 16;
constexpr std::size_t kMostAddresses = 1024;  // in each of the two lists of a range

std::optional<std::string> take_last(std::vector<std::string>& addresses) {
  if (addresses.empty()) return std::nullopt;
  std::string out = std::move(addresses.back());
  addresses.pop_back();
  return out;
}

// Collects the free addresses of `first` … `last`; returns whether these are all.
bool collect(const AddressRange& range, std::uint64_t first, std::uint64_t last, const std::unordered_set<std::string>& taken,
             std::vector<std::string>& out) {
  out.clear();
  if (first > last) return true;
  const std::uint64_t count = last - first + 1, start = random_below(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (out.size() == kMostAddresses) return false;
    std::string address = range.address(first + (start + i) % count);
    if (!taken.contains(address)) out.push_back(std::move(address));
  }
  return true;
}

}  // namespace

FreeAddresses::Known* FreeAddresses::find(const AddressRange& range) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& each) { return each.range == range; });
  return found == known_.end() ? nullptr : &*found;
}

std::optional<std::string> FreeAddresses::take(const AddressRange& range) {
  std::lock_guard lock(mutex_);
  Known* known = find(range);
  if (known == nullptr) return std::nullopt;
  auto upper = take_last(known->upper);
  return upper || !known->whole ? upper : take_last(known->band);
}

void FreeAddresses::learn(const AddressRange& range, const std::unordered_set<std::string>& taken) {
  Known made{range, {}, {}, false};
  made.whole = collect(range, range.band() + 1, range.size(), taken, made.upper);
  collect(range, 1, range.band(), taken, made.band);
  std::lock_guard lock(mutex_);
  if (Known* known = find(range)) {
    *known = std::move(made);
    return;
  }
  if (known_.size() == kMostRanges) known_.erase(known_.begin());
  known_.push_back(std::move(made));
}

void FreeAddresses::release(const std::string& address) {
  std::lock_guard lock(mutex_);
  for (Known& known : known_) {
    const auto index = known.range.index(address);
    if (!index) continue;
    auto& part = *index > known.range.band() ? known.upper : known.band;
    if (part.size() < kMostAddresses) part.push_back(address);
  }
}

}  // namespace backplane::core
