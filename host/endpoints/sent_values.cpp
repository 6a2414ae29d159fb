#include "endpoints/sent_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace backplane::endpoints {
namespace {

constexpr std::string_view kNull = "null";
constexpr std::array<std::string_view, 2> kQuotes = {"Invalid value: ", "Unsupported value: "};

// Removes the first step of a field path and returns it: "spec", "0" of "[0]", "a.b" of "[a.b]".
std::string_view take_step(std::string_view& path) {
  if (path.starts_with('[')) {
    const auto end = std::min(path.find(']'), path.size());
    const std::string_view step = path.substr(1, end - 1);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (path.starts_with('.')) path.remove_prefix(1);
    return step;
  }
  const auto end = std::min(path.find_first_of(".["), path.size());
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(end);
  if (path.starts_with('.')) path.remove_prefix(1);
  return step;
}

const Value* element(const Array& array, std::string_view step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  return error == std::errc() && end == step.data() + step.size() && index < array.size() ? &array[index] : nullptr;
}

// A value in the body, and its type. Null: the value was not sent; the type is not known.
struct Place {
  const Value* value;
  const Schema* type;
};

Place place_at(const Value& tree, const Schema* type, std::string_view path) {
  Place at = {&tree, type};
  while (at.value != nullptr && !path.empty()) {
    const std::string_view step = take_step(path);
    const Schema* member = at.type != nullptr ? at.type->property(step) : nullptr;
    if (member == nullptr && at.type != nullptr) member = at.type->items();
    at.type = member;
    if (at.value->is_object()) {
      at.value = find(at.value->get_object(), step);
    } else {
      at.value = at.value->is_array() ? element(at.value->get_array(), step) : nullptr;
    }
  }
  return at;
}

// Errors print all members of a struct, so an empty struct is never printed as {}.
bool is_struct(const Schema* type) { return type != nullptr && !type->structural() && type->items() == nullptr && !type->name().empty(); }

std::string_view empty_text(const Place& at) {
  if (at.value != nullptr && at.value->is_array() && at.value->get_array().empty()) return "[]";
  if (at.value != nullptr && at.value->is_object() && at.value->get_object().empty() && !is_struct(at.type)) return "{}";
  return {};
}

// Returns the position of the value's "null" in the message; npos if the value is not null.
std::size_t null_in(std::string_view message) {
  for (const std::string_view quote : kQuotes) {
    if (message.starts_with(quote) && message.substr(quote.size()).starts_with(kNull)) return quote.size();
  }
  return std::string_view::npos;
}

}  // namespace

void quote_sent_values(Status& refused, std::string_view body, BodyFormat format, const Schema* schema) {
  if (refused.reason() != Reason::kInvalid || refused.details() == nullptr || format == BodyFormat::kProtobuf) return;
  if (refused.message().find("value: null") == std::string::npos) return;
  DecodeReport report;
  const auto sent = parse_body(body, format, {}, &report);
  if (!sent.ok()) return;
  std::string message = refused.message();
  StatusDetails details = *refused.details();
  for (StatusCause& cause : details.causes) {
    const std::size_t at = null_in(cause.message);
    const std::string_view shown = at == std::string_view::npos ? std::string_view() : empty_text(place_at(*sent, schema, cause.field));
    if (shown.empty()) continue;
    const std::string before = cause.field + ": " + cause.message;
    cause.message.replace(at, kNull.size(), shown);
    if (const auto place = message.find(before); place != std::string::npos) {
      message.replace(place, before.size(), cause.field + ": " + cause.message);
    }
  }
  refused.set_message(std::move(message));
  refused.with_details(std::move(details));
}

}  // namespace backplane::endpoints
