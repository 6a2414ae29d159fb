#include "profiling/profile.hpp"

#include <algorithm>

#include "profiling/protobuf.hpp"

namespace backplane::profiling {
namespace {

// The field numbers of perftools.profiles.Profile.
namespace profile_field {
constexpr int kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5, kString = 6, kTime = 9, kDuration = 10,
              kPeriodType = 11, kPeriod = 12, kComment = 13;
}

// Builds the tables to which samples refer: strings, functions, locations and mappings. IDs begin with 1, except those of strings (0).
class ProfileEncoder {
 public:
  explicit ProfileEncoder(Symbols& symbols) : symbols_(symbols) {
    string("");
    mapping_of(symbols.executable());  // pprof treats the first mapping as that of the program
  }

  std::uint64_t string(const std::string& text) {
    const auto [found, added] = strings_.try_emplace(text, strings_.size());
    if (added) out_.bytes(profile_field::kString, text);
    return found->second;
  }
  ProtobufMessage value_type(const SampleType& type) {
    ProtobufMessage message;
    message.number(1, string(type.type)).number(2, string(type.unit));
    return message;
  }
  std::uint64_t location_of(std::uintptr_t address) {
    const auto [found, added] = locations_.try_emplace(address, next_location_);
    if (!added) return found->second;
    ++next_location_;
    const Symbol symbol = symbols_.find(address);
    ProtobufMessage location;
    location.number(1, found->second).number(2, mapping_of(symbol.object)).number(3, address);
    if (!symbol.name.empty()) location.message(4, line_of(symbol.name));
    out_.message(profile_field::kLocation, location);
    return found->second;
  }
  std::uint64_t location_of(const std::string& name) {
    const auto [found, added] = named_.try_emplace(name, next_location_);
    if (!added) return found->second;
    ++next_location_;
    ProtobufMessage location;
    location.number(1, found->second).message(4, line_of(name));
    out_.message(profile_field::kLocation, location);
    return found->second;
  }
  ProtobufMessage label(const std::pair<std::string, std::string>& label) {
    ProtobufMessage message;
    message.number(1, string(label.first)).number(2, string(label.second));
    return message;
  }
  ProtobufMessage& out() noexcept { return out_; }

 private:
  ProtobufMessage line_of(const std::string& name) {
    ProtobufMessage line;
    line.number(1, function_of(name));
    return line;
  }
  std::uint64_t function_of(const std::string& name) {
    const auto [found, added] = functions_.try_emplace(name, functions_.size() + 1);
    if (!added) return found->second;
    ProtobufMessage function;
    function.number(1, found->second).number(2, string(name)).number(3, string(name));
    out_.message(profile_field::kFunction, function);
    return found->second;
  }
  // The ID of the mapping; 0: none.
  std::uint64_t mapping_of(const CodeObject* object) {
    if (object == nullptr) return 0;
    const auto [found, added] = mappings_.try_emplace(object, mappings_.size() + 1);
    if (!added) return found->second;
    ProtobufMessage mapping;
    mapping.number(1, found->second).number(2, object->begin).number(3, object->end).number(4, object->offset);
    mapping.number(5, string(object->file)).number(6, string(object->build_id)).number(7, 1);  // field 7: has_functions
    out_.message(profile_field::kMapping, mapping);
    return found->second;
  }

  Symbols& symbols_;
  ProtobufMessage out_;
  std::map<std::string, std::uint64_t> strings_, functions_, named_;
  std::map<std::uintptr_t, std::uint64_t> locations_;
  std::map<const CodeObject*, std::uint64_t> mappings_;
  std::uint64_t next_location_ = 1;
};

// A return address is after the call instruction, so the address minus 1 belongs to the call.
std::vector<std::uint64_t> locations_of(ProfileEncoder& encoder, const Stack& stack) {
  std::vector<std::uint64_t> out;
  for (const std::uintptr_t address : stack) out.push_back(encoder.location_of(out.empty() ? address : address - 1));
  return out;
}

std::vector<std::uint64_t> locations_of(ProfileEncoder& encoder, const std::vector<std::string>& names) {
  std::vector<std::uint64_t> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(encoder.location_of(name));
  return out;
}

}  // namespace

void Profile::add(Key key, const std::vector<std::int64_t>& values) {
  auto& sums = samples_[std::move(key)];
  sums.resize(types_.size());
  for (std::size_t i = 0; i < std::min(values.size(), sums.size()); ++i) sums[i] += values[i];
}

void Profile::add_stack(const Stack& stack, const std::vector<std::int64_t>& values, const SampleLabels& labels) {
  add({stack, {}, labels}, values);
}
void Profile::add_names(const std::vector<std::string>& names, const std::vector<std::int64_t>& values) { add({{}, names, {}}, values); }

void Profile::set_period(SampleType type, std::int64_t period) {
  period_type_ = std::move(type);
  period_ = period;
}

void Profile::set_times(std::chrono::system_clock::time_point start, std::chrono::nanoseconds duration) {
  start_ns_ = std::chrono::nanoseconds(start.time_since_epoch()).count();
  duration_ns_ = duration.count();
}

std::string Profile::encode(Symbols& symbols) const {
  ProfileEncoder encoder(symbols);
  ProtobufMessage& out = encoder.out();
  for (const SampleType& type : types_) out.message(profile_field::kSampleType, encoder.value_type(type));
  for (const auto& [key, values] : samples_) {
    ProtobufMessage sample;
    sample.packed(1, key.names.empty() ? locations_of(encoder, key.stack) : locations_of(encoder, key.names));
    sample.packed(2, {values.begin(), values.end()});
    for (const auto& label : key.labels) sample.message(3, encoder.label(label));
    out.message(profile_field::kSample, sample);
  }
  out.number(profile_field::kTime, static_cast<std::uint64_t>(start_ns_));
  out.number(profile_field::kDuration, static_cast<std::uint64_t>(duration_ns_));
  if (period_ > 0) {
    out.message(profile_field::kPeriodType, encoder.value_type(period_type_));
    out.number(profile_field::kPeriod, static_cast<std::uint64_t>(period_));
  }
  if (!comment_.empty()) out.packed(profile_field::kComment, {encoder.string(comment_)});
  return out.text();
}

}  // namespace backplane::profiling
