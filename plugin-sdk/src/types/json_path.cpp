#include "backplane/types/json_path.hpp"

#include <algorithm>
#include <charconv>

namespace backplane BACKPLANE_API {
namespace {

// Limits, because walk() recurses for each step, and a second ".." visits all results of the first one.
constexpr std::size_t kMaxText = 4096;
constexpr std::ptrdiff_t kMaxSearches = 2;

bool parse_number(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_quote(std::string_view text) { return text == "'" || text == "\""; }

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
}

std::optional<Value> parse_literal(std::string_view text) {
  if (is_quoted(text)) return Value(json::string(text.substr(1, text.size() - 2)));
  if (text == "true" || text == "false") return Value(text == "true");
  std::int64_t number = 0;
  if (parse_number(text, number)) return Value(number);
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return Value(real);
  return std::nullopt;
}

// Returns the position of the bracket that closes the bracket at 0; skips quoted texts.
std::size_t closing_bracket(std::string_view text) {
  char quote = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::optional<double> number_of(const Value& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_double()) return value.get_double();
  return std::nullopt;
}

// Returns -1, 0 or 1; nullopt if the values cannot be compared.
std::optional<int> compare(const Value& a, const Value& b) {
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (left && right) return *left < *right ? -1 : *left > *right ? 1 : 0;
  if (a.is_string() && b.is_string()) {
    const int order = a.get_string().compare(b.get_string());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is_bool() && b.is_bool()) return static_cast<int>(a.get_bool()) - static_cast<int>(b.get_bool());
  return std::nullopt;
}

const Value* member_at(const Value& value, const std::vector<std::string>& path) {
  const Value* at = &value;
  for (const std::string& name : path) {
    at = at->is_object() ? find(at->get_object(), name) : nullptr;
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

std::optional<JsonPath> JsonPath::parse(std::string_view text) {
  text = trimmed(text);
  if (is_quoted(text)) return std::nullopt;
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') text = text.substr(1, text.size() - 2);
  if (!text.empty() && text.front() == '$') text.remove_prefix(1);
  if (text.size() > kMaxText) return std::nullopt;
  JsonPath path;
  while (!text.empty()) {
    const bool read = text.front() == '.' ? parse_member(text, path.steps_) : text.front() == '[' && parse_bracket(text, path.steps_);
    if (!read) return std::nullopt;
  }
  const auto searches =
      std::count_if(path.steps_.begin(), path.steps_.end(), [](const Step& step) { return step.kind == Kind::kRecursive; });
  if (searches > kMaxSearches) return std::nullopt;
  return path;
}

bool JsonPath::parse_member(std::string_view& rest, std::vector<Step>& steps) {
  Step step;
  rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == '.') {
    step.kind = Kind::kRecursive;
    rest.remove_prefix(1);
  }
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != '.' && rest[end] != '[') {
    if (rest[end] == '\\' && end + 1 < rest.size()) ++end;  // "\." is a dot in a name
    step.name += rest[end++];
  }
  rest.remove_prefix(end);
  if (step.name.empty()) return step.kind == Kind::kMember && (rest.empty() || rest.front() == '[');
  if (step.name == "*" && step.kind == Kind::kMember) step.kind = Kind::kWildcard;
  steps.push_back(std::move(step));
  return true;
}

bool JsonPath::parse_bracket(std::string_view& rest, std::vector<Step>& steps) {
  const std::size_t close = closing_bracket(rest);
  if (close == std::string_view::npos) return false;
  const std::string_view inside = trimmed(rest.substr(1, close - 1));
  rest.remove_prefix(close + 1);
  Step step;
  if (inside == "*") {
    step.kind = Kind::kWildcard;
  } else if (is_quoted(inside)) {
    step.name = inside.substr(1, inside.size() - 2);
  } else if (inside.substr(0, 2) == "?(" && inside.back() == ')') {
    step.kind = Kind::kFilter;
    if (!parse_filter(inside.substr(2, inside.size() - 3), step)) return false;
  } else if (const std::size_t colon = inside.find(':'); colon != std::string_view::npos) {
    step.kind = Kind::kSlice;
    std::int64_t end = 0;
    if (colon > 0 && !parse_number(inside.substr(0, colon), step.begin)) return false;
    if (colon + 1 < inside.size()) {
      if (!parse_number(inside.substr(colon + 1), end)) return false;
      step.end = end;
    }
  } else {
    step.kind = Kind::kIndex;
    if (!parse_number(inside, step.begin)) return false;
  }
  steps.push_back(std::move(step));
  return true;
}

bool JsonPath::parse_filter(std::string_view inside, Step& step) {
  inside = trimmed(inside);
  if (inside.empty() || inside.front() != '@') return false;
  std::string_view left = inside.substr(1);
  for (std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
    const std::size_t at = left.find(op);
    if (at == std::string_view::npos) continue;
    step.op = op;
    step.literal = parse_literal(trimmed(left.substr(at + op.size())));
    if (!step.literal) return false;
    left = trimmed(left.substr(0, at));
    break;
  }
  std::vector<Step> path;
  while (!left.empty()) {
    // Brackets inside a filter may contain only names, so filters cannot be nested.
    const bool named = left.front() == '[' && is_quote(trimmed(left.substr(1)).substr(0, 1));
    const bool read = left.front() == '.' ? parse_member(left, path) : named && parse_bracket(left, path);
    if (!read) return false;
  }
  for (const Step& part : path) {
    if (part.kind != Kind::kMember) return false;
    step.operand.push_back(part.name);
  }
  return true;
}

bool JsonPath::holds(const Step& step, const Value& item) {
  const Value* left = member_at(item, step.operand);
  if (left == nullptr) return false;
  if (step.op.empty()) return true;
  const auto order = compare(*left, *step.literal);
  if (!order) return step.op == "!=";
  if (step.op == "==") return *order == 0;
  if (step.op == "!=") return *order != 0;
  if (step.op == "<") return *order < 0;
  if (step.op == ">") return *order > 0;
  return step.op == "<=" ? *order <= 0 : *order >= 0;
}

bool JsonPath::walk_array(const Step& step, const Array& array, std::size_t next, const Visit& visit) const {
  const auto size = static_cast<std::int64_t>(array.size());
  const auto from_end = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  std::int64_t begin = 0;
  std::int64_t end = size;
  if (step.kind == Kind::kIndex) {
    begin = from_end(step.begin);
    if (begin < 0) return false;
    end = begin + 1;
  } else if (step.kind == Kind::kSlice) {
    begin = from_end(step.begin);
    end = from_end(step.end.value_or(size));
  }
  for (std::int64_t i = std::max<std::int64_t>(begin, 0); i < std::min(end, size); ++i) {
    const Value& item = array[static_cast<std::size_t>(i)];
    if (step.kind == Kind::kFilter && !holds(step, item)) continue;
    if (walk(item, next, visit)) return true;
  }
  return false;
}

bool JsonPath::search(const std::string& name, const Value& value, std::size_t next, const Visit& visit) const {
  if (value.is_object()) {
    const Value* member = find(value.get_object(), name);
    if (member != nullptr && walk(*member, next, visit)) return true;
    for (const auto& [key, child] : value.get_object()) {
      if (search(name, child, next, visit)) return true;
    }
  } else if (value.is_array()) {
    for (const Value& child : value.get_array()) {
      if (search(name, child, next, visit)) return true;
    }
  }
  return false;
}

bool JsonPath::walk(const Value& value, std::size_t next, const Visit& visit) const {
  if (next == steps_.size()) return visit(value);
  const Step& step = steps_[next];
  if (step.kind == Kind::kRecursive) return search(step.name, value, next + 1, visit);
  if (value.is_array()) return step.kind != Kind::kMember && walk_array(step, value.get_array(), next + 1, visit);
  if (!value.is_object()) return false;
  if (step.kind == Kind::kMember) {
    const Value* member = find(value.get_object(), step.name);
    return member != nullptr && walk(*member, next + 1, visit);
  }
  if (step.kind != Kind::kWildcard) return false;
  for (const auto& [key, child] : value.get_object()) {
    if (walk(child, next + 1, visit)) return true;
  }
  return false;
}

const Value* JsonPath::first(const Value& root) const {
  const Value* out = nullptr;
  walk(root, 0, [&out](const Value& found) {
    out = &found;
    return true;
  });
  return out;
}

const Value* JsonPath::first(const Object& root) const {
  const Value* out = nullptr;
  each(root, [&out](const Value& found) {
    out = &found;
    return true;
  });
  return out;
}

bool JsonPath::each(const Object& root, const Visit& visit) const {
  if (steps_.empty()) return false;
  const Step& step = steps_.front();
  if (step.kind == Kind::kMember) {
    const Value* member = find(root, step.name);
    return member != nullptr && walk(*member, 1, visit);
  }
  if (step.kind == Kind::kRecursive) {
    const Value* member = find(root, step.name);
    if (member != nullptr && walk(*member, 1, visit)) return true;
    return std::any_of(root.begin(), root.end(), [&](const auto& child) { return search(step.name, child.value(), 1, visit); });
  }
  if (step.kind != Kind::kWildcard) return false;
  return std::any_of(root.begin(), root.end(), [&](const auto& child) { return walk(child.value(), 1, visit); });
}

std::vector<std::string> JsonPath::members() const {
  std::vector<std::string> names;
  for (const Step& step : steps_) {
    if (step.kind != Kind::kMember) return {};
    names.push_back(step.name);
  }
  return names;
}

}  // namespace BACKPLANE_API
