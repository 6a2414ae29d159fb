#include "schema/decode.hpp"

#include <algorithm>

#include "backplane/core/json_kind.hpp"

namespace backplane::schema {
namespace {

// Upstream reports at most this many problems of one body.
constexpr std::size_t kMaxProblems = 100;

void append_fields(std::string& out, const Frame& frame) {
  if (frame.parent) append_fields(out, *frame.parent);
  if (frame.step != Frame::Step::kField) return;
  if (!out.empty()) out.push_back('.');
  if (!frame.embedded.empty()) out.append(frame.embedded).push_back('.');
  out.append(frame.name);
}

void append_steps(std::string& out, const Frame& frame) {
  if (frame.parent) append_steps(out, *frame.parent);
  if (frame.step == Frame::Step::kRoot) return;
  if (frame.step == Frame::Step::kIndex) {
    out.append("[").append(std::to_string(frame.index)).append("]");
    return;
  }
  if (!out.empty()) out.push_back('.');
  out.append(frame.name);
}

// reflect's type name for a value of a decoded JSON tree.
std::string_view go_kind(const Value& value) noexcept {
  if (value.is_object()) return "map";
  if (value.is_array()) return "slice";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  return value.is_double() ? "float64" : "int64";
}

std::string_view plain_kind(Form form) noexcept {
  switch (form) {
    case Form::kBool:
      return "bool";
    case Form::kInt32:
      return "int32";
    case Form::kInt64:
      return "int64";
    case Form::kDouble:
      return "float64";
    default:
      return "string";
  }
}

// runtime.FromUnstructured's message for a value that is not of the type.
std::string restore_error(const Value& value, const Type& type) {
  const std::string kind(go_kind(value));
  switch (type.form()) {
    case Form::kMap:
      return "cannot restore map from " + kind;
    case Form::kList:
    case Form::kBytes:
      return "cannot restore slice from " + kind;
    case Form::kStruct:
      return "cannot restore struct from: " + kind;
    default:
      break;
  }
  // Conversions that Go's reflect could do (integer to string, number to number) are refused upstream too.
  const bool number = value.is_number();
  const bool convertible = (number && type.form() != Form::kBool && type.form() != Form::kString) ||
                           (number && !value.is_double() && type.form() == Form::kString);
  if (convertible) return "cannot convert " + kind + " to " + type.go_type();
  return "unrecognized type: " + std::string(plain_kind(type.form()));
}

}  // namespace

std::string strict_path(const Frame& frame) {
  std::string out;
  append_steps(out, frame);
  return out;
}

std::string value_words(const Value& value, bool with_number) {
  if (!with_number || !value.is_number()) return std::string(json_kind(value));
  std::string text = to_json(value);
  // The tree does not hold the literal; a literal that became a double had a fraction or an exponent.
  if (value.is_double() && text.find_first_of(".e") == std::string::npos && text.size() < 19) text += ".0";
  return "number " + text;
}

std::string DecodeError::message() const {
  if (!of_type) return what;
  if (struct_name.empty() && field_path.empty()) return "json: cannot unmarshal " + what + " into Go value of type " + go_type;
  return "json: cannot unmarshal " + what + " into Go struct field " + struct_name + "." + field_path + " of type " + go_type;
}

void DecodeError::put_at(const Frame& frame) {
  if (!of_type) return;
  for (const Frame* at = &frame; at; at = at->parent) {
    if (at->step != Frame::Step::kField) continue;
    struct_name = at->holder->go_struct_name();
    std::string path;
    append_fields(path, *at);
    // An error of a nested decoding has its path appended to the outer one.
    field_path = field_path.empty() ? std::move(path) : path + "." + field_path;
    return;
  }
}

Decode::Decode(DecodeReport* report) : report_(report) {
  if (!report || report->duplicates.empty()) return;
  // The parser has reported all duplicates first; they are reported again in the order of the walk.
  pending_ = std::move(report->duplicates);
  report->duplicates.clear();
  report->problems.erase(report->problems.begin(),
                         report->problems.begin() + static_cast<std::ptrdiff_t>(std::min(pending_.size(), report->problems.size())));
}

bool Decode::type_error(const Value& value, bool with_number, const Type& type, const Frame& frame) {
  if (restores()) return fatal(restore_error(value, type));
  return type_error(value, with_number, type.go_type(), frame);
}

bool Decode::type_error(const Value& value, bool with_number, std::string go_type, const Frame& frame) {
  if (first_) return true;
  first_ = DecodeError{true, value_words(value, with_number), std::move(go_type), {}, {}};
  first_->put_at(frame);
  return true;
}

bool Decode::keep(std::string message) {
  if (restores()) return fatal("error decoding from json: " + message);
  if (!first_) first_ = DecodeError{false, std::move(message), {}, {}, {}};
  return true;
}

bool Decode::fatal(std::string message) {
  if (!fatal_) fatal_ = DecodeError{false, std::move(message), {}, {}, {}};
  return false;
}

bool Decode::fatal_type_error(const Value& value, bool with_number, std::string go_type, const Frame& frame) {
  DecodeError error{true, value_words(value, with_number), std::move(go_type), {}, {}};
  return restores() ? fatal(error.message()) : fatal(std::move(error), frame);
}

bool Decode::fatal(DecodeError error, const Frame& frame) {
  error.put_at(frame);
  if (!fatal_) fatal_ = std::move(error);
  return false;
}

std::optional<DecodeError> Decode::finish() {
  if (restores()) std::sort(report_->problems.begin(), report_->problems.end());
  return fatal_ ? std::move(fatal_) : std::move(first_);
}

void Decode::unknown_field(const Frame& frame, std::string_view name) {
  if (report_) add_problem("unknown field ", frame, name);
}

void Decode::repeated_field(const Frame& frame, std::string_view name) {
  const std::string parent = strict_path(frame);
  for (const DuplicateField& duplicate : pending_) {
    if (duplicate.key == name && duplicate.parent == parent) add_problem("duplicate field ", frame, name);
  }
}

void Decode::add_problem(std::string_view what, const Frame& frame, std::string_view name) {
  std::vector<std::string>& problems = report_->problems;
  if (problems.size() >= kMaxProblems) return;
  std::string path = strict_path(frame);
  if (!path.empty()) path.push_back('.');
  path.append(name);
  std::string text = std::string(what) + quoted(path);
  if (std::find(problems.begin(), problems.end(), text) == problems.end()) problems.push_back(std::move(text));
}

}  // namespace backplane::schema
