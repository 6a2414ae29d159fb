#include "schema/findings.hpp"

#include "backplane/types/schema.hpp"

#include <cmath>
#include <limits>

#include "cel/named_formats.hpp"
#include "text/utf8.hpp"

namespace backplane::schema {
namespace {

// As field.Error prints a bad value: texts quoted, numbers plain, the rest as JSON.
std::string printed(const Value& value) {
  if (value.is_string()) return quoted(value.get_string());
  return value.is_number() ? go_print(value) : to_json(value);
}

std::string in_body(const std::string& path, std::string_view rest) { return path + " in body " + std::string(rest); }

std::size_t rune_count(std::string_view text) noexcept {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(decode_rune(text).size);
  return count;
}

}  // namespace

void Findings::add(FieldErrorType type, std::string path, std::string text, std::string identity) {
  const std::size_t bytes = path.size() + text.size() + identity.size();
  if (!found_.empty() && bytes_ + bytes > kMaxFoundBytes) return;
  if (!identities_.insert(identity).second) return;
  bytes_ += bytes;
  found_.push_back({{type, std::move(path), std::move(text)}, std::move(identity)});
}

void Findings::merge(Findings other) {
  matches_ += other.matches_;
  if (found_.empty()) {
    found_ = std::move(other.found_);
    identities_ = std::move(other.identities_);
    bytes_ = other.bytes_;
    return;
  }
  for (Found& found : other.found_) {
    add(found.error.type, std::move(found.error.field), std::move(found.error.text), std::move(found.identity));
  }
}

void Findings::report(FieldErrors& errors) const {
  for (const Found& found : found_) errors.add(found.error);
}

void Findings::required(const std::string& path) { add(FieldErrorType::kRequired, path, "Required value", in_body(path, "is required")); }

void Findings::type_mismatch(const std::string& path, std::string_view wanted, std::string_view have) {
  const std::string message = in_body(path, "must be of type " + std::string(wanted) + ": " + quoted(have));
  add(FieldErrorType::kTypeInvalid, path, "Invalid value: " + quoted(have) + ": " + message, message);
}

std::string supported_values(const std::vector<Value>& allowed) {
  std::string values;
  for (const Value& one : allowed) {
    if (!values.empty()) values += ", ";
    values += one.is_string() ? quoted(one.get_string()) : quoted(to_json(one));
  }
  return values;
}

void Findings::not_supported(const std::string& path, const Value& value, const std::string& supported) {
  add(FieldErrorType::kNotSupported, path,
      "Unsupported value: " + (value.is_null() ? "null" : printed(value)) + ": supported values: " + supported,
      in_body(path, "should be one of"));
}

void Findings::invalid(const std::string& path, const Value& value, std::string message) {
  add(FieldErrorType::kInvalid, path, "Invalid value: " + (value.is_null() ? "\"\"" : printed(value)) + ": " + message, message);
}

void Findings::too_long(const std::string& path, std::int64_t most) {
  const std::string number = std::to_string(most);
  const std::string detail = most < 0 ? "value is too long" : "may not be more than " + number + " byte" + (most == 1 ? "" : "s");
  add(FieldErrorType::kTooLong, path, "Too long: " + detail, in_body(path, "should be at most " + number + " chars long"));
}

void Findings::too_many(const std::string& path, std::size_t actual, std::int64_t most) {
  const std::string number = std::to_string(most);
  const std::string detail = most < 0 ? "has too many items" : "must have at most " + number + " item" + (most == 1 ? "" : "s");
  add(FieldErrorType::kTooMany, path, "Too many: " + std::to_string(actual) + ": " + detail,
      in_body(path, "should have at most " + number));
}

void Findings::plain(std::string message) { add(FieldErrorType::kInvalid, {}, "Invalid value: \"\": " + message, message); }

std::size_t bytes_of(const FieldErrors& errors) noexcept {
  std::size_t bytes = 0;
  for (const FieldError& error : errors.list()) bytes += error.field.size() + error.text.size();
  return bytes;
}

bool is_whole(double number) noexcept {
  constexpr double kMost = 9007199254740991;
  if (std::isnan(number) || std::fabs(number) > kMost) return false;
  const double whole = std::trunc(number), gap = std::fabs(number - whole);
  return number == whole || gap < 1e-9;
}

void check_string(std::string_view text, const Constraints& rule, const Place& place, Findings& out) {
  const Value value(text);
  const auto count = rule.max_length || rule.min_length ? static_cast<std::int64_t>(rune_count(text)) : 0;
  if (rule.max_length && count > *rule.max_length) {
    out.too_long(place.path(), *rule.max_length);
  } else if (rule.min_length && count < *rule.min_length) {
    out.invalid(place.path(), value, in_body(place.path(), "should be at least " + std::to_string(*rule.min_length) + " chars long"));
  } else if (rule.regex && !finds(*rule.regex, text)) {
    out.invalid(place.path(), value, in_body(place.path(), "should match '" + rule.pattern + "'"));
  }
  if (!rule.format.empty() && is_known_format(rule.format)) {
    if (!matches_format(rule.format, text)) out.type_mismatch(place.path(), rule.format, text);
    out.count();
  }
}

void check_list_size(const Array& array, const Constraints& rule, const Place& place, Findings& out) {
  const auto size = static_cast<std::int64_t>(array.size());
  if (rule.min_items && size < *rule.min_items) {
    out.invalid(place.path(), Value(size), in_body(place.path(), "should have at least " + std::to_string(*rule.min_items) + " items"));
  }
  if (rule.max_items && size > *rule.max_items) out.too_many(place.path(), array.size(), *rule.max_items);
  if (!rule.unique_items) return;
  for (std::size_t i = 0; i < array.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (array[i] == array[j]) return out.invalid(place.path(), nullptr, in_body(place.path(), "shouldn't contain duplicates"));
    }
  }
}

void check_object_size(const Object& object, const Constraints& rule, const Place& place, Findings& out) {
  const auto size = static_cast<std::int64_t>(object.size());
  if (rule.min_properties && size < *rule.min_properties) {
    out.invalid(place.path(), Value(size),
                in_body(place.path(), "should have at least " + std::to_string(*rule.min_properties) + " properties"));
  }
  if (rule.max_properties && size > *rule.max_properties) out.too_many(place.path(), object.size(), *rule.max_properties);
}

}  // namespace backplane::schema
