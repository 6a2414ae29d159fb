// Field selectors: apimachinery pkg/fields.
#include <algorithm>

#include "backplane/core/selectors.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Splits a selector at its commas; a backslash escapes a comma.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t first = 0;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\') {
      escaped = true;
    } else if (text[i] == ',') {
      out.push_back(text.substr(first, i - first));
      first = i + 1;
    }
  }
  out.push_back(text.substr(first));
  return out;
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\\') {
      const std::string_view sequence = text.substr(i, 2);
      if (sequence.size() < 2 || std::string_view("\\,=").find(sequence[1]) == std::string_view::npos) {
        return bad_request("invalid field selector: invalid escape sequence: " + std::string(sequence));
      }
      out.push_back(sequence[1]);
      ++i;
    } else if (letter == ',' || letter == '=') {
      return bad_request("invalid field selector: unescaped character in value: " + std::to_string(static_cast<int>(letter)));
    } else {
      out.push_back(letter);
    }
  }
  return out;
}

// Splits a term at its first operator.
bool split_term(std::string_view term, std::string_view& field, bool& equals, std::string_view& value) noexcept {
  for (std::size_t i = 0; i < term.size(); ++i) {
    const std::string_view rest = term.substr(i);
    const bool unequal = rest.starts_with("!=");
    if (!unequal && rest.front() != '=') continue;
    field = term.substr(0, i);
    equals = !unequal;
    value = rest.substr(unequal || rest.starts_with("==") ? 2 : 1);
    return true;
  }
  return false;
}

std::string escape(std::string_view text) {
  std::string out;
  for (char letter : text) {
    if (letter == '\\' || letter == ',' || letter == '=') out.push_back('\\');
    out.push_back(letter);
  }
  return out;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  std::vector<std::string_view> terms = split_terms(text);
  std::sort(terms.begin(), terms.end());
  FieldSelector out;
  for (std::string_view term : terms) {
    if (term.empty()) continue;
    std::string_view field, value;
    bool equals = true;
    if (!split_term(term, field, equals, value)) {
      return bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" + std::string(term) + "'");
    }
    auto plain = unescape(value);
    if (!plain.ok()) return std::move(plain).status();
    if (field.empty() && plain->empty()) continue;  // as upstream, a term without field and value matches every object, with any operator
    out.requirements_.push_back({std::string(field), equals, std::move(*plain)});
  }
  return out;
}

bool FieldSelector::matches(const std::function<std::string_view(std::string_view field)>& get) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& each) { return (get(each.field) == each.value) == each.equals; });
}

Result<FieldSelector> FieldSelector::renamed(const std::function<Result<std::string>(std::string_view field)>& name_of) const {
  FieldSelector out;
  for (const Requirement& each : requirements_) {
    auto name = name_of(each.field);
    if (!name.ok()) return std::move(name).status();
    out.requirements_.push_back({std::move(*name), each.equals, each.value});
  }
  return out;
}

std::string FieldSelector::to_string() const {
  std::string out;
  for (const Requirement& each : requirements_) {
    out.append(out.empty() ? "" : ",").append(each.field).append(each.equals ? "=" : "!=").append(escape(each.value));
  }
  return out;
}

}  // namespace BACKPLANE_API
