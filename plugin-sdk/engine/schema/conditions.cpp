#include "schema/conditions.hpp"

#include <algorithm>
#include <set>

#include "backplane/types/names.hpp"

namespace backplane::schema {
namespace {

constexpr std::size_t kMaxReason = std::size_t{1} << 10;
constexpr std::size_t kMaxMessage = std::size_t{32} << 10;

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) noexcept { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

bool is_reason(std::string_view text) noexcept {
  const auto inside = [](char c) { return is_word(c) || c == ',' || c == ':'; };
  return is_letter(text.front()) && is_word(text.back()) && std::all_of(text.begin(), text.end(), inside);
}

void check_reason(std::string_view reason, const Place& place, FieldErrors& errors) {
  if (reason.empty()) return errors.required(place.path());
  if (!is_reason(reason)) {
    errors.invalid(place.path(), reason,
                   "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or "
                   "'_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
                   "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  }
  if (reason.size() > kMaxReason) errors.too_long(place.path(), reason, static_cast<long long>(kMaxReason));
}

void check_condition(const Object& condition, const Place& place, FieldErrors& errors) {
  const std::string_view type = get_string(condition, "type"), status = get_string(condition, "status");
  for (const std::string& problem : is_qualified_name(type)) errors.invalid(place.member("type").path(), type, problem);
  if (status != "True" && status != "False" && status != "Unknown") {
    errors.not_supported(place.member("status").path(), status, {"False", "True", "Unknown"});
  }
  const auto generation = get_int(condition, "observedGeneration").value_or(0);
  if (generation < 0) {
    errors.invalid(place.member("observedGeneration").path(), static_cast<long long>(generation), "must be greater than or equal to zero");
  }
  if (get_string(condition, "lastTransitionTime").empty()) errors.required(place.member("lastTransitionTime").path());
  check_reason(get_string(condition, "reason"), place.member("reason"), errors);
  const std::string_view message = get_string(condition, "message");
  if (message.size() > kMaxMessage) errors.too_long(place.member("message").path(), message, static_cast<long long>(kMaxMessage));
}

}  // namespace

void check_conditions(const Array& conditions, const Place& place, FieldErrors& errors) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Object* condition = conditions[i].if_object();
    if (condition == nullptr) continue;
    const Place item = place.item(i);
    const std::string_view type = get_string(*condition, "type");
    if (!seen.insert(type).second) errors.duplicate(item.member("type").path(), type);
    check_condition(*condition, item, errors);
  }
}

}  // namespace backplane::schema
