#include "pods/tolerations.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::pods {
namespace {

bool same_text(const Object& a, const Object& b, std::string_view member) { return get_string(a, member) == get_string(b, member); }

// Like Toleration.MatchToleration.
bool matches_toleration(const Object& a, const Object& b) {
  return same_text(a, b, "key") && same_text(a, b, "effect") && same_text(a, b, "operator") && same_text(a, b, "value");
}

bool same_toleration(const Object& a, const Object& b) {
  return matches_toleration(a, b) && get_int(a, "tolerationSeconds") == get_int(b, "tolerationSeconds");
}

bool covers_time(const Object& cover, const Object& toleration) {
  const auto most = get_int(cover, "tolerationSeconds"), wanted = get_int(toleration, "tolerationSeconds");
  return get_string(cover, "effect") != "NoExecute" || !most || (wanted && *wanted <= *most);
}

bool covers_value(const Object& cover, const Object& toleration) {
  const std::string_view op = get_string(cover, "operator");
  if (op == "Exists") return true;
  if (!op.empty() && op != "Equal") return false;
  return get_string(toleration, "operator") == "Equal" && same_text(cover, toleration, "value");
}

std::vector<const Object*> objects_of(const Array* first, const Array* second) {
  std::vector<const Object*> all;
  for (const Array* list : {first, second}) {
    if (list == nullptr) continue;
    for (const Value& item : *list) {
      if (const Object* object = item.if_object()) all.push_back(object);
    }
  }
  return all;
}

}  // namespace

Object toleration_of(std::string_view key, std::string_view effect, std::optional<std::int64_t> seconds) {
  Object out;
  out["key"] = key;
  out["operator"] = "Exists";
  out["effect"] = effect;
  if (seconds) out["tolerationSeconds"] = *seconds;
  return out;
}

bool covers(const Object& cover, const Object& toleration) {
  if (same_toleration(cover, toleration)) return true;
  const bool any_key = get_string(cover, "key").empty() && get_string(cover, "operator") == "Exists";
  if (!any_key && !same_text(cover, toleration, "key")) return false;
  if (!get_string(cover, "effect").empty() && !same_text(cover, toleration, "effect")) return false;
  return covers_time(cover, toleration) && covers_value(cover, toleration);
}

Array merge_tolerations(const Array* first, const Array* second, json::storage_ptr storage) {
  const std::vector<const Object*> all = objects_of(first, second);
  std::vector<const Object*> merged;
  for (auto each = all.begin(); each != all.end(); ++each) {
    const Object& toleration = **each;
    const bool known = std::any_of(merged.begin(), merged.end(), [&](const Object* other) { return covers(*other, toleration); });
    // The first of two equal tolerations is kept.
    const bool covered_later = std::any_of(std::next(each), all.end(), [&](const Object* other) {
      return !same_toleration(toleration, *other) && covers(*other, toleration);
    });
    if (!known && !covered_later) merged.push_back(&toleration);
  }
  Array out(std::move(storage));
  for (const Object* toleration : merged) out.emplace_back(*toleration);
  return out;
}

bool are_allowed(const Array* tolerations, const Array& allowed) {
  if (tolerations == nullptr || allowed.empty()) return true;
  return std::all_of(tolerations->begin(), tolerations->end(), [&](const Value& item) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const Value& cover) {
      return item.is_object() && cover.is_object() && covers(cover.get_object(), item.get_object());
    });
  });
}

void add_or_replace_toleration(Object& pod_spec, const Object& toleration) {
  Array& list = ensure_array(pod_spec, "tolerations");
  bool replaced = false;
  for (Value& item : list) {
    if (!item.is_object() || !matches_toleration(toleration, item.get_object())) continue;
    item = toleration;
    replaced = true;
  }
  if (!replaced) list.emplace_back(toleration);
}

}  // namespace backplane::admission::pods
