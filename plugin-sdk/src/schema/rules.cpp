// Reads x-backplane-rules.
#include "schema/rules.hpp"

#include <algorithm>
#include <limits>

#include "backplane/kit/addresses.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/resource_names.hpp"
#include "schema/compiler.hpp"
#include "schema/scalars.hpp"

namespace backplane::schema {
namespace {

Problems is_absolute_path(std::string_view text) { return text.starts_with('/') ? Problems() : Problems{"must be an absolute path"}; }

Problems is_finalizer(std::string_view text) {
  Problems out = is_qualified_name(text);
  if (text.find('/') == std::string_view::npos && text != "kubernetes" && text != "orphan" && text != "foregroundDeletion") {
    out.emplace_back("name is neither a standard finalizer name nor is it fully qualified");
  }
  return out;
}

// A path inside a volume: relative, and never up.
Problems is_local_path(std::string_view text) {
  Problems out;
  if (text.starts_with('/')) out.emplace_back("must be a relative path");
  for (std::string_view rest = text;;) {
    const auto slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      out.emplace_back("must not contain '..'");
      return out;
    }
    if (slash == std::string_view::npos) return out;
    rest.remove_prefix(slash + 1);
  }
}

Problems has_no_backsteps(std::string_view text) {
  Problems out = is_local_path(text.starts_with('/') ? text.substr(1) : text);
  return out;
}

Problems is_http_header_name(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), allowed)) return {};
  return {
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is "
      "'[-A-Za-z0-9]+')"};
}

// An apiVersion with a group.
Problems is_group_version(std::string_view text) {
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (slashes > 1) return {"unexpected GroupVersion string: " + std::string(text)};
  return slashes == 1 && text.front() != '/' ? Problems() : Problems{"apiVersion must specify API group"};
}

// Drivers' names are looked at in lower case.
Problems is_driver_name(std::string_view text) { return is_dns1123_subdomain(kit::lower_case(text)); }

void add_part(std::string_view part, const Problems& found, Problems& out) {
  for (const std::string& problem : found) out.push_back(std::string(part) + problem);
}

// An apiVersion with a group or without.
Problems is_api_version(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') > 1) {
    return {
        "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"};
  }
  const auto slash = text.find('/');
  const std::string_view version = slash == std::string_view::npos ? text : text.substr(slash + 1);
  Problems out;
  if (slash == 0) out.emplace_back("group part: must be non-empty");
  if (slash != 0 && slash != std::string_view::npos) add_part("group part: ", is_dns1123_subdomain(text.substr(0, slash)), out);
  if (version.empty()) {
    out.emplace_back("version part: must be non-empty");
  } else {
    add_part("version part: ", is_dns1035_label(version), out);
  }
  return out;
}

// The one word that says why a condition is as it is.
Problems is_condition_reason(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto plain = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  const auto inner = [&](char c) { return plain(c) || c == ',' || c == ':'; };
  if (!text.empty() && letter(text.front()) && plain(text.back()) && std::all_of(text.begin(), text.end(), inner)) return {};
  return {
      "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and "
      "must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or "
      "'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"};
}

// An address that others can reach.
Problems special_ip_problems(std::string_view text) {
  const auto address = kit::parse_ip(text);
  if (!address) return {"must be a valid IP address"};
  const auto& bytes = address->bytes;
  const bool four = !address->six || address->mapped();
  const auto zeros = [&](std::size_t from, std::size_t to) { return std::all_of(&bytes[from], &bytes[to], [](auto b) { return b == 0; }); };
  Problems out;
  if (zeros(four ? 12 : 0, 16)) out.push_back("may not be unspecified (" + std::string(text) + ")");
  const bool loopback = four ? bytes[12] == 127 : zeros(0, 15) && bytes[15] == 1;
  if (loopback) out.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  const bool link_local = four ? bytes[12] == 169 && bytes[13] == 254 : bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
  if (link_local) out.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  const bool multicast = four ? bytes[12] == 224 && zeros(13, 15) : bytes[0] == 0xFF && (bytes[1] & 0x0F) == 2;
  if (multicast) out.emplace_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  return out;
}

Problems external_ip_problems(std::string_view text) {
  Problems out = kit::legacy_ip_problems(text);
  return out.empty() ? special_ip_problems(text) : out;
}

// What is no address at all is said to be none twice.
Problems endpoint_ip_problems(std::string_view text) {
  Problems out = kit::legacy_ip_problems(text);
  for (std::string& problem : special_ip_problems(text)) out.push_back(std::move(problem));
  return out;
}

// What newer fields take: the canonical text and no other.
Problems strict_ip_problems(std::string_view text) {
  Problems out = kit::legacy_ip_problems(text);
  if (!out.empty()) return out;
  const std::string canonical = kit::print_ip(*kit::parse_ip(text));
  return text == canonical ? Problems() : Problems{"must be in canonical form (" + quoted(canonical) + ")"};
}

Problems is_no_ip(std::string_view text) { return kit::parse_ip(text) ? Problems{"must be a DNS name, not an IP address"} : Problems(); }

// A DNS name, or all names below one: "*.example.com".
Problems is_dns_pattern(std::string_view text) {
  if (text.find('*') == std::string_view::npos) return is_dns1123_subdomain(text);
  constexpr std::size_t kLongest = 253;
  Problems out;
  if (text.size() > kLongest) out.push_back("must be no more than " + std::to_string(kLongest) + " characters");
  // The length is the whole text's; labels may be as long as they like.
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool good = text.starts_with("*.");
  for (std::string_view rest = good ? text.substr(2) : std::string_view(); good;) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    good = !label.empty() && letter(label.front()) && letter(label.back()) &&
           std::all_of(label.begin(), label.end(), [&](char c) { return letter(c) || c == '-'; });
    if (label.size() == rest.size()) break;
    rest.remove_prefix(label.size() + 1);
  }
  if (!good) {
    out.emplace_back(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case "
        "alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is "
        "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return out;
}

// A path that names one place, however it is read.
Problems is_plain_path(std::string_view text) {
  Problems out = is_absolute_path(text);
  for (const char* part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.find(part) != std::string_view::npos) out.push_back("must not contain '" + std::string(part) + "'");
  }
  for (const char* end : {"/..", "/."}) {
    if (text.ends_with(end)) out.push_back("cannot end with '" + std::string(end) + "'");
  }
  return out;
}

// A range that blanks may stand around.
Problems padded_cidr_problems(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return kit::legacy_cidr_problems(text);
}

struct FormatRow {
  std::string_view word;
  Problems (*check)(std::string_view);
};
constexpr FormatRow kFormats[] = {
    {"dns1123Label", is_dns1123_label},
    {"dns1123Subdomain", is_dns1123_subdomain},
    {"dns1035Label", is_dns1035_label},
    {"qualifiedName", is_qualified_name},
    {"labelValue", is_valid_label_value},
    {"pathSegment", is_path_segment_name},
    {"configMapKey", is_config_map_key},
    {"envVarName", is_env_var_name},
    {"portName", is_valid_port_name},
    {"ip", strict_ip_problems},
    {"notIp", is_no_ip},
    {"dnsPattern", is_dns_pattern},
    {"plainPath", is_plain_path},
    {"legacyIp", kit::legacy_ip_problems},
    {"legacyCidr", kit::legacy_cidr_problems},
    {"absolutePath", is_absolute_path},
    {"relativePath", is_local_path},
    {"noBacksteps", has_no_backsteps},
    {"driverName", is_driver_name},
    {"conditionReason", is_condition_reason},
    {"httpHeaderName", is_http_header_name},
    {"finalizer", is_finalizer},
    {"groupVersion", is_group_version},
    {"apiVersion", is_api_version},
    {"resourceName", resource_name_problems},
    {"containerResourceName", container_resource_name_problems},
    {"quotaResourceName", quota_resource_name_problems},
    {"externalIp", external_ip_problems},
    {"endpointIp", endpoint_ip_problems},
    {"paddedCidr", padded_cidr_problems},
};

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.get_array()) {
    if (item.is_string()) out.emplace_back(item.get_string());
  }
  return out;
}

std::string text_of(const Value& value) { return value.is_string() ? std::string(value.get_string()) : std::string(); }

std::string_view view_of(const Value* value) noexcept {
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

// "spec.type", or "/spec.type" below the whole object.
MemberPath path_of(std::string_view text) {
  MemberPath out;
  out.from_root = text.starts_with('/');
  if (out.from_root) text.remove_prefix(1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('.', begin), text.size());
    out.names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool is_there(const Value* value) { return value != nullptr && !value->is_null(); }
bool is_something(const Value* value) { return value != nullptr && number_or_percent(*value) != 0; }
bool is_text(const Value* value) { return value != nullptr && value->is_string(); }
bool is_positive(const Value* value) { return !view_of(value).empty() && compare_quantities(view_of(value), "0") > 0; }

struct TestRow {
  std::string_view word;
  bool (*test)(const Value*);
};
constexpr TestRow kTests[] = {
    {"there", is_there},       {"absent", [](const Value* value) { return !is_there(value); }},
    {"nonZero", is_something}, {"zero", [](const Value* value) { return !is_something(value); }},
    {"positive", is_positive}, {"notPositive", [](const Value* value) { return !is_positive(value); }},
    {"text", is_text},         {"number", [](const Value* value) { return is_there(value) && !is_text(value); }},
};

// Nothing when there is no such word.
std::vector<Condition> condition_set(const Object& members) {
  std::vector<Condition> out;
  for (const auto& [member, wanted] : members) {
    Condition& condition = out.emplace_back();
    condition.member = path_of(member);
    if (const Object* said = wanted.if_object(); said != nullptr && said->contains("as")) {
      condition.as = path_of(get_string(*said, "as"));
    } else if (wanted.is_object()) {
      const std::string_view word = get_string(wanted.get_object(), "is");
      const auto* row = std::find_if(std::begin(kTests), std::end(kTests), [&](const TestRow& each) { return each.word == word; });
      if (row == std::end(kTests)) return {};
      condition.is = row->test;
    } else if (wanted.is_array()) {
      for (const Value& each : wanted.get_array()) condition.values.emplace_back(each, json::storage_ptr());
    } else {
      condition.values.emplace_back(wanted, json::storage_ptr());
    }
  }
  return out;
}

// One set of conditions, or a list of them; nothing when one of them says nothing that makes sense.
Conditions conditions_of(const Value& value) {
  Conditions out;
  const Array sets = value.is_array() ? value.get_array() : Array{value};
  for (const Value& set : sets) {
    if (!set.is_object()) return {};
    out.push_back(condition_set(set.get_object()));
    if (out.back().empty()) return {};
  }
  return out;
}

struct TextWord {
  std::string_view word;
  std::string Rules::*text;
};
constexpr TextWord kTextWords[] = {
    {"enumText", &Rules::allowed_text},
    {"rangeText", &Rules::range_text},
    {"uniqueText", &Rules::unique_text},
    {"forbidden", &Rules::forbidden},
    {"refused", &Rules::refused},
    {"once", &Rules::once},
    {"rising", &Rules::rising},
    {"named", &Rules::named},
    {"path", &Rules::path},
    {"missing", &Rules::missing},
    {"perFamily", &Rules::per_family},
    {"single", &Rules::single},
    {"lengthText", &Rules::length_text},
    {"uniqueAt", &Rules::unique_at},
    {"wrong", &Rules::wrong},
    {"maxItemsText", &Rules::max_items_text},
    {"nonEmpty", &Rules::non_empty},
};
struct FlagWord {
  std::string_view word;
  bool Rules::*flag;
};
constexpr FlagWord kFlagWords[] = {
    {"both", &Rules::goes_on},       {"onCreate", &Rules::on_create},
    {"opaque", &Rules::opaque},      {"wholeList", &Rules::whole_list},
    {"holder", &Rules::holder},      {"whole", &Rules::whole},
    {"again", &Rules::again},        {"keeps", &Rules::keeps},
    {"asGo", &Rules::as_go},         {"whenChanged", &Rules::when_changed},
    {"emptyToo", &Rules::empty_too}, {"orQualified", &Rules::or_qualified},
    {"lowered", &Rules::lowered},    {"joined", &Rules::joined},
    {"unquoted", &Rules::unquoted},
};
struct ConditionWord {
  std::string_view word;
  Conditions Rules::*conditions;
};
constexpr ConditionWord kConditionWords[] = {
    {"when", &Rules::when},
    {"unless", &Rules::unless},
    {"whenWas", &Rules::when_was},
    {"unlessWas", &Rules::unless_was},
    {"unlessItem", &Rules::unless_item},
};
struct NumberWord {
  std::string_view word;
  std::optional<std::int64_t> Rules::*number;
};
constexpr NumberWord kNumberWords[] = {{"minimum", &Rules::minimum},      {"maximum", &Rules::maximum},
                                       {"maxLength", &Rules::max_length}, {"maxPercent", &Rules::max_percent},
                                       {"maxItems", &Rules::max_items},   {"maxEntries", &Rules::max_entries},
                                       {"maxBytes", &Rules::max_bytes}};

bool read_format(std::string_view word, Rules& out) {
  if (word == "port") return out.number = NumberFormat::kPort, true;
  if (word == "portOrName") return out.number = NumberFormat::kPortOrName, true;
  if (word == "intOrPercent") return out.number = NumberFormat::kIntOrPercent, true;
  if (word == "labels") return out.labels = true;
  if (word == "labelSelector") return out.label_selector = true;
  if (word == "jsonObject") return out.json_object = true;
  if (word == "conditions") return out.conditions = true;
  if (word == "notNegative") return out.not_negative = true;
  if (word == "positive") return out.positive = true;
  if (word == "dnsName") return out.format = is_dns1123_subdomain, out.trims_dot = true;
  for (const FormatRow& row : kFormats) {
    if (row.word == word) return out.format = row.check, true;
  }
  return false;
}

// Nothing when it says nothing that makes sense.
std::unique_ptr<Fixed> fixed_of(const Value& value) {
  const Object* words = value.if_object();
  if (words == nullptr || get_string(*words, "text").empty()) return nullptr;
  auto out = std::make_unique<Fixed>();
  out->text = get_string(*words, "text");
  out->as = get_string(*words, "as");
  const Array* but = get_array(*words, "but");
  for (const Value& each : but != nullptr ? *but : Array()) {
    Fixed::Change& change = out->may.emplace_back();
    if (each.is_string()) change.member = path_of(each.get_string());
    if (!each.is_object()) continue;
    change.member = path_of(get_string(each.get_object(), "member"));
    change.shows_new = get_string(each.get_object(), "shows") == "new";
    if (const Value* when = find(each.get_object(), "when")) change.when = conditions_of(*when);
    if (const Value* was = find(each.get_object(), "whenWas")) change.when_was = conditions_of(*was);
  }
  return out;
}

std::optional<StructRules::Limit::Side> side_of(std::string_view word) {
  using Side = StructRules::Limit::Side;
  if (word == "notAbove") return Side::kNotAbove;
  if (word == "notBelow") return Side::kNotBelow;
  if (word == "above") return Side::kAbove;
  return std::nullopt;
}

// One word of a rule; false when there is no such word, or it says nothing that makes sense.
bool read_word(std::string_view word, const Value& value, const Object& schema, Rules& out) {
  const bool said = value.is_string() || (value.is_bool() && value.get_bool());
  if (word == "required") {
    out.required_text = text_of(value);
    return out.required = said;
  }
  for (const TextWord& row : kTextWords) {
    if (row.word == word) return !(out.*row.text = text_of(value)).empty();
  }
  for (const FlagWord& row : kFlagWords) {
    if (row.word == word) return out.*row.flag = said;
  }
  for (const ConditionWord& row : kConditionWords) {
    if (row.word == word) return !(out.*row.conditions = conditions_of(value)).empty();
  }
  for (const NumberWord& row : kNumberWords) {
    if (row.word == word) return value.is_int64() ? (out.*row.number = value.get_int64(), true) : false;
  }
  if (word == "optional") return value.is_bool() ? (out.optional = value.get_bool(), true) : false;
  if (word == "enum") {
    const Value* published = find(schema, "enum");
    if (published == nullptr && get_object(schema, "items") != nullptr) published = find(*get_object(schema, "items"), "enum");
    out.allowed = value.is_array() ? texts_of(value) : published != nullptr ? texts_of(*published) : std::vector<std::string>();
    return !out.allowed.empty();
  }
  if (word == "alone") return !(out.alone = text_of(value)).empty();
  if (word == "format") return value.is_string() && read_format(value.get_string(), out);
  if (word == "fixed") return (out.fixed = fixed_of(value)) != nullptr;
  if (word == "entries") return !(out.entries = texts_of(value)).empty();
  if (word == "immutable") {
    out.immutable_text = value.is_string() ? text_of(value) : "field is immutable";
    return out.immutable = said;
  }
  if (word == "unique") {
    out.unique_items = value.is_bool() && value.get_bool();
    if (value.is_string()) out.unique.push_back(text_of(value));
    if (value.is_array()) out.unique = texts_of(value);
    return out.unique_items || !out.unique.empty();
  }
  return false;
}

}  // namespace

void Compiler::read_rules(const Object& words, const Object& schema, const std::string& path, Rules& out) {
  const auto read_inner = [&](const Value& inner) {
    auto rules = std::make_unique<Rules>();
    read_rule_list(inner, Object(), path, *rules);
    return rules;
  };
  for (const auto& [key, value] : words) {
    const std::string_view word(key);
    if (word == "keys") {
      out.keys = read_inner(value);
    } else if (word == "items") {
      out.items = read_inner(value);
    } else if (word == "members" && value.is_object()) {
      for (const auto& [name, rules] : value.get_object()) out.members.emplace_back(std::string(name), read_inner(rules));
    } else if (!read_word(word, value, schema, out)) {
      fail(path + ".x-backplane-rules", "\"" + std::string(word) + "\" is no rule");
    }
  }
}

void Compiler::read_rule_list(const Value& said, const Object& schema, const std::string& path, Rules& out) {
  if (said.is_object()) return read_rules(said.get_object(), schema, path, out);
  Rules* last = nullptr;
  for (const Value& words : said.is_array() ? said.get_array() : Array()) {
    if (last != nullptr) last->next = std::make_unique<Rules>();
    last = last != nullptr ? last->next.get() : &out;
    if (words.is_object()) read_rules(words.get_object(), schema, path, *last);
  }
}

const Rules* Compiler::rules_of(const Object& schema, const std::string& path) {
  const Value* said = find(schema, "x-backplane-rules");
  if (said == nullptr) return nullptr;
  Rules& out = state_.rules.emplace_back();
  read_rule_list(*said, schema, path, out);
  return &out;
}

const ConditionalDefault* Compiler::conditional_default_of(const Object& schema, const std::string& path) {
  const Value* when = find(schema, "x-backplane-default-when");
  const std::string_view from = get_string(schema, "x-backplane-default-from");
  const bool fills = get_bool(schema, "x-backplane-default-fills").value_or(false);
  if (when == nullptr && from.empty() && !fills) return nullptr;
  ConditionalDefault out{when != nullptr ? conditions_of(*when) : Conditions(), std::string(from), fills};
  if (when != nullptr && out.when.empty()) fail(path + ".x-backplane-default-when", "no condition");
  if (fills && get_object(schema, "x-backplane-default") == nullptr) fail(path + ".x-backplane-default-fills", "the default is no struct");
  return &state_.conditional_defaults.emplace_back(std::move(out));
}

const Derived* Compiler::derived_of(const Object& schema) {
  constexpr std::string_view kPrefix = "x-backplane-";
  Derived out;
  bool said = false;
  const auto word = [&](std::string_view name) {
    const Value* value = find(schema, std::string(kPrefix) + std::string(name));
    said = said || value != nullptr;
    return value;
  };
  if (const Value* value = word("drop-when")) out.dropped = conditions_of(*value);
  if (const Value* value = word("first-of")) out.list = text_of(*value);
  if (const Value* value = word("into")) out.into = text_of(*value);
  if (const Value* value = word("fill-from")) out.from = texts_of(*value);
  if (const Value* value = word("fill-when")) out.when = conditions_of(*value);
  if (const Value* value = word("items-say"); value != nullptr && value->is_object()) {
    for (const auto& [name, said_there] : value->get_object()) out.items_say.emplace_back(name, Value(said_there, json::storage_ptr()));
  }
  if (const Value* value = word("empty-list")) out.null_if_empty = text_of(*value) == "null";
  if (const Value* value = word("round")) out.thousandths = text_of(*value) == "thousandths";
  return said ? &state_.derived.emplace_back(std::move(out)) : nullptr;
}

const Gated* Compiler::gated_of(const Object& schema, const std::string& path) {
  const Value* said = find(schema, "x-backplane-gate");
  if (said == nullptr) return nullptr;
  Gated out;
  const auto texts = [](const Value& value) {
    return value.is_array() ? texts_of(value) : std::vector<std::string>{std::string(text_of(value))};
  };
  if (!said->is_object()) {
    out.gates = texts(*said);
    return &state_.gated.emplace_back(std::move(out));
  }
  for (const auto& [key, value] : said->get_object()) {
    if (key == "gate") {
      out.gates = texts(value);
    } else if (key == "together" && value.is_bool()) {
      out.together = value.get_bool();
    } else if (key == "holder" && value.is_bool()) {
      out.holder = value.get_bool();
    } else if (key == "having") {
      out.having = text_of(value);
    } else if (key == "also") {
      out.also = texts(value);
    } else if (key == "except" && value.is_array()) {
      for (const Value& each : value.get_array()) out.except.emplace_back(each, json::storage_ptr());
    } else if (key == "default") {
      out.default_value = &state_.defaults.emplace_back(value, json::storage_ptr());
    } else {
      fail(path + ".x-backplane-gate", "\"" + std::string(key) + "\" is no word of it");
    }
  }
  if (out.gates.empty()) fail(path + ".x-backplane-gate", "no gate");
  return &state_.gated.emplace_back(std::move(out));
}

namespace {

bool holds(const std::vector<Condition>& all, const Object& object, const Object* root) noexcept {
  return std::all_of(all.begin(), all.end(), [&](const Condition& condition) {
    const Value* value = at(condition.member, object, root);
    if (condition.is != nullptr) return condition.is(value);
    if (condition.as) {
      const Value* other = at(*condition.as, object, root);
      return kit::is_unset(value) ? kit::is_unset(other) : other != nullptr && *value == *other;
    }
    const bool set = value != nullptr && !value->is_null() && !is_zero(*value);
    return std::any_of(condition.values.begin(), condition.values.end(), [&](const Value& wanted) {
      return wanted.is_bool() ? wanted.get_bool() == set : value != nullptr && *value == wanted;
    });
  });
}

}  // namespace

const Value* at(const MemberPath& path, const Object& object, const Object* root) noexcept {
  const Object* holder = path.from_root ? root : &object;
  for (std::size_t i = 0; holder != nullptr; ++i) {
    const Value* value = find(*holder, path.names[i]);
    if (value == nullptr || i + 1 == path.names.size()) return value;
    holder = value->if_object();
  }
  return nullptr;
}

bool hold(const Conditions& conditions, const Object& object, const Object* root) noexcept {
  return conditions.empty() || std::any_of(conditions.begin(), conditions.end(), [&](const auto& set) { return holds(set, object, root); });
}

namespace {

StructRules::Order order_of(const Object& words) {
  StructRules::Order out;
  out.low = get_string(words, "low");
  out.high = get_string(words, "high");
  out.text = get_string(words, "text");
  out.blames_high = get_string(words, "blames") == "high";
  out.shows_high = get_string(words, "shows") == "high";
  return out;
}

StructRules::Keys keys_of(const Object& words) {
  const auto list = [&](std::string_view word) {
    const Value* found = find(words, word);
    return found != nullptr ? texts_of(*found) : std::vector<std::string>();
  };
  const Value* when = find(words, "when");
  return {when != nullptr ? conditions_of(*when) : Conditions(), std::string(get_string(words, "member")), list("there"), list("filled"),
          list("oneOf")};
}

// False when a row says nothing that makes sense.
bool read_blame(const Object& words, StructRules& out) {
  using Kind = StructRules::Blame::Kind;
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"required", Kind::kRequired}, {"invalid", Kind::kInvalid}, {"forbidden", Kind::kForbidden}};
  StructRules::Blame& blame = out.blames.emplace_back();
  for (const auto& [key, value] : words) {
    const std::string_view word(key);
    const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& row) { return row.first == word; });
    if (kind != std::end(kKinds)) {
      blame.kind = kind->second;
      blame.text = text_of(value);
    } else if (word == "when" || word == "unless") {
      Conditions& conditions = word == "when" ? blame.when : blame.unless;
      conditions = conditions_of(value);
      if (conditions.empty()) return false;
    } else if (word == "quotes") {
      blame.quotes = text_of(value);
    } else {
      return false;
    }
  }
  return !blame.text.empty() && (!blame.when.empty() || !blame.unless.empty());
}

}  // namespace

const StructRules* Compiler::struct_rules_of(const Object& schema, const std::string& path) {
  const Object* words = get_object(schema, "x-backplane-struct-rules");
  if (words == nullptr) return nullptr;
  StructRules& out = state_.struct_rules.emplace_back();
  for (const auto& [key, value] : *words) {
    const std::string_view word(key);
    if (const auto side = side_of(word); side && value.is_array()) {
      for (const Value& limit : value.get_array()) {
        const Object& words_of_limit = limit.get_object();
        out.limits.push_back({*side, texts_of(words_of_limit.at("members")), std::string(get_string(words_of_limit, "limit")),
                              std::string(get_string(words_of_limit, "text")), get_bool(words_of_limit, "quotesLimit").value_or(false)});
      }
      continue;
    }
    if (word == "blame" && value.is_array()) {
      for (const Value& row : value.get_array()) {
        if (!row.is_object() || !read_blame(row.get_object(), out)) fail(path + ".x-backplane-struct-rules", "blame");
      }
      continue;
    }
    if (word == "ordered" && value.is_array()) {
      for (const Value& row : value.get_array()) out.orders.push_back(order_of(row.get_object()));
      continue;
    }
    if (word == "keys" && value.is_array()) {
      for (const Value& row : value.get_array()) out.keys.push_back(keys_of(row.get_object()));
      continue;
    }
    if (!value.is_object()) {
      fail(path + ".x-backplane-struct-rules", std::string(word));
      continue;
    }
    const Object& said = value.get_object();
    const auto list = [&](std::string_view name) {
      const Value* found = find(said, name);
      return found ? texts_of(*found) : std::vector<std::string>();
    };
    if (word == "union") {
      out.is_union = true;
      out.union_except = list("except");
      out.none_text = get_string(said, "none");
      out.many_text = get_string(said, "many");
      out.union_by = get_string(said, "by");
      for (const auto& [named, member] : kit::object_or_empty(said, "of")) out.union_of.emplace_back(named, text_of(member));
    } else if (word == "frozen") {
      out.frozen_by = get_string(said, "by");
      out.frozen = list("members");
      out.thawed = list("except");
      out.frozen_text = get_string(said, "text");
    } else if (word == "maxBytes") {
      out.counted = list("members");
      out.max_bytes = get_int(said, "bytes").value_or(std::numeric_limits<std::int64_t>::max());
      out.counted_path = get_string(said, "path");
    } else if (word == "anyOf") {
      out.any_of = list("members");
      out.any_text = get_string(said, "text");
      if (const Value* when = find(said, "when")) out.any_when = conditions_of(*when);
    } else if (word == "distinctKeys") {
      out.distinct = get_string(said, "member");
      out.distinct_from = get_string(said, "from");
    } else {
      fail(path + ".x-backplane-struct-rules", "\"" + std::string(word) + "\" is no rule");
    }
  }
  return &out;
}

}  // namespace backplane::schema
