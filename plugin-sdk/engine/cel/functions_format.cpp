// format.named() and the functions of its result.
#include "backplane/types/names.hpp"
#include "cel/formats.hpp"
#include "cel/functions.hpp"
#include "cel/library_values.hpp"
#include "cel/named_formats.hpp"
#include "cel/url.hpp"

namespace backplane::cel_detail {
namespace {

using Problems = std::vector<std::string>;

template <NameRule kRule, bool kPrefix>
Problems name(std::string_view text) {
  return check_name(kRule, text, kPrefix);
}
Problems uri(std::string_view text) {
  std::string problem = request_uri_problem(text);
  return problem.empty() ? Problems() : Problems{std::move(problem)};
}
Problems uuid(std::string_view text) {
  return schema::matches_format("uuid", text) ? Problems() : Problems{"does not match the UUID format"};
}
Problems byte(std::string_view text) { return schema::matches_format("byte", text) ? Problems() : Problems{"invalid base64"}; }
Problems date(std::string_view text) { return schema::matches_format("date", text) ? Problems() : Problems{"invalid date"}; }
Problems datetime(std::string_view text) { return schema::matches_format("date-time", text) ? Problems() : Problems{"invalid datetime"}; }

constexpr FormatRow kRows[] = {
    {"dns1123Label", 30, name<NameRule::kDnsLabel, false>},
    {"dns1123Subdomain", 60, name<NameRule::kDnsSubdomain, false>},
    {"dns1035Label", 30, name<NameRule::kDns1035Label, false>},
    {"qualifiedName", 60, is_qualified_name},
    {"dns1123LabelPrefix", 30, name<NameRule::kDnsLabel, true>},
    {"dns1123SubdomainPrefix", 60, name<NameRule::kDnsSubdomain, true>},
    {"dns1035LabelPrefix", 30, name<NameRule::kDns1035Label, true>},
    {"labelValue", 40, is_valid_label_value},
    {"uri", 1103, uri},
    {"uuid", 70, uuid},
    {"byte", 84, byte},
    {"date", 71, date},
    {"datetime", 71, datetime},
};

Val format_val(Arena& arena, const FormatRow& row) {
  FormatVal out{};
  out.kind = OpaqueKind::kFormat;
  out.row = &row;
  return opaque_val(arena.keep(out));
}

template <std::size_t kRow>
Val constant(Call& call) {
  return format_val(call.arena, kRows[kRow]);
}

Val named(Call& call) {
  const FormatRow* row = find_format(call.text(0));
  return row == nullptr ? none_val() : some_val(call.arena, format_val(call.arena, *row));
}

Val validate(Call& call) {
  const Problems problems = as<FormatVal>(call[0]).row->problems(call.text(1));
  if (problems.empty()) return none_val();
  Val* items = call.arena.allocate<Val>(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) items[i] = kept_string(call.arena, problems[i]);
  return some_val(call.arena, list_val(items, problems.size()));
}

constexpr Implementation kFunctions[] = {
    {"format.dns1123Label", constant<0>},
    {"format.dns1123Subdomain", constant<1>},
    {"format.dns1035Label", constant<2>},
    {"format.qualifiedName", constant<3>},
    {"format.dns1123LabelPrefix", constant<4>},
    {"format.dns1123SubdomainPrefix", constant<5>},
    {"format.dns1035LabelPrefix", constant<6>},
    {"format.labelValue", constant<7>},
    {"format.uri", constant<8>},
    {"format.uuid", constant<9>},
    {"format.byte", constant<10>},
    {"format.date", constant<11>},
    {"format.datetime", constant<12>},
    {"format-named", named},
    {"format-validate", validate},
};

}  // namespace

const FormatRow* find_format(std::string_view name) noexcept {
  for (const FormatRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::span<const Implementation> format_functions() { return kFunctions; }

}  // namespace backplane::cel_detail
