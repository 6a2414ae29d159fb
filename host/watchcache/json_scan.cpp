#include "watchcache/json_scan.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace backplane {
namespace {

// `at` is the offset behind the opening quote; gives the offset of the closing one.
std::size_t string_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const auto* quote = static_cast<const char*>(std::memchr(text.data() + at, '"', text.size() - at));
    if (quote == nullptr) return text.size();
    const auto end = static_cast<std::size_t>(quote - text.data());
    std::size_t slashes = 0;
    while (end - slashes > at && text[end - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return end;
    at = end + 1;
  }
  return text.size();
}

// `at` is the offset of the opening bracket.
std::size_t skip_nested(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = string_end(text, at + 1);
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
  }
  return text.size();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xc0 | point >> 6));
    out.push_back(static_cast<char>(0x80 | (point & 0x3f)));
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | point >> 12));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3f)));
  } else {
    out.push_back(static_cast<char>(0xf0 | point >> 18));
    out.push_back(static_cast<char>(0x80 | (point >> 12 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3f)));
  }
}

// The four hex digits at `at`; 0 when they are not there.
std::uint32_t unicode_unit(std::string_view text, std::size_t at) {
  std::uint32_t unit = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = i < text.size() ? hex_digit(text[i]) : -1;
    if (digit < 0) return 0;
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  return unit;
}

char plain_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    if (text[++i] != 'u') {
      out.push_back(plain_escape(text[i]));
      continue;
    }
    std::uint32_t point = unicode_unit(text, i + 1);
    i += 4;
    const bool pair = point >= 0xd800 && point < 0xdc00 && text.substr(std::min(i + 1, text.size()), 2) == "\\u";
    if (pair) {
      point = 0x10000 + ((point - 0xd800) << 10) + ((unicode_unit(text, i + 3) - 0xdc00) & 0x3ff);
      i += 6;
    }
    append_utf8(out, point);
  }
  return out;
}

std::string plain_text(std::string_view quoted_content) {
  return quoted_content.find('\\') == std::string_view::npos ? std::string(quoted_content) : unescape(quoted_content);
}

// Members of ObjectMeta that are printed before resourceVersion.
constexpr std::array<std::string_view, 5> kBeforeVersion = {"name", "generateName", "namespace", "selfLink", "uid"};

bool before_version(std::string_view key, bool sorted_keys) {
  if (sorted_keys) return key < "resourceVersion";
  return std::find(kBeforeVersion.begin(), kBeforeVersion.end(), key) != kBeforeVersion.end();
}

Labels scan_labels(std::string_view text, std::size_t open) {
  Labels labels;
  for (MemberScan scan(text, open); scan.next();) labels.emplace_back(plain_text(scan.key()), scalar_text(scan.value()));
  if (!std::is_sorted(labels.begin(), labels.end())) std::sort(labels.begin(), labels.end());
  labels.shrink_to_fit();
  return labels;
}

}  // namespace

std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return std::min(string_end(text, at + 1) + 1, text.size());
  if (text[at] == '{' || text[at] == '[') return skip_nested(text, at);
  const auto end = text.find_first_of(",}]", at);
  return end == std::string_view::npos ? text.size() : end;
}

MemberScan::MemberScan(std::string_view text, std::size_t open)
    : text_(text), at_(open < text.size() && text[open] == '{' ? open + 1 : text.size()) {}

bool MemberScan::next() {
  if (at_ < text_.size() && text_[at_] == ',') ++at_;
  if (at_ >= text_.size() || text_[at_] != '"') return false;
  member_begin_ = at_;
  const std::size_t end = string_end(text_, at_ + 1);
  if (end + 1 >= text_.size() || text_[end + 1] != ':') return false;
  key_ = text_.substr(at_ + 1, end - at_ - 1);
  value_begin_ = end + 2;
  value_end_ = skip_value(text_, value_begin_);
  at_ = value_end_;
  return true;
}

std::string scalar_text(std::string_view value) {
  if (value.empty() || value == "null" || value.front() == '{' || value.front() == '[') return {};
  if (value.front() != '"') return std::string(value);
  return plain_text(value.substr(1, value.size() < 2 ? 0 : value.size() - 2));
}

FieldPlan::FieldPlan(const std::vector<SelectableField>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    add(roots_, fields[i].path, i);
    defaults_.push_back(fields[i].default_value);
  }
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

void FieldPlan::walk(const std::vector<Node>& nodes, std::string_view text, std::size_t open, std::vector<std::string>& values) {
  std::size_t left = nodes.size();
  for (MemberScan scan(text, open); left > 0 && scan.next();) {
    for (const Node& node : nodes) {
      if (node.key != scan.key()) continue;
      --left;
      if (!node.fields.empty() && scan.value() != "null") {
        const std::string found = scalar_text(scan.value());
        for (const std::size_t field : node.fields) values[field] = found;
      }
      if (!node.children.empty()) walk(node.children, text, scan.value_begin(), values);
      break;
    }
  }
}

std::vector<std::string> FieldPlan::extract(std::string_view object) const {
  std::vector<std::string> values = defaults_;
  if (!values.empty()) walk(roots_, object, 0, values);
  return values;
}

MetadataScan scan_metadata(std::string_view object, bool sorted_keys) {
  MetadataScan found;
  MemberScan top(object, 0);
  while (top.next()) {
    if (top.key() == "metadata") {
      found.found = !top.value().empty() && top.value().front() == '{';
      break;
    }
  }
  if (!found.found) return found;

  bool placed = false;
  bool any_before = false;
  std::size_t members_end = top.value_begin() + 1;
  for (MemberScan scan(object, top.value_begin()); scan.next();) {
    if (scan.key() == "labels") found.labels = scan_labels(object, scan.value_begin());
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
  return found;
}

}  // namespace backplane
