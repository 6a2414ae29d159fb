#include "policies/go_values.hpp"

#include "engine/object_fields.hpp"

namespace backplane::admission::policies {
namespace {

// The value at the path in a tree that has it.
Value& value_at(Object& object, const std::vector<std::string>& path) {
  Value* out = &object[path.front()];
  for (std::size_t i = 1; i < path.size(); ++i) {
    out = out->is_array() ? &out->get_array()[std::stoul(path[i])] : &out->get_object()[path[i]];
  }
  return *out;
}

std::string printed(const cel::GoValue& value, std::string_view expected) {
  if (expected.starts_with("numeric")) return value.type;
  if (expected.starts_with("string")) return "&value.valueUnstructured{Value:" + value.syntax + "}";
  return "&{" + value.text + "}";
}

// Derives the error from the error of a JSON value that the field does not allow.
std::string problem_of(const Schema* type, const Object& configuration, const cel::GoValue& value) {
  constexpr std::string_view kExpected = ": expected ", kGot = ", got ";
  for (const Value& wrong : {Value(json::array_kind), Value(json::object_kind), Value("")}) {
    Object changed(configuration, configuration.storage());
    value_at(changed, value.path) = wrong;
    const std::string message(check_fields(type, changed, Duplicates::kRefused).message());
    const std::size_t expected = message.find(kExpected), got = message.find(kGot);
    if (expected == std::string::npos || got == std::string::npos) continue;
    return message.substr(0, got + kGot.size()) + printed(value, std::string_view(message).substr(expected + kExpected.size()));
  }
  return {};
}

}  // namespace

std::string go_value_problems(const Schema* type, const Object& configuration, const std::vector<cel::GoValue>& values) {
  std::vector<std::string> found;
  for (const cel::GoValue& each : values) {
    std::string problem = each.path.empty() ? std::string() : problem_of(type, configuration, each);
    if (!problem.empty()) found.push_back(std::move(problem));
  }
  if (found.size() == 1) return found.front();
  std::string out;
  for (const std::string& problem : found) out.append(out.empty() ? "errors:\n  " : "\n  ").append(problem);
  return out;
}

}  // namespace backplane::admission::policies
