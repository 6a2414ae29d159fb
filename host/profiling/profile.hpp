// A profile in pprof's format (protobuf perftools.profiles.Profile). A profile consists of samples; a sample has a stack, and a number for
// each sample type.
//
//   Profile cpu({{"samples", "count"}, {"cpu", "nanoseconds"}});
//   cpu.add_stack(addresses, {1, 10'000'000});
//   std::string bytes = cpu.encode(symbols);
//
// Thread-safety: one thread at a time.
// Lifetime:      a value.
// Errors:        none; an address without a symbol has a location without a function.
// Source:        https://github.com/google/pprof/blob/main/proto/profile.proto
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiling/symbols.hpp"

namespace backplane::profiling {

// The meaning and the unit of one number of each sample: {"cpu", "nanoseconds"}.
struct SampleType {
  std::string type, unit;
};
// The labels of a sample, pairs of key and value: {"thread", "io-0"}.
using SampleLabels = std::vector<std::pair<std::string, std::string>>;
// Addresses of instructions, the innermost first. All but the first are return addresses.
using Stack = std::vector<std::uintptr_t>;

class Profile {
 public:
  explicit Profile(std::vector<SampleType> types) : types_(std::move(types)) {}

  // Adds `values`, one for each sample type, to the sample with this stack and these labels.
  void add_stack(const Stack& stack, const std::vector<std::int64_t>& values, const SampleLabels& labels = {});
  // As add_stack(), for a stack of names instead of addresses, the innermost first.
  void add_names(const std::vector<std::string>& names, const std::vector<std::int64_t>& values);

  // Sets the sampling period, in the unit of `type`.
  void set_period(SampleType type, std::int64_t period);
  void set_times(std::chrono::system_clock::time_point start, std::chrono::nanoseconds duration);
  // Sets a comment, which `go tool pprof -comments` shows.
  void set_comment(std::string comment) { comment_ = std::move(comment); }

  // The encoded profile, not compressed. Reads symbol tables from files, so it must not be called on an event loop.
  std::string encode(Symbols& symbols) const;

 private:
  struct Key {
    Stack stack;
    std::vector<std::string> names;
    SampleLabels labels;
    auto operator<=>(const Key&) const = default;
  };
  void add(Key key, const std::vector<std::int64_t>& values);

  std::vector<SampleType> types_;
  std::map<Key, std::vector<std::int64_t>> samples_;
  SampleType period_type_;
  std::int64_t period_ = 0;
  std::int64_t start_ns_ = 0, duration_ns_ = 0;
  std::string comment_;
};

}  // namespace backplane::profiling
