#include "strategy.hpp"

#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "conversion.hpp"
#include "events_group_json.hpp"

namespace backplane::events {
namespace {

using namespace kit;

void check_series(const Object& event, FieldErrors& errors) {
  const Object* series = get_object(event, "series");
  if (series == nullptr) return;
  if (get_int(*series, "count").value_or(0) < 2) errors.invalid("series.count", "", "should be at least 2");
  if (get_string(*series, "lastObservedTime").empty()) errors.required("series.lastObservedTime");
}

// Formats an object reference like Go prints the struct in an error.
std::string printed_reference(const Object& reference) {
  struct Member {
    const char* go;
    const char* json;
  };
  static constexpr std::array<Member, 7> kMembers = {{{"Kind", "kind"},
                                                      {"Namespace", "namespace"},
                                                      {"Name", "name"},
                                                      {"UID", "uid"},
                                                      {"APIVersion", "apiVersion"},
                                                      {"ResourceVersion", "resourceVersion"},
                                                      {"FieldPath", "fieldPath"}}};
  Object out;
  for (const Member& member : kMembers) out[member.go] = get_string(reference, member.json);
  return to_json(out);
}

std::string printed_source(const Object& source) {
  Object out;
  out["Component"] = get_string(source, "component");
  out["Host"] = get_string(source, "host");
  return to_json(out);
}

// An immutable member. `blamed`: its name in errors.
struct Fixed {
  const char* member;
  const char* blamed;
};
constexpr std::array<Fixed, 7> kFixedTexts = {{
    {"reason", "reason"},
    {"note", "message"},
    {"reason", "reason"},  // upstream checks twice and reports two errors
    {"type", "type"},
    {"action", "action"},
    {"reportingController", "reportingController"},
    {"reportingInstance", "reportingInstance"},
}};
constexpr std::array<Fixed, 3> kFixedTimes = {{
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"eventTime", "eventTime"},
}};
constexpr std::string_view kImmutable = "field is immutable";

void check_fixed_texts(const Object& event, const Object& old, FieldErrors& errors) {
  for (const Fixed& text : kFixedTexts) {
    const std::string_view now = get_string(event, text.member);
    if (now != get_string(old, text.member)) errors.invalid(text.blamed, now, kImmutable);
  }
  for (const Fixed& time : kFixedTimes) {
    const std::string_view now = get_string(event, time.member);
    if (now != get_string(old, time.member)) errors.invalid_raw(time.blamed, now.empty() ? "null" : quoted(now), kImmutable);
  }
}

void check_fixed_structs(const Object& event, const Object& old, FieldErrors& errors) {
  const std::string regarding = printed_reference(object_or_empty(event, "regarding"));
  if (regarding != printed_reference(object_or_empty(old, "regarding"))) errors.invalid_raw("involvedObject", regarding, kImmutable);
  const std::string source = printed_source(object_or_empty(event, "deprecatedSource"));
  if (source != printed_source(object_or_empty(old, "deprecatedSource"))) errors.invalid_raw("source", source, kImmutable);
  const Object* related = get_object(event, "related");
  const Object* old_related = get_object(old, "related");
  const bool same = related != nullptr && old_related != nullptr ? printed_reference(*related) == printed_reference(*old_related)
                                                                 : related == old_related;
  if (!same) errors.invalid_raw("related", related != nullptr ? printed_reference(*related) : "null", kImmutable);
  const std::int64_t count = get_int(event, "deprecatedCount").value_or(0);
  if (count != get_int(old, "deprecatedCount").value_or(0)) errors.invalid("count", static_cast<long long>(count), kImmutable);
}

// Completes metadata that clients may omit or that updates cannot change.
Object with_system_metadata(const Object& event, const Object& old) {
  Object out(event);
  Object& metadata = ensure_object(out, "metadata");
  for (const auto& member : object_or_empty(old, "metadata")) {
    const std::string_view name = member.key();
    const bool kept = name == "uid" || name == "generation" || name == "deletionGracePeriodSeconds";
    const bool fixed = name == "creationTimestamp" || name == "deletionTimestamp";
    if (fixed || (kept && !metadata.contains(name))) metadata[name] = member.value();
  }
  return out;
}

}  // namespace

void EventStrategy::validate(RequestContext&, const Object& event, FieldErrors& errors) const {
  validate_object_meta(event, true, NameRule::kDnsSubdomain, errors);
  kit::check_finalizer_names(event, errors);
  check_series(event, errors);
  if (get_string(event, "eventTime").empty()) errors.required("eventTime");
  const std::string_view type = get_string(event, "type");
  if (type != "Normal" && type != "Warning") errors.invalid("type", "", "has invalid value: " + std::string(type));
  const auto unset = [&](bool is_set, const char* blamed) {
    if (is_set) errors.invalid(blamed, "", "needs to be unset");
  };
  unset(!get_string(event, "deprecatedFirstTimestamp").empty(), "firstTimestamp");
  unset(!get_string(event, "deprecatedLastTimestamp").empty(), "lastTimestamp");
  unset(get_int(event, "deprecatedCount").value_or(0) != 0, "count");
  const Object& source = object_or_empty(event, "deprecatedSource");
  unset(!get_string(source, "component").empty() || !get_string(source, "host").empty(), "source");
}

void EventStrategy::validate_update(RequestContext&, const Object& event, const Object& old, FieldErrors& errors) const {
  // Upstream validates the metadata here in addition to the validation of all kinds.
  validate_object_meta_update(with_system_metadata(event, old), old, errors);
  if (!same_member(event, old, "series")) check_series(event, errors);
  check_fixed_texts(event, old, errors);
  check_fixed_structs(event, old, errors);
}

Result<GroupDocument> events_group() {
  return read_group(events_group_json(), {.kinds = {{kServed.kind, {.views = {{kServed.version, made<EventStrategy>()}}}}}});
}

}  // namespace backplane::events
