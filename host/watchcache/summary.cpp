#include "watchcache/summary.hpp"

#include <algorithm>
#include <functional>

namespace backplane {
namespace {

enum Kind : std::uint64_t { kName = 1, kNamespace, kLabelKey, kLabel, kField };

// Spreads the bits of `value` over the whole word (the finalizer of MurmurHash3).
std::uint64_t mixed(std::uint64_t value) noexcept {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  value ^= value >> 33;
  return value;
}

std::uint64_t hashed(std::string_view text) noexcept { return std::hash<std::string_view>{}(text); }
Term term(std::uint64_t kind, std::uint64_t hash) noexcept { return mixed(hash + kind * 0x9e3779b97f4a7c15ULL); }

// The position of a term: a cache line, and two bits in it.
struct Place {
  std::size_t line;
  std::size_t first;
  std::size_t second;
};
template <std::size_t lines, std::size_t bits>
Place place_of(Term term) noexcept {
  return {static_cast<std::size_t>(term % lines), static_cast<std::size_t>((term >> 16) % bits),
          static_cast<std::size_t>((term >> 40) % bits)};
}

}  // namespace

Term name_term(std::string_view name) noexcept { return term(kName, hashed(name)); }
Term namespace_term(std::string_view ns) noexcept { return term(kNamespace, hashed(ns)); }
Term label_key_term(std::string_view key) noexcept { return term(kLabelKey, hashed(key)); }
Term label_term(std::string_view key, std::string_view value) noexcept { return term(kLabel, mixed(hashed(key)) ^ hashed(value)); }
Term field_term(std::size_t column, std::string_view value) noexcept { return term(kField + column, hashed(value)); }

void Summary::add(Term term) noexcept {
  const auto place = place_of<kWords / kLineWords, kLineWords * 64>(term);
  std::uint64_t* line = bits_.data() + place.line * kLineWords;
  line[place.first / 64] |= std::uint64_t{1} << (place.first % 64);
  line[place.second / 64] |= std::uint64_t{1} << (place.second % 64);
}

bool Summary::may_hold(Term term) const noexcept {
  const auto place = place_of<kWords / kLineWords, kLineWords * 64>(term);
  const std::uint64_t* line = bits_.data() + place.line * kLineWords;
  return (line[place.first / 64] >> (place.first % 64) & line[place.second / 64] >> (place.second % 64) & 1) != 0;
}

void Summary::add(const ObjectEntry& entry) noexcept {
  add(name_term(entry.name()));
  for (const auto& [key, value] : entry.labels()) {
    add(label_key_term(key));
    add(label_term(key, value));
  }
  std::size_t column = 0;
  for (const std::string_view value : entry.fields()) add(field_term(column++, value));
}

void Summary::add(const Summary& other) noexcept {
  for (std::size_t i = 0; i < kWords; ++i) bits_[i] |= other.bits_[i];
}

bool Summary::may_hold(const Wanted& wanted) const noexcept {
  return std::all_of(wanted.begin(), wanted.end(), [this](const std::vector<Term>& group) {
    return std::any_of(group.begin(), group.end(), [this](Term term) { return may_hold(term); });
  });
}

}  // namespace backplane
