// Leases and lease candidates: validation of the coordinated election.
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/semantic_version.hpp"
#include "kinds.hpp"

namespace backplane::coordination {
namespace {

using namespace kit;

constexpr std::string_view kOldest = "OldestEmulationVersion";

// The member's version; 0.0.0 if it is absent.
SemanticVersion version_at(const Object& spec, const char* member, FieldErrors& errors) {
  const std::string_view text = get_string(spec, member);
  if (text.empty()) return {};
  auto version = SemanticVersion::parse(text);
  if (!version) errors.invalid(at("spec", member), text, "must be a valid semantic version");
  return version.value_or(SemanticVersion{});
}

void check_strategy(std::string_view strategy, FieldErrors& errors) {
  // Upstream names the member twice.
  constexpr const char* kPath = "spec.strategy.strategy";
  if (strategy.find('/') == std::string_view::npos) {
    if (strategy != kOldest) errors.not_supported(kPath, strategy, {std::string(kOldest)});
    return;
  }
  for (const std::string& problem : is_qualified_name(strategy)) errors.invalid(kPath, strategy, problem);
}

class LeaseStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    if (has(spec, "strategy")) check_strategy(get_string(spec, "strategy"), errors);
  }
};

class LeaseCandidateStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const SemanticVersion emulated = version_at(spec, "emulationVersion", errors), binary = version_at(spec, "binaryVersion", errors);
    const std::string_view text = get_string(spec, "binaryVersion"), strategy = get_string(spec, "strategy");
    if (!text.empty() && !get_string(spec, "emulationVersion").empty() && binary < emulated) {
      errors.invalid("spec.binaryVersion", text, "must be greater than or equal to `emulationVersion`");
    }
    if (strategy.empty()) return;  // the schema reports it
    const bool none = emulated.numbers == std::array<std::uint64_t, 3>{} && emulated.prerelease.empty();
    if (strategy == kOldest && none) {
      errors.required("spec.emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'");
    }
    check_strategy(strategy, errors);
  }
};

}  // namespace

KindCode lease_code() { return {.make = made<LeaseStrategy>()}; }
KindCode lease_candidate_code() { return {.make = made<LeaseCandidateStrategy>()}; }

}  // namespace backplane::coordination
