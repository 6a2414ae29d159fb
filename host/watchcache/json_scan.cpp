#include "watchcache/json_scan.hpp"

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>

namespace backplane {
namespace {

// Members of ObjectMeta that are printed before resourceVersion.
constexpr std::array<std::string_view, 5> kBeforeVersion = {"name", "generateName", "namespace", "selfLink", "uid"};

bool before_version(std::string_view key, bool sorted_keys) {
  if (sorted_keys) return key < "resourceVersion";
  return std::find(kBeforeVersion.begin(), kBeforeVersion.end(), key) != kBeforeVersion.end();
}

bool is_type_member(std::string_view key) { return key == "kind" || key == "apiVersion"; }

// Returns the offset after the labels.
std::size_t scan_labels(std::string_view text, std::size_t open, Labels& labels) {
  using Pair = std::pair<std::string_view, std::string_view>;
  boost::container::small_vector<Pair, 16> found;
  MemberScan scan(text, open);
  while (scan.next()) found.emplace_back(scan.key(), scan.value());
  labels.clear();
  labels.reserve(found.size());
  for (const auto& [key, value] : found) labels.emplace_back(json_unescaped(key), scalar_text(value));
  if (!std::is_sorted(labels.begin(), labels.end())) std::sort(labels.begin(), labels.end());
  return scan.leave();
}

}  // namespace

FieldPlan::FieldPlan(const std::vector<SelectableField>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    add(roots_, fields[i].path, i);
    defaults_.push_back(fields[i].default_value);
  }
  after_metadata_ =
      std::none_of(roots_.begin(), roots_.end(), [](const Node& root) { return is_type_member(root.key) || root.key == "metadata"; });
}

void FieldPlan::add(std::vector<Node>& nodes, std::string_view path, std::size_t field) {
  // ".spec.x" and "spec.x" are the same path.
  if (path.starts_with('.')) path.remove_prefix(1);
  const auto dot = path.find('.');
  const std::string_view head = path.substr(0, dot);
  auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.key == head; });
  if (found == nodes.end()) found = nodes.insert(nodes.end(), Node{std::string(head), {}, {}});
  if (dot == std::string_view::npos) {
    found->fields.push_back(field);
  } else {
    add(found->children, path.substr(dot + 1), field);
  }
}

std::size_t FieldPlan::walk(const std::vector<Node>& nodes, std::string_view text, MemberScan scan,
                            std::vector<std::string>& values) const {
  std::size_t left = nodes.size();
  while (left > 0 && scan.next()) {
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& each) { return each.key == scan.key(); });
    if (node == nodes.end()) continue;
    --left;
    if (!node->fields.empty() && scan.value() != "null") {
      const std::string found = scalar_text(scan.value());
      for (const std::size_t field : node->fields) values[field] = found;
    }
    const bool nested = scan.value_begin() < text.size() && text[scan.value_begin()] == '{';
    // walk() has found the end of the nested object, so the scan does not search for it again.
    if (nested && !node->children.empty()) scan.ends_at(walk(node->children, text, {text, scan.value_begin()}, values));
  }
  return &nodes == &roots_ ? text.size() : scan.leave();
}

std::vector<std::string> FieldPlan::extract(std::string_view object, std::size_t metadata_end) const {
  std::vector<std::string> values = defaults_;
  const bool after = after_metadata_ && metadata_end != 0;
  if (!values.empty()) walk(roots_, object, after ? MemberScan::after(object, metadata_end) : MemberScan(object, 0), values);
  return values;
}

MetadataScan scan_metadata(std::string_view object, bool sorted_keys) {
  MetadataScan found;
  MemberScan top(object, 0);
  bool is_first = true;
  while (top.next()) {
    if (top.key() == "metadata") {
      found.found = top.value_begin() < object.size() && object[top.value_begin()] == '{';
      break;
    }
    is_first = is_first && is_type_member(top.key());
  }
  if (!found.found) return found;

  bool placed = false;
  bool any_before = false;
  std::size_t members_end = top.value_begin() + 1;
  MemberScan scan(object, top.value_begin());
  while (scan.next()) {
    const bool labels = scan.key() == "labels" && scan.value_begin() < object.size() && object[scan.value_begin()] == '{';
    if (labels) scan.ends_at(scan_labels(object, scan.value_begin(), found.labels));
    members_end = scan.value_end();
    if (scan.key() == "resourceVersion") {
      found.version_begin = scan.member_begin();
      found.version_end = scan.value_end();
      found.comma_before = found.comma_after = false;
      placed = true;
    } else if (!placed && !before_version(scan.key(), sorted_keys)) {
      found.version_begin = found.version_end = scan.member_begin();
      found.comma_before = false;
      found.comma_after = true;
      placed = true;
    } else if (!placed) {
      any_before = true;
    }
  }
  if (!placed) {
    found.version_begin = found.version_end = members_end;
    found.comma_before = any_before;
  }
  if (is_first) found.end = scan.leave();
  return found;
}

}  // namespace backplane
