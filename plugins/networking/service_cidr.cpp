// ServiceCIDRs: rules on changes.
#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/names.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

constexpr const char* kPath = "spec.cidrs";
constexpr const char* kImmutable = "field is immutable";

// The family of a range; an invalid text has none.
char family_of(const std::string& range) {
  if (!legacy_cidr_problems(range).empty()) return 0;
  return range.find(':') == std::string::npos ? '4' : '6';
}

// Returns the problems of a range, which must be valid and in its canonical text.
Problems problems_of(const std::string& range) {
  Problems out = legacy_cidr_problems(range);
  if (!out.empty()) return out;
  const auto slash = range.find('/');
  const std::string canonical = print_ip(*parse_ip(range.substr(0, slash))) + range.substr(slash);
  return range == canonical ? Problems() : Problems{"must be in canonical form (" + quoted(canonical) + ")"};
}

std::string printed(const std::vector<std::string>& ranges) { return to_json(Array(ranges.begin(), ranges.end())); }

class ServiceCidrStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override { check_ranges(ranges_of(object), errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const auto now = ranges_of(object), before = ranges_of(old);
    const bool joins = before.size() == 1 && now.size() == 2;
    const bool absent = get_array(object_or_empty(object, "spec"), "cidrs") == nullptr;
    if (now.size() != before.size() && !joins) return errors.invalid_raw(kPath, absent ? "null" : printed(now), kImmutable);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (now[i] != before[i]) errors.invalid(at(kPath, i), now[i], kImmutable);
    }
    if (joins) check_ranges(now, errors);
  }

 private:
  static std::vector<std::string> ranges_of(const Object& object) { return texts_of(object_or_empty(object, "spec"), "cidrs"); }

  static void check_ranges(const std::vector<std::string>& ranges, FieldErrors& errors) {
    if (ranges.empty()) return errors.required(kPath, "at least one CIDR required");
    if (ranges.size() > 2) return errors.invalid_raw(kPath, "{\"CIDRs\":" + printed(ranges) + "}", "may only hold up to 2 values");
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      for (const std::string& problem : problems_of(ranges[i])) errors.invalid(at(kPath, i), ranges[i], problem);
    }
    const bool same = ranges.size() == 2 && family_of(ranges[0]) != 0 && family_of(ranges[0]) == family_of(ranges[1]);
    if (same) {
      errors.invalid_raw(kPath, printed(ranges),
                         "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
    }
  }
};

}  // namespace

KindCode service_cidr_code() { return {.make = made<ServiceCidrStrategy>()}; }

}  // namespace backplane::networking
