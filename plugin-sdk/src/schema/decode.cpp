#include "schema/decode.hpp"

#include <algorithm>

namespace backplane::schema {
namespace {

// Upstream keeps no more than this many problems of one body.
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

}  // namespace

std::string strict_path(const Frame& frame) {
  std::string out;
  append_steps(out, frame);
  return out;
}

std::string value_words(const Value& value, bool with_number) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "bool";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
    default: break;
  }
  if (!with_number) return "number";
  std::string text = to_json(value);
  // The tree does not keep the literal; one that was read as a double had a fraction or an exponent.
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
    field_path.clear();
    append_fields(field_path, *at);
    return;
  }
}

Decode::Decode(DecodeReport* report) : report_(report) {
  if (!report || report->duplicates.empty()) return;
  // The parser listed all of them first; they are listed again where the walk meets them.
  pending_ = std::move(report->duplicates);
  report->duplicates.clear();
  report->problems.erase(report->problems.begin(),
                         report->problems.begin() + static_cast<std::ptrdiff_t>(std::min(pending_.size(), report->problems.size())));
}

void Decode::type_error(const Value& value, bool with_number, std::string go_type, const Frame& frame) {
  if (first_) return;
  first_ = DecodeError{true, value_words(value, with_number), std::move(go_type), {}, {}};
  first_->put_at(frame);
}

void Decode::keep(std::string message) {
  if (!first_) first_ = DecodeError{false, std::move(message), {}, {}, {}};
}

bool Decode::fatal(std::string message) {
  if (!fatal_) fatal_ = DecodeError{false, std::move(message), {}, {}, {}};
  return false;
}

bool Decode::fatal_type_error(const Value& value, bool with_number, std::string go_type, const Frame& frame) {
  return fatal(DecodeError{true, value_words(value, with_number), std::move(go_type), {}, {}}, frame);
}

bool Decode::fatal(DecodeError error, const Frame& frame) {
  error.put_at(frame);
  if (!fatal_) fatal_ = std::move(error);
  return false;
}

std::optional<DecodeError> Decode::finish() { return fatal_ ? std::move(fatal_) : std::move(first_); }

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
