// Path elements: making, reading and printing them.
#include <algorithm>

#include "fields/code.hpp"
#include "fields/wire.hpp"

namespace backplane BACKPLANE_API {
namespace {

std::string begin(PathElement::Kind kind) { return std::string(1, static_cast<char>(kind)); }

void append_element_text(std::string& out, const PathElement& element, bool exact) {
  fields::CodeReader reader(element.code().substr(1), exact);
  switch (element.kind()) {
    case PathElement::Kind::kField:
      out.append(".").append(element.name());
      return;
    case PathElement::Kind::kKey:
      out += '[';
      for (bool first = true; reader.next_member(); first = false) {
        if (!first) out += ',';
        out += reader.text();
        out += '=';
        reader.append_printed_value(out);
      }
      out += ']';
      return;
    case PathElement::Kind::kValue:
      out += "[=";
      reader.append_printed_value(out);
      out += ']';
      return;
    case PathElement::Kind::kIndex:
      out += '[' + std::to_string(reader.index()) + ']';
  }
}

}  // namespace

PathElement PathElement::field(std::string_view name) {
  std::string code;
  code.reserve(name.size() + 1);
  code.push_back(static_cast<char>(Kind::kField));
  code.append(name);
  return PathElement(std::move(code));
}

PathElement PathElement::key(std::span<const Member> members) {
  std::string code = begin(Kind::kKey);
  const auto before = [](const Member& a, const Member& b) { return a.name < b.name; };
  if (std::is_sorted(members.begin(), members.end(), before)) {
    for (const Member& member : members) fields::append_member_code(code, member.name, *member.value);
    return PathElement(std::move(code));
  }
  std::vector<Member> sorted(members.begin(), members.end());
  std::stable_sort(sorted.begin(), sorted.end(), before);
  for (const Member& member : sorted) fields::append_member_code(code, member.name, *member.value);
  return PathElement(std::move(code));
}

PathElement PathElement::value(const Value& item) {
  std::string code = begin(Kind::kValue);
  fields::append_value_code(code, item);
  return PathElement(std::move(code));
}

PathElement PathElement::index(std::int64_t at) { return PathElement(begin(Kind::kIndex) + fields::index_code(at)); }

Result<std::optional<PathElement>> PathElement::parse(std::string_view wire) {
  std::string code;
  switch (fields::read_element(wire, code)) {
    case fields::Read::kDone:
      return std::optional<PathElement>(PathElement(std::move(code)));
    case fields::Read::kUnknown:
      return std::optional<PathElement>();
    default:
      return bad_request("not a path element: " + quoted(wire));
  }
}

void PathElement::append_wire(std::string& out) const {
  fields::CodeReader reader(std::string_view(code_).substr(1));
  switch (kind()) {
    case Kind::kField:
      out.append("f:").append(name());
      return;
    case Kind::kKey: {
      out += "k:{";
      for (bool first = true; reader.next_member(); first = false) {
        if (!first) out += ',';
        append_json_string(out, reader.text());
        out += ':';
        reader.append_json_value(out);
      }
      out += '}';
      return;
    }
    case Kind::kValue:
      out += "v:";
      return reader.append_json_value(out);
    case Kind::kIndex:
      out += "i:" + std::to_string(reader.index());
  }
}

void PathElement::append_text(std::string& out) const { append_element_text(out, *this, false); }

std::string path_text(std::span<const PathElement> path) {
  std::string out;
  for (const PathElement& element : path) element.append_text(out);
  return out;
}

FieldPath fields_path(std::initializer_list<std::string_view> names) {
  FieldPath out;
  out.reserve(names.size());
  for (const std::string_view name : names) out.push_back(PathElement::field(name));
  return out;
}

}  // namespace BACKPLANE_API

namespace backplane::fields {

void append_exact_text(std::string& out, const PathElement& element) { append_element_text(out, element, true); }

}  // namespace backplane::fields
