#include "endpoints/sent_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace backplane::endpoints {
namespace {

constexpr std::string_view kNull = "null";
constexpr std::array<std::string_view, 2> kQuotes = {"Invalid value: ", "Unsupported value: "};

// Takes the next step of a field path off its front: "spec", "0" of "[0]", "a.b" of "[a.b]".
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

const Value* value_at(const Value& tree, std::string_view path) {
  const Value* at = &tree;
  while (at != nullptr && !path.empty()) {
    const std::string_view step = take_step(path);
    if (at->is_object()) {
      at = find(at->get_object(), step);
    } else {
      at = at->is_array() ? element(at->get_array(), step) : nullptr;
    }
  }
  return at;
}

std::string_view printed_when_empty(const Value* value) {
  if (value != nullptr && value->is_array() && value->get_array().empty()) return "[]";
  if (value != nullptr && value->is_object() && value->get_object().empty()) return "{}";
  return {};
}

// Where the message says null of the value; npos when it does not.
std::size_t null_in(std::string_view message) {
  for (const std::string_view quote : kQuotes) {
    if (message.starts_with(quote) && message.substr(quote.size()).starts_with(kNull)) return quote.size();
  }
  return std::string_view::npos;
}

}  // namespace

void quote_sent_values(Status& refused, std::string_view body, BodyFormat format) {
  if (refused.reason() != Reason::kInvalid || refused.details() == nullptr || format == BodyFormat::kProtobuf) return;
  if (refused.message().find("value: null") == std::string::npos) return;
  DecodeReport report;
  const auto sent = parse_body(body, format, {}, &report);
  if (!sent.ok()) return;
  std::string message = refused.message();
  StatusDetails details = *refused.details();
  for (StatusCause& cause : details.causes) {
    const std::size_t at = null_in(cause.message);
    const std::string_view shown = at == std::string_view::npos ? std::string_view() : printed_when_empty(value_at(*sent, cause.field));
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
