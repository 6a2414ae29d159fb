#include "field_path.hpp"

#include <algorithm>
#include <optional>

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// Splits a path into '.', '[', ']' and the texts between them; a text in single quotes is one piece.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : left_(text) {}

  std::optional<std::string_view> next() {
    if (left_.empty()) return std::nullopt;
    const std::size_t size = length();
    const std::string_view piece = left_.substr(0, size);
    left_.remove_prefix(size);
    return piece;
  }

 private:
  std::size_t length() const {
    if (left_.front() == '\'') {
      for (std::size_t i = 1; i < left_.size(); ++i) {
        if (left_[i] == '\'' && left_[i - 1] != '\\') return i + 1;
      }
      return left_.size();
    }
    const std::size_t end = left_.find_first_of(".[]");
    return end == std::string_view::npos ? left_.size() : std::max<std::size_t>(end, 1);
  }

  std::string_view left_;
};

// The text between single quotes; sets `problem` for an invalid escape.
std::string unquoted(std::string_view text, std::string& problem) {
  constexpr std::string_view kNames = "abfnrtv'\\";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v'\\";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const std::size_t escape = kNames.find(text[++i]);
    if (escape == std::string_view::npos)
      problem = "invalid string literal: invalid escape char \\" + std::string(1, text[i]);
    else
      out += kMeant[escape];
  }
  return out;
}

class Walk {
 public:
  explicit Walk(const Object& schema) { out_.schema = &schema; }

  FieldPath to(std::string_view path, bool brackets) {
    Pieces pieces(path);
    while (const auto piece = pieces.next()) {
      if (*piece == "[")
        bracket(pieces, brackets);
      else if (*piece == ".")
        dot(pieces);
      else
        fail("expected [ or . but got: " + std::string(*piece));
      if (!out_.problem.empty()) break;
    }
    return std::move(out_);
  }

 private:
  void fail(std::string problem) {
    if (out_.problem.empty()) out_.problem = std::move(problem);
  }

  void dot(Pieces& pieces) {
    const auto name = pieces.next();
    if (name)
      step(std::string(*name));
    else
      fail("unexpected end of JSON path");
  }

  void bracket(Pieces& pieces, bool allowed) {
    if (!allowed) return fail("array notation is not allowed");
    const auto quoted = pieces.next();
    if (!quoted) return fail("unexpected end of JSON path");
    if (quoted->size() < 2 || quoted->front() != '\'' || quoted->back() != '\'')
      return fail("expected single quoted string but got " + std::string(*quoted));
    std::string problem;
    std::string name = unquoted(quoted->substr(1, quoted->size() - 2), problem);
    if (!problem.empty()) return fail(std::move(problem));
    step(std::move(name));
    if (!out_.problem.empty()) return;
    const auto end = pieces.next();
    if (!end) return fail("unexpected end of JSON path");
    if (*end != "]") fail("expected ] but got " + std::string(*end));
  }

  void step(std::string name) {
    const Object none;
    const Object& schema = out_.schema != nullptr ? *out_.schema : none;
    const Object& properties = object_or_empty(schema, "properties");
    const Value* additional = find(schema, "additionalProperties");
    if (!properties.empty()) {
      const Object* property = get_object(properties, name);
      if (property == nullptr) return fail("does not refer to a valid field");
      out_.schema = property;
      out_.text += (out_.text.empty() ? "" : ".") + name;
    } else if (additional != nullptr && !additional->is_null()) {
      out_.schema = additional->is_object() ? &additional->get_object() : nullptr;
      out_.text += "[" + name + "]";
    } else {
      return fail("does not refer to a valid field");
    }
    if (out_.root.empty()) out_.root = std::move(name);
  }

  FieldPath out_;
};

}  // namespace

FieldPath follow_path(std::string_view json_path, const Object& schema, bool brackets) { return Walk(schema).to(json_path, brackets); }

}  // namespace backplane::apiextensions
