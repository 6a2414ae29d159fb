// Converts values of a bound tree by their declared types.
#include "backplane/types/cel.hpp"
#include "cel/times.hpp"
#include "cel/value.hpp"
#include "text/base64.hpp"

namespace backplane::cel_detail {
namespace {

using Form = cel::DeclType::Form;

Val error_of(Arena& arena, const std::string& text) { return error_val(arena, text); }

std::string_view go_name(const backplane::Value& tree) noexcept {
  switch (tree.kind()) {
    case json::kind::null:
      return "<nil>";
    case json::kind::bool_:
      return "bool";
    case json::kind::int64:
    case json::kind::uint64:
      return "int64";
    case json::kind::double_:
      return "float64";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "[]interface {}";
    case json::kind::object:
      return "map[string]interface {}";
  }
  return "";
}

Val wrong(Arena& arena, std::string_view expected, const backplane::Value& tree) {
  return error_of(arena, "invalid data, expected " + std::string(expected) + ", got " + std::string(go_name(tree)));
}

Val of_array(const Array& array, const cel::DeclType* decl) {
  Val out;
  out.kind = ValKind::kList;
  out.place = Place::kTree;
  out.array = &array;
  out.decl = decl;
  return out;
}

Val of_object(const Object& object, const cel::DeclType* decl) noexcept {
  Val out;
  out.kind = ValKind::kMap;
  out.place = Place::kTree;
  out.object = &object;
  out.decl = decl;
  return out;
}

Val of_string(const json::string& text) { return string_val({text.data(), text.size()}); }

Val dynamic(const backplane::Value& tree) {
  switch (tree.kind()) {
    case json::kind::null:
      return null_val();
    case json::kind::bool_:
      return bool_val(tree.get_bool());
    case json::kind::int64:
      return int_val(tree.get_int64());
    case json::kind::uint64:
      return uint_val(tree.get_uint64());
    case json::kind::double_:
      return double_val(tree.get_double());
    case json::kind::string:
      return of_string(tree.get_string());
    case json::kind::array:
      return of_array(tree.get_array(), nullptr);
    case json::kind::object:
      return of_object(tree.get_object(), nullptr);
  }
  return {};
}

Val number(Arena& arena, const backplane::Value& tree) {
  if (tree.is_double()) return double_val(tree.get_double());
  if (tree.is_int64()) return double_val(static_cast<double>(tree.get_int64()));
  if (tree.is_uint64()) return double_val(static_cast<double>(tree.get_uint64()));
  return wrong(arena, "float", tree);
}

Val instant(Arena& arena, std::string_view text, Form form) {
  std::string error;
  const auto time = form == Form::kDate ? parse_date(text, error) : parse_date_time(text, error);
  if (time) return timestamp_val(time->seconds, time->nanos, time->zone);
  const std::string_view what = form == Form::kDate ? "date" : "date-time";
  return error_of(arena, "Invalid " + std::string(what) + " formatted string " + std::string(text) + ": " + error);
}

// Upstream decodes the URL alphabet here, unlike in other uses of the format.
Val plain_bytes(Arena& arena, std::string_view text) {
  std::string standard(text), bytes;
  for (char& c : standard) c = c == '-' ? '+' : c == '_' ? '/' : c == '+' || c == '/' ? '!' : c;
  const auto bad = schema::decode_go_base64(standard, bytes);
  if (!bad) return bytes_val(arena.keep_text(bytes));
  return error_of(arena,
                  "Invalid byte formatted string " + std::string(text) + ": illegal base64 data at input byte " + std::to_string(*bad));
}

Val formatted(Arena& arena, const backplane::Value& tree, Form form) {
  if (!tree.is_string()) return wrong(arena, "string", tree);
  const std::string_view text = tree.get_string();
  if (form == Form::kDate || form == Form::kDateTime) return instant(arena, text, form);
  if (form == Form::kDuration) {
    std::string error;
    if (const auto duration = parse_format_duration(text, error)) return duration_val(*duration);
    return error_of(arena, "Invalid duration " + std::string(text) + ": " + error);
  }
  return plain_bytes(arena, text);
}

Val int_or_string(Arena& arena, const backplane::Value& tree) {
  if (tree.is_string()) return of_string(tree.get_string());
  if (tree.is_int64()) return int_val(tree.get_int64());
  return error_of(arena, "invalid data, expected XIntOrString value to be either a string or integer");
}

}  // namespace

Val object_val(const Object& object) noexcept { return of_object(object, nullptr); }

Val tree_val(Arena& arena, const backplane::Value& tree, const cel::DeclType* decl) {
  if (decl == nullptr) return dynamic(tree);
  if (decl->form == Form::kDyn && !decl->int_or_string) return dynamic(tree);
  if (tree.is_null()) return decl->nullable ? null_val() : error_val("invalid data, got null for schema with nullable=false");
  switch (decl->form) {
    case Form::kDyn:
      return int_or_string(arena, tree);
    case Form::kBool:
      return tree.is_bool() ? bool_val(tree.get_bool()) : wrong(arena, "bool", tree);
    case Form::kInt:
      return tree.is_int64() ? int_val(tree.get_int64()) : wrong(arena, "int", tree);
    case Form::kDouble:
      return number(arena, tree);
    case Form::kString:
      return tree.is_string() ? of_string(tree.get_string()) : wrong(arena, "string", tree);
    case Form::kBytes:
    case Form::kDuration:
    case Form::kDate:
    case Form::kDateTime:
      return formatted(arena, tree, decl->form);
    case Form::kList:
      if (tree.is_array()) return of_array(tree.get_array(), decl);
      return error_val("invalid data, expected an array for the provided schema with type=array");
    case Form::kMap:
    case Form::kObject:
      if (tree.is_object()) return of_object(tree.get_object(), decl);
      return error_val("invalid data, expected a map for the provided schema with type=object");
    case Form::kOptional:
      return some_val(arena, tree_val(arena, tree, decl->items.get()));
    case Form::kNamed:
      return dynamic(tree);
  }
  return {};
}

}  // namespace backplane::cel_detail
