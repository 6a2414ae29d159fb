#include "endpoints/verb_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "backplane/core/json.hpp"
#include "base/printable.hpp"

namespace backplane::endpoints {
namespace {

constexpr std::size_t kMaxFieldManagerBytes = 128;

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(x) == lower(y);
  });
}

// Prints the character like fmt's %U: "U+0007".
std::string unicode_name(char32_t rune) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "U+%04X", static_cast<unsigned>(rune));
  return buffer;
}

void check_field_manager(std::string_view manager, FieldErrors& errors) {
  if (manager.size() > kMaxFieldManagerBytes) errors.too_long("fieldManager", manager, kMaxFieldManagerBytes);
  for (std::size_t at = 0; at < manager.size();) {
    const auto [rune, length] = next_rune(manager.substr(at));
    if (!is_printable(rune)) {
      errors.invalid("fieldManager", manager, "invalid character " + unicode_name(rune) + " (at position " + std::to_string(at) + ")");
    }
    at += length;
  }
}

FieldValidation check_field_validation(std::string_view text, FieldErrors& errors) {
  if (text == "Ignore") return FieldValidation::kIgnore;
  if (text == "Strict") return FieldValidation::kStrict;
  if (!text.empty() && text != "Warn") errors.not_supported("fieldValidation", text, {"", "Ignore", "Strict", "Warn"});
  return FieldValidation::kWarn;
}

std::string_view options_kind(WriteVerb verb) noexcept {
  switch (verb) {
    case WriteVerb::kCreate:
      return "CreateOptions";
    case WriteVerb::kUpdate:
      return "UpdateOptions";
    case WriteVerb::kPatch:
    case WriteVerb::kApply:
      return "PatchOptions";
  }
  return "";
}

// The resourceVersionMatch of the request, and the options that it must match.
struct MatchRules {
  std::string_view match;
  const ListOptions& options;
};

void check_list_match(const MatchRules& rules, FieldErrors& errors) {
  const ListOptions& options = rules.options;
  if (!rules.match.empty()) {
    if (options.resource_version.empty()) {
      errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_token.empty()) {
      errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    if (rules.match != "Exact" && rules.match != "NotOlderThan") {
      errors.not_supported("resourceVersionMatch", rules.match, {"Exact", "NotOlderThan", ""});
    }
    if (rules.match == "Exact" && options.resource_version == "0") {
      errors.forbidden("resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (options.send_initial_events) errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
}

void check_watch_match(const MatchRules& rules, FieldErrors& errors) {
  const ListOptions& options = rules.options;
  if (options.send_initial_events && rules.match != "NotOlderThan") {
    errors.forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (rules.match.empty()) return;
  if (!options.send_initial_events) {
    errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (rules.match != "NotOlderThan") errors.not_supported("resourceVersionMatch", rules.match, {"NotOlderThan"});
  if (!options.continue_token.empty()) {
    errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
  }
}

// Like metainternalversion.SetListOptionsDefaults: a watch begins with the existing objects if it has no resourceVersion or "0".
void default_initial_events(ListOptions& options, std::string_view& match) {
  if (options.send_initial_events || !match.empty()) return;
  if (!options.watch || (!options.resource_version.empty() && options.resource_version != "0")) return;
  options.send_initial_events = true;
  match = "NotOlderThan";
}

// Escapes a name as in a field selector.
std::string escape_field_value(std::string_view text) {
  std::string out;
  for (char letter : text) {
    if (letter == '\\' || letter == ',' || letter == '=') out.push_back('\\');
    out.push_back(letter);
  }
  return out;
}

// Adds a field selector for the name in the path. An existing selector of metadata.name must have the same name.
Status add_name_selector(ListOptions& options, std::string_view name) {
  if (name.empty()) return {};
  if (options.fields.empty()) {
    auto selector = FieldSelector::parse("metadata.name=" + escape_field_value(name));
    if (!selector.ok()) return std::move(selector.status());
    options.fields = std::move(*selector);
    return {};
  }
  for (const auto& requirement : options.fields.requirements()) {
    if (requirement.field == "metadata.name" && requirement.equals && requirement.value == name) return {};
  }
  return bad_request("fieldSelector metadata.name doesn't match requested name");
}

Status read_selectors(const Query& query, ListOptions& options) {
  auto labels = LabelSelector::parse(query_get(query, "labelSelector"));
  if (!labels.ok()) return bad_request(labels.status().message());
  options.labels = std::move(*labels);
  auto fields = FieldSelector::parse(query_get(query, "fieldSelector"));
  if (!fields.ok()) return bad_request(fields.status().message());
  options.fields = std::move(*fields);
  return {};
}

Status read_numbers(const Query& query, ListOptions& options) {
  auto timeout = query_int(query, "timeoutSeconds");
  if (!timeout.ok()) return std::move(timeout.status());
  options.timeout_seconds = *timeout;
  auto limit = query_int(query, "limit");
  if (!limit.ok()) return std::move(limit.status());
  options.limit = limit->value_or(0);
  return {};
}

}  // namespace

std::optional<bool> query_bool(const Query& query, std::string_view key) {
  if (!query_has(query, key)) return std::nullopt;
  const std::string_view value = query_get(query, key);
  return value != "0" && !equals_ignoring_case(value, "false");
}

Result<std::optional<std::int64_t>> query_int(const Query& query, std::string_view key) {
  if (!query_has(query, key)) return std::optional<std::int64_t>();
  const std::string_view whole = query_get(query, key);
  std::string_view text = whole;
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return bad_request("strconv.ParseInt: parsing " + quoted(whole) + ": value out of range");
  if (error != std::errc() || end != text.data() + text.size()) {
    return bad_request("strconv.ParseInt: parsing " + quoted(whole) + ": invalid syntax");
  }
  return std::optional<std::int64_t>(value);
}

std::vector<std::string> query_all(const Query& query, std::string_view key) {
  std::vector<std::string> out;
  for (const auto& [name, value] : query) {
    if (name == key) out.push_back(value);
  }
  return out;
}

bool check_dry_run(const std::vector<std::string>& values, FieldErrors& errors) {
  if (values.empty()) return false;
  if (std::all_of(values.begin(), values.end(), [](const std::string& value) { return value == "All"; })) return true;
  std::string printed = "[";
  for (const std::string& value : values) {
    if (printed.size() > 1) printed.push_back(',');
    append_json_string(printed, value);
  }
  printed.push_back(']');
  errors.add({FieldErrorType::kNotSupported, "dryRun", "Unsupported value: " + printed + ": supported values: \"All\""});
  return false;
}

Result<ListOptions> list_options(const Query& query, std::string_view name) {
  ListOptions options;
  Status status = read_selectors(query, options);
  if (status.ok()) status = read_numbers(query, options);
  if (!status.ok()) return status;
  options.resource_version = query_get(query, "resourceVersion");
  options.continue_token = query_get(query, "continue");
  options.watch = query_bool(query, "watch").value_or(false);
  options.allow_watch_bookmarks = query_bool(query, "allowWatchBookmarks").value_or(false);
  options.send_initial_events = query_bool(query, "sendInitialEvents");
  std::string_view match = query_get(query, "resourceVersionMatch");
  default_initial_events(options, match);

  FieldErrors errors;
  const MatchRules rules{match, options};
  if (options.watch) {
    check_watch_match(rules, errors);
  } else {
    check_list_match(rules, errors);
  }
  status = errors.to_status("meta.k8s.io", "ListOptions", "");
  if (!status.ok()) return status;
  if (match == "Exact") options.match = ResourceVersionMatch::kExact;
  if (match == "NotOlderThan") options.match = ResourceVersionMatch::kNotOlderThan;
  status = add_name_selector(options, name);
  if (!status.ok()) return status;
  return options;
}

Result<WriteOptions> write_options(const Query& query, WriteVerb verb) {
  WriteOptions options;
  options.field_manager = query_get(query, "fieldManager");
  FieldErrors errors;
  if (verb == WriteVerb::kPatch || verb == WriteVerb::kApply) options.force = query_bool(query, "force");
  if (verb == WriteVerb::kApply) {
    if (options.field_manager.empty()) errors.required("fieldManager", "is required for apply patch");
  } else if (options.force) {
    errors.forbidden("force", "may not be specified for non-apply patch");
  }
  check_field_manager(options.field_manager, errors);
  options.dry_run = check_dry_run(query_all(query, "dryRun"), errors);
  options.field_validation = check_field_validation(query_get(query, "fieldValidation"), errors);
  Status status = errors.to_status("meta.k8s.io", options_kind(verb), "");
  if (!status.ok()) return status;
  return options;
}

}  // namespace backplane::endpoints
