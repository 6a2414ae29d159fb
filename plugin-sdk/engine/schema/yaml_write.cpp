// JSON trees as YAML, byte for byte as go-yaml v2 emits them: block style, keys in its natural order, lines folded at 80 columns.
#include <algorithm>

#include "backplane/types/schema.hpp"
#include "schema/yaml_scalar.hpp"
#include "schema/yaml_text.hpp"

namespace backplane BACKPLANE_API {
namespace {

class Emitter {
 public:
  explicit Emitter(std::string& out) : out_(out) {}

  void value(const Value& value, int indent, bool in_sequence) {
    if (value.is_object() && !value.get_object().empty()) {
      object(value.get_object(), indent, in_sequence);
    } else if (value.is_array() && !value.get_array().empty()) {
      array(value.get_array(), indent, in_sequence);
    } else {
      out_ += ' ';
      scalar(value, indent);
    }
  }
  void document(const Value& value) {
    if ((value.is_object() && !value.get_object().empty()) || (value.is_array() && !value.get_array().empty())) {
      first_ = true;
      this->value(value, 0, true);
    } else {
      scalar(value, 0);
    }
  }

 private:
  // Begins an entry of a block collection, on a new line or after "- ".
  void begin_line(int indent, bool& inline_first) {
    if (inline_first) {
      if (!first_) out_ += ' ';
    } else {
      out_.append(static_cast<std::size_t>(indent), ' ');
    }
    inline_first = false;
    first_ = false;
  }

  void object(const Object& object, int indent, bool in_sequence) {
    std::vector<const json::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return schema::yaml_key_less(a->key(), b->key()); });
    bool inline_first = in_sequence;
    if (!in_sequence) out_ += '\n';
    for (const auto* member : members) {
      begin_line(indent, inline_first);
      key(member->key(), indent);
      // Lists have their key's indent, maps one step more.
      const bool list = member->value().is_array();
      value(member->value(), list ? indent : indent + 2, false);
    }
  }
  void key(std::string_view text, int indent) {
    if (schema::is_simple_key(text)) {
      schema::append_yaml_text(out_, text, column(), indent, true);
    } else {
      out_ += "? ";
      schema::append_yaml_text(out_, text, column(), indent, false);
      out_ += '\n';
      out_.append(static_cast<std::size_t>(indent), ' ');
    }
    out_ += ':';
  }
  void array(const Array& array, int indent, bool in_sequence) {
    bool inline_first = in_sequence;
    if (!in_sequence) out_ += '\n';
    for (const Value& item : array) {
      begin_line(indent, inline_first);
      out_ += '-';
      value(item, indent + 2, true);
    }
  }
  void scalar(const Value& value, int indent) {
    if (value.is_string()) {
      schema::append_yaml_text(out_, value.get_string(), column(), indent, false);
    } else if (value.is_object() || value.is_array()) {
      out_ += value.is_object() ? "{}" : "[]";
    } else if (value.is_double()) {
      schema::append_yaml_double(out_, value.get_double());
    } else {
      append_json(out_, value);
    }
    out_ += '\n';
  }
  std::size_t column() const noexcept {
    const std::size_t line = out_.rfind('\n');
    return line == std::string::npos ? out_.size() : out_.size() - line - 1;
  }

  std::string& out_;
  bool first_ = false;
};

}  // namespace

std::string to_yaml(const Value& value) {
  std::string out;
  Emitter(out).document(value);
  return out;
}

}  // namespace BACKPLANE_API
