#include "watchcache/selection.hpp"

#include <algorithm>

#include "backplane/points/storage_feed.hpp"

namespace backplane {
namespace {

// Sets the key range to the single key `key`.
void narrow_to(const std::string& key, std::string& start, std::string& end) {
  start = key;
  end = key + '\0';
}

// The value that a requirement "label=value" has for `label`; null: there is none.
const std::string* fixed(const FieldSelector& fields, std::string_view label) {
  for (const auto& requirement : fields.requirements()) {
    if (requirement.field == label && requirement.equals) return &requirement.value;
  }
  return nullptr;
}

}  // namespace

Result<Selection> Selection::make(const CacheConfig& config, const CacheScope& scope, const ListOptions& options) {
  Selection selection;
  selection.abandoned_ = scope.abandoned;
  selection.labels_ = options.labels;
  selection.transient_ = options.transient_objects;
  for (const auto& requirement : options.fields.requirements()) {
    FieldCheck check{kName, requirement.equals, requirement.value};
    if (requirement.field == "metadata.namespace") {
      check.column = kNamespace;
    } else if (requirement.field != "metadata.name") {
      const auto found = std::find_if(config.fields.begin(), config.fields.end(),
                                      [&](const SelectableField& field) { return field.label == requirement.field; });
      if (found == config.fields.end()) return bad_request("field label not supported: " + requirement.field);
      check.column = static_cast<int>(found - config.fields.begin());
    }
    selection.fields_.push_back(std::move(check));
  }
  selection.selects_ = !options.labels.empty() || !options.fields.empty();

  selection.list_prefix_ = config.prefix + (config.namespaced && !scope.ns.empty() ? scope.ns + "/" : "");
  std::string prefix = selection.list_prefix_;
  const bool all_namespaces = config.namespaced && scope.ns.empty();
  const std::string* ns = all_namespaces ? fixed(options.fields, "metadata.namespace") : nullptr;
  if (ns != nullptr && !ns->empty()) prefix += *ns + "/";
  selection.start_ = prefix;
  selection.end_ = prefix_end(prefix);

  const std::string* name = scope.name.empty() ? fixed(options.fields, "metadata.name") : &scope.name;
  if (name != nullptr && (!all_namespaces || (ns != nullptr && !ns->empty()))) {
    narrow_to(prefix + *name, selection.start_, selection.end_);
  } else if (!scope.name.empty()) {
    selection.name_ = scope.name;
    selection.selects_ = true;
  }
  selection.whole_ = selection.start_ == config.prefix;
  if (name != nullptr) selection.one_ = *name;
  if (config.namespaced) selection.ns_ = ns != nullptr ? *ns : scope.ns;
  selection.want();
  return selection;
}

void Selection::want() {
  using Op = LabelSelector::Op;
  if (!one_.empty()) wanted_.push_back({name_term(one_)});
  for (const auto& check : fields_) {
    if (check.equals && check.column >= 0) wanted_.push_back({field_term(static_cast<std::size_t>(check.column), check.value)});
  }
  for (const auto& requirement : labels_.requirements()) {
    const bool negative = requirement.op == Op::kNotEquals || requirement.op == Op::kNotIn || requirement.op == Op::kNotExists;
    if (negative) continue;
    std::vector<Term> any;
    if (requirement.op == Op::kEquals || requirement.op == Op::kIn) {
      for (const auto& value : requirement.values) any.push_back(label_term(requirement.key, value));
    } else {
      any.push_back(label_key_term(requirement.key));
    }
    wanted_.push_back(std::move(any));
  }
}

std::optional<Topic> Selection::topic() const {
  using Op = LabelSelector::Op;
  if (!one_.empty()) return Topic{Topic::Kind::kName, name_term(one_)};
  for (const auto& check : fields_) {
    if (!check.equals || check.column < 0) continue;
    return Topic{Topic::Kind::kField, field_term(static_cast<std::size_t>(check.column), check.value)};
  }
  for (const auto& requirement : labels_.requirements()) {
    if (requirement.op != Op::kEquals || requirement.values.size() != 1) continue;
    return Topic{Topic::Kind::kLabel, label_term(requirement.key, requirement.values.front())};
  }
  if (!ns_.empty()) return Topic{Topic::Kind::kNamespace, namespace_term(ns_)};
  return std::nullopt;
}

bool Selection::selected(const ObjectEntry& entry) const noexcept {
  if (!name_.empty() && entry.name() != name_) return false;
  for (const auto& check : fields_) {
    const std::string_view value = check.column == kName        ? entry.name()
                                   : check.column == kNamespace ? entry.ns()
                                                                : entry.fields()[static_cast<std::size_t>(check.column)];
    if ((value == check.value) != check.equals) return false;
  }
  return labels_.empty() || labels_.matches(entry.labels());
}

}  // namespace backplane
