// Filters of sets of fields.
#include "fields/node.hpp"

namespace backplane BACKPLANE_API {

// A level of patterns.  Sorted: the wildcard first, because it is tested first.
struct FieldFilter::Matcher {
  struct Step {
    std::optional<PathElement> element;  // nullopt: any element
    std::shared_ptr<const Matcher> next;
  };
  bool everything = false;  // this level and the levels below
  std::vector<Step> steps;
};

namespace {

using Matcher = FieldFilter::Matcher;
using MatcherRef = std::shared_ptr<const Matcher>;

MatcherRef matcher_of(std::span<const FieldFilter::Pattern> patterns, std::size_t depth) {
  auto out = std::make_shared<Matcher>();
  std::vector<FieldFilter::Pattern> rest(patterns.begin(), patterns.end());
  out->everything = std::any_of(rest.begin(), rest.end(), [&](const auto& pattern) { return pattern.size() <= depth; });
  if (out->everything) return out;
  std::stable_sort(rest.begin(), rest.end(), [&](const auto& a, const auto& b) { return a[depth] < b[depth]; });
  for (std::size_t begin = 0; begin < rest.size();) {
    std::size_t end = begin + 1;
    while (end < rest.size() && rest[end][depth] == rest[begin][depth]) ++end;
    out->steps.push_back({rest[begin][depth], matcher_of(std::span(rest).subspan(begin, end - begin), depth + 1)});
    begin = end;
  }
  return out;
}

fields::NodeRef matching(const fields::NodeRef& node, const Matcher& matcher) {
  if (node == nullptr || matcher.everything) return node;
  fields::Entries out;
  for (const fields::Entry& entry : node->entries) {
    const auto step = std::find_if(matcher.steps.begin(), matcher.steps.end(),
                                   [&](const Matcher::Step& each) { return !each.element || *each.element == entry.element; });
    if (step == matcher.steps.end()) continue;
    fields::NodeRef below = matching(entry.below, *step->next);
    if (entry.member || below) out.push_back({entry.element, std::move(below), entry.member});
  }
  return fields::sorted_node(std::move(out));
}

}  // namespace

FieldFilter FieldFilter::excluding(FieldSet fields) {
  FieldFilter out;
  out.excluded_ = std::move(fields);
  return out;
}

FieldFilter FieldFilter::including(std::span<const Pattern> patterns) {
  FieldFilter out;
  if (!patterns.empty()) out.matcher_ = matcher_of(patterns, 0);
  return out;
}

FieldSet FieldFilter::apply(const FieldSet& set) const {
  const FieldSet counted = matcher_ ? FieldSet(matching(set.root(), *matcher_)) : set;
  return excluded_.empty() ? counted : counted.subtract_trees(excluded_);
}

}  // namespace BACKPLANE_API
