#include "routing/request_info.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "backplane/core/selectors.hpp"
#include "backplane/points/http.hpp"
#include "backplane/types/names.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 2> kSpecialVerbs{"proxy", "watch"};
constexpr std::array<std::string_view, 3> kSelectorVerbs{"list", "watch", "deletecollection"};
constexpr std::array<std::string_view, 2> kNamespaceSubresources{"status", "finalize"};
constexpr std::array<std::string_view, 5> kLongRunningSubresources{"attach", "exec", "proxy", "log", "portforward"};

template <class Words>
bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The segments of a path. take() removes the first segment.
class Segments {
 public:
  explicit Segments(std::string_view path) : rest_(path) {
    while (!rest_.empty() && rest_.front() == '/') rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.back() == '/') rest_.remove_suffix(1);
    count_ = rest_.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(rest_.begin(), rest_.end(), '/'));
  }
  std::size_t size() const noexcept { return count_; }
  std::string_view front() const noexcept { return rest_.substr(0, rest_.find('/')); }
  std::string_view take() noexcept {
    const std::string_view taken = front();
    rest_.remove_prefix(std::min(rest_.size(), taken.size() + 1));
    --count_;
    return taken;
  }

 private:
  std::string_view rest_;
  std::size_t count_ = 0;
};

std::string_view method_verb(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Like apimachinery's Convert_Slice_string_To_bool: every value except "false" and "0" is true.
bool query_bool(const Query& query, std::string_view key) {
  if (!query_has(query, key)) return false;
  const std::string value = lower(query_get(query, key));
  return value != "false" && value != "0";
}

// Returns true if the parameter is absent or strconv.ParseInt can parse it.
bool query_int_reads(const Query& query, std::string_view key) {
  if (!query_has(query, key)) return true;
  std::string_view text = query_get(query, key);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Returns true if limit, timeoutSeconds and labelSelector are valid. Together with the field selector, these are the options at which
// upstream's decoding of ListOptions can fail.
bool list_options_read(const Query& query) {
  return query_int_reads(query, "limit") && query_int_reads(query, "timeoutSeconds") &&
         LabelSelector::parse(query_get(query, "labelSelector")).ok();
}

// Returns the object name that a field selector requires; empty if it requires none.
std::string selected_name(const Query& query) {
  const std::string_view text = query_get(query, "fieldSelector");
  if (text.empty()) return {};
  auto selector = FieldSelector::parse(text);
  if (!selector.ok()) return {};
  // As in upstream's RequiresExactMatch, the first matching requirement decides.
  const auto& all = selector->requirements();
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.field == "metadata.name" && each.equals; });
  return found != all.end() && is_path_segment_name(found->value).empty() ? found->value : std::string();
}

// A get without a name is a list or a watch. If a field selector requires a name, authorization checks this name. This does not apply if
// another list option is invalid: a permission for the name must not replace the missing permission for the list.
void refine_collection_get(RequestInfo& info) {
  info.verb = query_bool(info.query, "watch") ? "watch" : "list";
  std::string name = selected_name(info.query);
  if (!name.empty() && list_options_read(info.query)) info.name = std::move(name);
}

// The selectors are read separately from the other options, because one invalid option invalidates all other options. Authorizers that
// decide by selectors need them.
void take_selectors(RequestInfo& info) {
  if (info.query.empty() || !has(kSelectorVerbs, info.verb)) return;
  info.field_selector = query_get(info.query, "fieldSelector");
  info.label_selector = query_get(info.query, "labelSelector");
}

void take_resource_parts(RequestInfo& info, Segments segments) {
  if (segments.size() > 1 && segments.front() == "namespaces") {
    Segments inside = segments;
    inside.take();
    info.ns = inside.take();
    if (inside.size() > 0 && !has(kNamespaceSubresources, inside.front())) segments = inside;
  }
  auto& parts = info.parts;
  parts.reserve(segments.size());
  while (segments.size() > 0) parts.emplace_back(segments.take());
  if (parts.size() >= 3 && info.verb != "watch" && info.verb != "proxy") info.subresource = parts[2];
  if (parts.size() >= 2) info.name = parts[1];
  if (!parts.empty()) info.resource = parts[0];
}

}  // namespace

Status parse_request_info(std::string_view method, std::string_view target, RequestInfo& info) {
  const auto question = target.find('?');
  const std::string_view raw_query = question == std::string_view::npos ? std::string_view{} : target.substr(question + 1);
  bool escapes_ok = true;
  info.path = percent_decode(target.substr(0, question), /*plus_is_space=*/false, &escapes_ok);
  if (!escapes_ok) return bad_request("the request path holds a bad percent escape");
  if (!raw_query.empty()) info.query = parse_query_leniently(raw_query, info.query_error);

  Segments segments(info.path);
  const bool grouped = segments.front() == "apis";
  if (segments.size() < (grouped ? 4 : 3) || (!grouped && segments.front() != "api")) {
    info.verb = lower(method);
    return {};
  }
  info.api_prefix = segments.take();
  if (grouped) info.api_group = segments.take();
  info.api_version = segments.take();
  info.is_resource_request = true;

  const bool verb_in_path = has(kSpecialVerbs, segments.front());
  if (verb_in_path) {
    if (segments.size() < 2) {
      return Status(Reason::kInternalError, "unable to determine kind and namespace from url, " + std::string(target));
    }
    info.verb = segments.take();
  } else {
    info.verb = method_verb(method);
  }
  take_resource_parts(info, segments);
  if (info.name.empty() && info.verb == "get") refine_collection_get(info);
  if (info.name.empty() && info.verb == "delete") info.verb = "deletecollection";
  if (!verb_in_path) take_selectors(info);
  return {};
}

bool is_long_running(const RequestInfo& info) noexcept {
  if (!info.is_resource_request) return info.path.starts_with("/debug/pprof/");
  return has(kSpecialVerbs, info.verb) || has(kLongRunningSubresources, info.subresource);
}

}  // namespace backplane
