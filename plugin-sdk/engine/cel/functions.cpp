#include "cel/functions.hpp"

#include <map>
#include <vector>

namespace backplane::cel_detail {
namespace {

std::vector<Function> make_table() {
  std::map<std::string_view, Function> by_id;
  for (const auto part :
       {operator_functions(), conversion_functions(), time_functions(), string_functions(), regex_functions(), math_functions(),
        set_functions(), list_functions(), kubernetes_list_functions(), optional_functions(), encoder_functions(), url_functions(),
        quantity_functions(), address_functions(), format_functions(), semver_functions(), authorizer_functions()}) {
    for (const Implementation& row : part) by_id.emplace(row.id, row.function);
  }
  std::vector<Function> out(overloads().size(), nullptr);
  for (const Overload& overload : overloads()) {
    const auto found = by_id.find(overload.id);
    if (found != by_id.end()) out[overload.index] = found->second;
  }
  return out;
}

std::string_view runtime_name(const Type& type) noexcept {
  switch (type.kind) {
    case TypeKind::kNull:
      return "null_type";
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kInt:
      return "int";
    case TypeKind::kUint:
      return "uint";
    case TypeKind::kDouble:
      return "double";
    case TypeKind::kString:
      return "string";
    case TypeKind::kBytes:
      return "bytes";
    case TypeKind::kDuration:
      return "google.protobuf.Duration";
    case TypeKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::kList:
      return "list";
    case TypeKind::kMap:
      return "map";
    case TypeKind::kType:
      return "type";
    default:
      return type.name;
  }
}

bool fits_all(Arena& arena, const Type& type, const Val& value) {
  if (type.kind == TypeKind::kList && list_size(value) != 0) return fits(arena, *type.parameters[0], list_at(arena, value, 0));
  if (type.kind != TypeKind::kMap || map_size(value) == 0) return true;
  bool out = true;
  map_each(arena, value, [&](const Val& key, const Val& item) {
    out = fits(arena, *type.parameters[0], key) && fits(arena, *type.parameters[1], item);
    return false;  // the first entry decides for all
  });
  return out;
}

}  // namespace

Function implementation_of(const Overload& overload) {
  static const std::vector<Function> table = make_table();
  return table[overload.index];
}

bool is_special(std::string_view id) noexcept {
  constexpr std::string_view kIds[] = {"conditional",
                                       "logical_and",
                                       "logical_or",
                                       "not_strictly_false",
                                       "index_list",
                                       "index_map",
                                       "index_message",
                                       "select_optional_field",
                                       "list_optindex_optional_int",
                                       "optional_list_optindex_optional_int",
                                       "map_optindex_optional_value",
                                       "optional_map_optindex_optional_value",
                                       "optional_list_index_int",
                                       "optional_map_index_value",
                                       "optional_or_optional",
                                       "optional_orValue_value",
                                       "cel_block_list"};
  for (const std::string_view special : kIds) {
    if (special == id) return true;
  }
  return false;
}

bool fits(Arena& arena, const Type& type, const Val& value) {
  if (type.kind == TypeKind::kDyn || type.kind == TypeKind::kParam || type.kind == TypeKind::kAny) return true;
  if (value.is_error() || runtime_name(type) != type_name(value)) return false;
  return fits_all(arena, type, value);
}

}  // namespace backplane::cel_detail
